package discovery

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"

	"github.com/go-json-experiment/json"
	"github.com/gowebpki/jcs"

	"deed.example/deed/api"
)

// signCard signs a card without signatures (A2A 1.0, 8.4): ES256 over the
// canonical form of its JSON, as a detached JWS (RFC 7515, appendix F).
func signCard(c api.AgentCard, key *ecdsa.PrivateKey, as api.JOSEHeader) (api.AgentCardSignature, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return api.AgentCardSignature{}, err
	}
	payload, err := jcs.Transform(raw)
	if err != nil {
		return api.AgentCardSignature{}, err
	}
	header, err := json.Marshal(as)
	if err != nil {
		return api.AgentCardSignature{}, err
	}
	protected := encode(header)
	digest := sha256.Sum256([]byte(protected + "." + encode(payload)))
	signature, err := signDigest(key, digest[:])
	return api.AgentCardSignature{Protected: protected, Signature: encode(signature)}, err
}

// signDigest signs deterministically (RFC 6979), so that every node has the same
// card, and returns r and s in 32 bytes each (RFC 7518, 3.4).
func signDigest(key *ecdsa.PrivateKey, digest []byte) ([]byte, error) {
	der, err := key.Sign(nil, digest, crypto.SHA256)
	if err != nil {
		return nil, err
	}
	var numbers struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &numbers); err != nil {
		return nil, err
	}
	out := make([]byte, 64)
	numbers.R.FillBytes(out[:32])
	numbers.S.FillBytes(out[32:])
	return out, nil
}

// publicKeys returns the JWKs of the keys.
func publicKeys(keys []*ecdsa.PrivateKey) (all []api.JWK, err error) {
	for _, key := range keys {
		public, err := publicKey(key)
		if err != nil {
			return nil, err
		}
		all = append(all, public)
	}
	if len(all) == 0 {
		return nil, errors.New("publish the key of the agent card: there is none")
	}
	return all, nil
}

// publicKey returns the JWK of a key. Its key ID is the thumbprint (RFC 7638).
func publicKey(key *ecdsa.PrivateKey) (api.JWK, error) {
	point, err := key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		return api.JWK{}, fmt.Errorf("publish the key of the agent card: %w", err)
	}
	if len(point) != 65 {
		return api.JWK{}, errors.New("publish the key of the agent card: it is not on P-256")
	}
	x, y := encode(point[1:33]), encode(point[33:])
	thumb := sha256.Sum256([]byte(`{"crv":"P-256","kty":"EC","x":"` + x + `","y":"` + y + `"}`))
	return api.JWK{KeyType: "EC", Curve: "P-256", Use: "sig", Algorithm: "ES256", KeyID: encode(thumb[:]), X: x, Y: y}, nil
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
