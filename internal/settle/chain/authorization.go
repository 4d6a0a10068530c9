package chain

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/signer"
)

const maxSignature = 4096 // bytes

// An authorization is a settle.Authorization in the types of the chain.
type authorization struct {
	settle.Authorization
	from, to common.Address
	nonce    common.Hash
	sig      []byte      // as the token wants it
	deploy   *deployment // of the payer's wallet, if the signature includes it
}

// parseAuthorization parses an authorization. It fails with CodePaymentInvalid when no token
// could accept it.
func (s *Settler) parseAuthorization(a settle.Authorization) (*authorization, error) {
	nonce, err := parseNonce(a.Nonce)
	switch {
	case err != nil:
		return nil, invalid("%v", err)
	case !isWallet(a.Payer) || !isWallet(a.PayTo):
		return nil, invalid("its payer or payee is not a wallet")
	case a.Amount <= 0:
		return nil, invalid("its amount is not above zero")
	case a.ValidAfter < 0 || a.ValidBefore <= a.ValidAfter:
		return nil, invalid("it is valid at no time")
	}
	deploy, inner, err := unwrap(a.Signature)
	if err != nil {
		return nil, invalid("%v", err)
	}
	parsed := &authorization{
		Authorization: a, from: common.HexToAddress(string(a.Payer)), to: common.HexToAddress(string(a.PayTo)),
		nonce: nonce, sig: inner, deploy: deploy,
	}
	// Those of a contract wallet are its own: a Safe, for example, has meanings for 0 and 1.
	if len(inner) == crypto.SignatureLength && inner[64] < 2 && parsed.signedByKey(s.Network.Domain()) {
		parsed.sig = slices.Clone(inner)
		parsed.sig[64] += 27
	}
	return parsed, nil
}

func parseNonce(text string) (common.Hash, error) {
	nonce, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil || len(nonce) != 32 || text != "0x"+hex.EncodeToString(nonce) {
		return common.Hash{}, errors.New("its nonce is not 0x and 64 lowercase hex digits")
	}
	return common.Hash(nonce), nil
}

// checkForm refuses authorizations that the token may accept and we do not.
func (s *Settler) checkForm(a *authorization) error {
	if err := s.checkAsset(a.Authorization); err != nil {
		return err
	}
	switch {
	case a.to != s.PayTo:
		return invalid("it pays to another address than ours")
	case a.from == s.PayTo:
		return invalid("it pays from our own address")
	}
	return checkSignatureForm(a)
}

// checkAsset refuses authorizations for another chain or token.
func (s *Settler) checkAsset(a settle.Authorization) error {
	if a.Asset != s.Network.Asset() {
		return invalid("it is signed for another chain or token than %s of %s", s.Network.Token.Address, s.Network.CAIP2())
	}
	return nil
}

// checkSignatureForm refuses signatures of a length that we do not look at.
func checkSignatureForm(a *authorization) error {
	if len(a.sig) == 0 || len(a.Signature) > maxSignature {
		return invalid("its signature is empty or too long")
	}
	return nil
}

func isWallet(w deed.Wallet) bool {
	parsed, err := deed.ParseWallet(string(w))
	return err == nil && parsed == w
}

// invalid returns the error that refuses a payment.
func invalid(format string, args ...any) error {
	return deed.Errorf(deed.CodePaymentInvalid, "the payment is invalid: "+format, args...)
}

// invalidFor is invalid with the cause that callers ask for.
func invalidFor(cause error, format string, args ...any) error {
	return &deed.Error{Code: deed.CodePaymentInvalid, Message: fmt.Sprintf("the payment is invalid: "+format, args...), Err: cause}
}

func word(n *big.Int) []byte { return common.LeftPadBytes(n.Bytes(), 32) }

// typedData returns what the payer signs (EIP-3009).
func (a *authorization) typedData(domain network.Domain) signer.TypedData {
	return signer.TypedData{Domain: domain, Type: "TransferWithAuthorization", Fields: []signer.Field{
		signer.Address("from", a.Payer), signer.Address("to", a.PayTo), signer.Uint256("value", int64(a.Amount)),
		signer.Uint256("validAfter", a.ValidAfter), signer.Uint256("validBefore", a.ValidBefore), signer.Bytes32("nonce", a.nonce),
	}}
}

// signedByKey reports whether the payer's key made the signature. A payer with
// code may accept other signatures, too.
func (a *authorization) signedByKey(domain network.Domain) bool {
	account, ok := recoverSigner(a.typedData(domain).Digest(), a.sig)
	return ok && account == a.from
}

// call encodes the call that settles it.
func (a *authorization) call() []byte {
	return pack(tokenABI, payMethod, a.from, a.to, big.NewInt(int64(a.Amount)),
		big.NewInt(a.ValidAfter), big.NewInt(a.ValidBefore), a.nonce, a.sig)
}

// purpose identifies its transactions in the store. It contains the token; the
// store adds the chain.
func (a *authorization) purpose(token common.Address) string {
	return fmt.Sprintf("settle %x %s %s", token, a.Payer, a.Nonce)
}
