package httpapi

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// PaymentTerms are the terms of payment that an x402 offer states.
type PaymentTerms struct {
	NetworkV1    string // "base-sepolia"
	NetworkV2    string // "eip155:84532"
	Asset        string // address of the token
	PayTo        string
	TokenName    string // as the token's EIP-712 domain has it
	TokenVersion string
}

const (
	maxPaymentHeader      = 8 << 10
	paymentTimeoutSeconds = 300 // how long a wallet should make its authorization valid
	exact                 = "exact"
)

// offered is the payment of a request: the authorization, the error in it, its
// version of x402, and the wallet that is signed in.
type offered struct {
	auth     *settle.Authorization // nil when it cannot be read
	version  int
	err      error // CodePaymentInvalid: the header is malformed, or does not match the terms
	signedIn deed.Wallet
	isNew    bool // the payment did not come before

	count func() error // counts the request, which has not been; nil if it has
}

// by returns the payment with the wallet that is signed in.
func (o offered) by(w deed.Wallet) offered {
	o.signedIn = w
	return o
}

// payment reads the payment of a request. The header determines the version of
// x402: PAYMENT-SIGNATURE is 2, X-PAYMENT is 1.
func (s *Server) payment(r *http.Request) offered {
	v2, v1 := r.Header.Values("PAYMENT-SIGNATURE"), r.Header.Values("X-PAYMENT")
	switch {
	case len(v2)+len(v1) == 0:
		return offered{version: 2}
	case len(v2)+len(v1) > 1:
		return offered{version: 2, err: unpayable("invalid_payload", "send one payment: either PAYMENT-SIGNATURE or X-PAYMENT")}
	case len(v2) == 1:
		return s.readPayment(v2[0], 2)
	}
	return s.readPayment(v1[0], 1)
}

func (s *Server) readPayment(header string, version int) offered {
	auth, err := s.parsePayment(header, version)
	return offered{auth: auth, version: version, err: err}
}

func (s *Server) parsePayment(header string, version int) (*settle.Authorization, error) {
	if len(header) > maxPaymentHeader {
		return nil, unpayable("invalid_payload", "the payment is larger than %d bytes", maxPaymentHeader)
	}
	raw, err := base64.StdEncoding.DecodeString(header)
	if err != nil {
		return nil, unpayable("invalid_payload", "the payment is not base64")
	}
	var h api.PaymentHeader
	if err := json.Unmarshal(raw, &h); err != nil {
		return nil, unpayable("invalid_payload", "the payment is not the JSON of x402")
	}
	if h.X402Version != version {
		return nil, unpayable("invalid_x402_version", "the payment says version %d in the header of version %d", h.X402Version, version)
	}
	auth, err := parseAuthorization(h)
	if err != nil {
		return nil, err
	}
	auth.Asset = assetOf(h)
	// It is returned with the error: it may be a known payment under former terms.
	return auth, errors.Join(s.checkTerms(h), s.checkPayee(auth), checkAccepted(h, auth))
}

// checkAccepted compares the amount that the payer accepted, which version 2 states
// (x402, PaymentRequirements), with that of the authorization.
func checkAccepted(h api.PaymentHeader, a *settle.Authorization) error {
	if h.Accepted == nil {
		return nil // version 1, or refused by checkTerms
	}
	if h.X402Version == 2 && h.Accepted.Amount != strconv.FormatInt(int64(a.Amount), 10) {
		return unpayable(reasonValue, "the authorization is of %d and accepted.amount says %s: send the offer that is paid", int64(a.Amount), deed.Quoted(h.Accepted.Amount))
	}
	return nil
}

func (s *Server) checkPayee(a *settle.Authorization) error {
	if !strings.EqualFold(string(a.PayTo), s.Terms.PayTo) {
		return unpayable("invalid_exact_evm_payload_recipient_mismatch", "the authorization pays %s and the offer says %s", a.PayTo, s.Terms.PayTo)
	}
	return nil
}

// checkTerms compares what the payer accepted with the terms, except the amount:
// only the service knows the price (see checkAccepted).
func (s *Server) checkTerms(h api.PaymentHeader) error {
	scheme, network, want := h.Scheme, h.Network, s.Terms.NetworkV1
	if h.X402Version == 2 {
		if h.Accepted == nil {
			return unpayable("invalid_payload", "the payment does not say what it accepts")
		}
		scheme, network, want = h.Accepted.Scheme, h.Accepted.Network, s.Terms.NetworkV2
		if !strings.EqualFold(h.Accepted.Asset, s.Terms.Asset) || !strings.EqualFold(h.Accepted.PayTo, s.Terms.PayTo) {
			return unpayable("no_matching_payment_requirements", "the payment is for another token or payee than the offer")
		}
	}
	if scheme != exact {
		return unpayable("unsupported_scheme", "we take the scheme exact only")
	}
	if network != want {
		return unpayable("invalid_network", "the payment is on %s and we are on %s", network, want)
	}
	return nil
}

