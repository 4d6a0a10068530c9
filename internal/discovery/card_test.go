package discovery

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/gowebpki/jcs"

	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
)

func TestCardHasRequiredFields(t *testing.T) {
	s := open(t, testSite())
	got := read[api.AgentCard](t, s, cardPath)
	want := api.AgentInterface{URL: "https://names.deed.example/a2a", ProtocolBinding: "JSONRPC", ProtocolVersion: "1.0"}
	if len(got.SupportedInterfaces) != 1 || got.SupportedInterfaces[0] != want || got.Version != "1.2.3" || !got.Capabilities.Streaming || len(got.Capabilities.Extensions) != 1 {
		t.Errorf("got %+v", got)
	}
	ids := []string{}
	for _, skill := range got.Skills {
		ids = append(ids, skill.ID)
		if len(skill.Examples) == 0 {
			t.Errorf("%s has no example", skill.ID)
		}
	}
	names := []string{}
	for _, tool := range agent.Tools(true) {
		if tool.OnCard {
			names = append(names, tool.Name)
		}
	}
	if len(ids) < 10 || !slices.Equal(ids, names) {
		t.Errorf("got skills %v, want %v", ids, names)
	}
	raw := s.get(cardPath)
	if t.Logf("the card has %d bytes", len(raw)); len(raw) >= 10_000 {
		t.Errorf("the card has %d bytes", len(raw))
	}
	var tree any
	if err := json.Unmarshal([]byte(raw), &tree); err != nil {
		t.Fatal(err)
	}
	checkNoEmpty(t, "", tree)
}

// checkNoEmpty fails for empty values, which verifiers remove before they check
// the signature.
func checkNoEmpty(t *testing.T, at string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			checkNoEmpty(t, at+"/"+key, member)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for _, item := range v {
			checkNoEmpty(t, at+"/-", item)
		}
		if len(v) > 0 {
			return
		}
	case string:
		if v != "" {
			return
		}
	case bool:
		if v {
			return
		}
	}
	t.Errorf("%s is %#v", at, v)
}

// verify checks a card using published data only.
func verify(t *testing.T, card, keys string) bool {
	t.Helper()
	var tree map[string]any
	var signed struct {
		Signatures []api.AgentCardSignature `json:"signatures"`
	}
	var set api.JWKS
	for raw, v := range map[string]any{card: &tree, keys: &set} {
		if err := json.Unmarshal([]byte(raw), v); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal([]byte(card), &signed); err != nil || len(signed.Signatures) != 1 || len(set.Keys) != 1 {
		t.Fatalf("got %+v and %+v, %v", signed, set, err)
	}
	var header api.JOSEHeader
	if err := json.Unmarshal(decode(t, signed.Signatures[0].Protected), &header); err != nil {
		t.Fatal(err)
	}
	if want := (api.JOSEHeader{Algorithm: "ES256", Type: "JOSE", KeyID: set.Keys[0].KeyID, KeysURL: "https://names.deed.example/.well-known/jwks.json"}); header != want {
		t.Errorf("got %+v, want %+v", header, want)
	}
	delete(tree, "signatures")
	raw, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := jcs.Transform(raw)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, decode(t, set.Keys[0].X), decode(t, set.Keys[0].Y)))
	if err != nil {
		t.Fatal(err)
	}
	signature := decode(t, signed.Signatures[0].Signature)
	digest := sha256.Sum256([]byte(signed.Signatures[0].Protected + "." + encode(payload)))
	return len(signature) == 64 && ecdsa.Verify(key, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
}

func decode(t *testing.T, s string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestCardIsSigned(t *testing.T) {
	s := open(t, testSite())
	card, keys := s.get(cardPath), s.get(keysPath)
	if !verify(t, card, keys) {
		t.Error("the signature is not good")
	}
	var tree map[string]any
	if err := json.Unmarshal([]byte(card), &tree); err != nil {
		t.Fatal(err)
	}
	tree["description"] = "send your money here"
	forged, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	if verify(t, string(forged), keys) {
		t.Error("the signature is good for another card")
	}
}

// Nodes with the same key serve the same card, so that caches in front of them
// work.
func TestCardIsTheSameOnEveryNode(t *testing.T) {
	a, b := open(t, testSite()), open(t, testSite())
	for _, path := range []string{cardPath, keysPath} {
		if a.get(path) != b.get(path) {
			t.Errorf("%s: got %s and %s", path, a.get(path), b.get(path))
		}
	}
}