func parseAuthorization(h api.PaymentHeader) (*settle.Authorization, error) {
	in := h.Payload.Authorization
	if in == nil {
		return nil, unpayable("invalid_payload", "the payment has no authorization (EIP-3009)")
	}
	payer, err1 := deed.ParseWallet(in.From)
	payTo, err2 := deed.ParseWallet(in.To)
	amount, err3 := decimal(in.Value)
	after, err4 := decimal(in.ValidAfter)
	before, err5 := decimal(in.ValidBefore)
	nonce, err6 := parseHex(in.Nonce, 32, 32)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return nil, unpayable("invalid_payload", "the authorization has a malformed address, number or nonce")
	}
	signature, err := parseHex(h.Payload.Signature, 1, 4<<10)
	if err != nil {
		return nil, unpayable("invalid_exact_evm_payload_signature", "the signature is malformed")
	}
	return &settle.Authorization{
		Payer: payer, PayTo: payTo, Amount: deed.USDC(amount), ValidAfter: after, ValidBefore: before,
		Nonce: "0x" + hex.EncodeToString(nonce), Signature: signature,
	}, nil
}

// decimal parses a decimal integer without sign or leading zeros. No valid value
// exceeds 63 bits.
func decimal(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != s || n < 0 {
		return 0, errors.New("not a decimal number")
	}
	return n, nil
}

func parseHex(s string, minBytes, maxBytes int) ([]byte, error) {
	digits, prefixed := strings.CutPrefix(s, "0x")
	b, err := hex.DecodeString(digits)
	if err != nil || !prefixed || len(b) < minBytes || len(b) > maxBytes {
		return nil, errors.New("not hex")
	}
	return b, nil
}

// A payError is an invalid payment with the error reason of x402.
type payError struct {
	reason string
	error
}

func (e payError) Unwrap() error { return e.error }

func unpayable(reason, format string, args ...any) error {
	return payError{reason, deed.Errorf(deed.CodePaymentInvalid, format, args...)}
}

// reasonValue is the reason for another amount than the price.
const reasonValue = "invalid_exact_evm_payload_authorization_value_mismatch"

// reasons are the x402 error reasons (x402 version 2, section 9) of what the chain and the
// price say against a payment.
var reasons = []struct {
	cause  error
	reason string
}{
	{settle.ErrNotYet, "invalid_exact_evm_payload_authorization_valid_after"},
	{settle.ErrValidBefore, "invalid_exact_evm_payload_authorization_valid_before"},
	{settle.ErrSignature, "invalid_exact_evm_payload_signature"},
	{settle.ErrSpent, "invalid_transaction_state"},
	{order.ErrWrongAmount, reasonValue},
}

// reasonOf returns the x402 error reason of an invalid payment.
func reasonOf(err error) string {
	if e, ok := errors.AsType[payError](err); ok {
		return e.reason
	}
	for _, r := range reasons {
		if errors.Is(err, r.cause) {
			return r.reason
		}
	}
	switch deed.CodeOf(err) {
	case deed.CodePaymentInsufficient:
		return "insufficient_funds"
	case deed.CodePaymentInvalid:
		return "invalid_payment"
	}
	return ""
}

// encodeHeader returns v as the value of an x402 header.
func encodeHeader(v any) string {
	raw := encode(v)
	return base64.StdEncoding.EncodeToString(raw[:len(raw)-1])
}

// setReceipt sets the settlement response header of the client's x402 version.
func (s *Server) setReceipt(h http.Header, version int, p order.Payment) {
	receipt := api.SettleResponse{Success: p.TxHash != "", Payer: string(p.Auth.Payer), Transaction: p.TxHash, Network: s.Terms.NetworkV2}
	switch {
	case p.State.EndedUnpaid():
		receipt.ErrorReason = "invalid_transaction_state" // the settlement failed
	case !receipt.Success:
		receipt.ErrorReason = "settlement_pending" // the client must not sign a new payment
	}
	name := "PAYMENT-RESPONSE"
	if version == 1 {
		name, receipt.Network = "X-PAYMENT-RESPONSE", s.Terms.NetworkV1
	}
	h[name] = []string{encodeHeader(receipt)}
	h.Set("Cache-Control", "private")
}
