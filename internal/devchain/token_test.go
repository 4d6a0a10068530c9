package devchain_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/internal/devchain"
)

// separator is the token's EIP-712 domain separator, computed independently of it.
var separator = crypto.Keccak256(
	crypto.Keccak256([]byte("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")),
	crypto.Keccak256([]byte("USDC")), crypto.Keccak256([]byte("2")),
	word(devchain.ChainID), common.LeftPadBytes(usdc[:], 32))

func word(n int64) []byte { return common.LeftPadBytes(big.NewInt(n).Bytes(), 32) }

func address(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }

// signed signs an EIP-712 struct of the token, given its type and fields.
func (w wallet) signed(t testing.TB, typ string, fields ...[]byte) []byte {
	t.Helper()
	what := crypto.Keccak256(append([][]byte{crypto.Keccak256([]byte(typ))}, fields...)...)
	sig, err := crypto.Sign(crypto.Keccak256([]byte{0x19, 1}, separator, what), w.key)
	if err != nil {
		t.Fatal(err)
	}
	sig[64] += 27
	return sig
}

// transfer is an EIP-3009 authorization.
type transfer struct {
	from, to      common.Address
	value         int64
	after, before int64
	nonce         common.Hash
}

const (
	transferType = "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
	receiveType  = "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
	cancelType   = "CancelAuthorization(address authorizer,bytes32 nonce)"
	permitType   = "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"
)

func newTransfer(from, to common.Address, value int64, nonce string) transfer {
	return transfer{from, to, value, 0, time.Now().Add(time.Hour).Unix(), crypto.Keccak256Hash([]byte(nonce))}
}

func (a transfer) sign(t testing.TB, w wallet, typ string) []byte {
	t.Helper()
	return w.signed(t, typ, address(a.from), address(a.to), word(a.value), word(a.after), word(a.before), a.nonce[:])
}

// The token has two overloads of each method with a signature: as bytes, and as
// v, r, s. The ABI package distinguishes them by a number after the name.
const (
	whole = ",bytes)"
	parts = ",uint8,bytes32,bytes32)"
)

func overload(t testing.TB, b *env, method, end string) string {
	t.Helper()
	for _, name := range []string{method, method + "0"} {
		if m := b.token.Methods[name]; strings.HasSuffix(m.Sig, end) {
			return name
		}
	}
	t.Fatalf("the token has no %s(…%s", method, end)
	return ""
}

func (a transfer) data(t testing.TB, b *env, method string, sig []byte) []byte {
	t.Helper()
	return pack(t, b.token, overload(t, b, method, whole),
		a.from, a.to, big.NewInt(a.value), big.NewInt(a.after), big.NewInt(a.before), a.nonce, sig)
}

func (a transfer) split(t testing.TB, b *env, method string, sig []byte) []byte {
	t.Helper()
	return pack(t, b.token, overload(t, b, method, parts),
		a.from, a.to, big.NewInt(a.value), big.NewInt(a.after), big.NewInt(a.before), a.nonce,
		sig[64], common.Hash(sig[:32]), common.Hash(sig[32:64]))
}

// wantRevert checks that a call of the token is refused for this reason.
func (b *env) wantRevert(t testing.TB, data []byte, reason string) {
	t.Helper()
	_, err := b.call(usdc, data)
	f, ok := errors.AsType[*fault](err)
	if !ok || f.Code != 3 || f.Message != "execution reverted: "+reason || !strings.HasPrefix(f.Data, "0x08c379a0") {
		t.Errorf("got %v, want revert %q", err, reason)
	}
}

func TestTokenIsBaseSepoliaUSDC(t *testing.T) {
	b := open(t)
	out, err := b.call(usdc, pack(t, b.token, "DOMAIN_SEPARATOR"))
	if err != nil {
		t.Fatal(err)
	}
	got := hexutil.Encode(out)
	if got != hexutil.Encode(separator) || !strings.HasPrefix(got, "0x71f17a3b") || !strings.HasSuffix(got, "9818") {
		t.Errorf("got separator %s, want %x, the one of Base Sepolia", got, separator)
	}
	for method, want := range map[string]any{"name": "USDC", "symbol": "USDC", "version": "2", "decimals": uint8(6)} {
		out, err := b.call(usdc, pack(t, b.token, method))
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.token.Unpack(method, out)
		if err != nil || got[0] != want {
			t.Errorf("%s: got %v, %v, want %v", method, got, err, want)
		}
	}
	selector := transfer{}.data(t, b, "transferWithAuthorization", nil)[:4]
	if got := hexutil.Encode(selector); got != "0xcf092995" {
		t.Errorf("bytes overload: got selector %s, want 0xcf092995", got)
	}
	selector = transfer{}.split(t, b, "transferWithAuthorization", make([]byte, 65))[:4]
	if got := hexutil.Encode(selector); got != "0xe3ee160e" {
		t.Errorf("v,r,s overload: got selector %s, want 0xe3ee160e", got)
	}
}

func TestAuthorizationIsUsedOnce(t *testing.T) {
	b := open(t)
	payer, payee, carrier := b.fundedWallet(t, 1_000_000), newWallet(t), b.fundedWallet(t, 1)
	for i, encode := range []func(transfer, testing.TB, *env, string, []byte) []byte{transfer.data, transfer.split} {
		a := newTransfer(payer.addr, payee.addr, 250_000, string(rune('a'+i)))
		data := encode(a, t, b, "transferWithAuthorization", a.sign(t, payer, transferType))
		r := b.send(t, carrier, &usdc, data)
		if r.Status != 1 || len(r.Logs) != 2 {
			t.Fatalf("got status %d and %d logs, want a transfer", r.Status, len(r.Logs))
		}
		used, moved := r.Logs[0], r.Logs[1]
		if used.Topics[0] != b.token.Events["AuthorizationUsed"].ID || used.Topics[1] != common.BytesToHash(payer.addr[:]) || used.Topics[2] != a.nonce {
			t.Errorf("got first log %v, want AuthorizationUsed(%s, %s)", used.Topics, payer.addr, a.nonce)
		}
		if moved.Topics[0] != b.token.Events["Transfer"].ID || moved.Topics[2] != common.BytesToHash(payee.addr[:]) || new(big.Int).SetBytes(moved.Data).Int64() != a.value {
			t.Errorf("got second log %v %x, want Transfer to %s", moved.Topics, moved.Data, payee.addr)
		}
		b.wantRevert(t, data, "FiatTokenV2: authorization is used or canceled")
		if again := b.send(t, carrier, &usdc, data); again.Status != 0 || len(again.Logs) != 0 {
			t.Errorf("replay: got status %d and %d logs, want a failure", again.Status, len(again.Logs))
		}
	}
	if got, want := b.usdcOf(t, payee.addr), int64(500_000); got != want {
		t.Errorf("got a balance of %d, want %d", got, want)
	}
	if got, want := b.usdcOf(t, payer.addr), int64(500_000); got != want {
		t.Errorf("got %d left, want %d", got, want)
	}
}

func TestAuthorizationRefused(t *testing.T) {
	b := open(t)
	payer, payee, other := b.fundedWallet(t, 1_000_000), newWallet(t), newWallet(t)
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		change func(*transfer)
		signer wallet
		mangle func([]byte) []byte
		reason string
	}{
		"not yet valid":   {change: func(a *transfer) { a.after = now + 3600 }, reason: "FiatTokenV2: authorization is not yet valid"},
		"expired":         {change: func(a *transfer) { a.before = now - 1 }, reason: "FiatTokenV2: authorization is expired"},
		"too much":        {change: func(a *transfer) { a.value = 1_000_001 }, reason: "ERC20: transfer amount exceeds balance"},
		"to address zero": {change: func(a *transfer) { a.to = common.Address{} }, reason: "ERC20: transfer to the zero address"},
		"other signer":    {signer: other, reason: "FiatTokenV2: invalid signature"},
		"high s":          {mangle: highS, reason: "ECRecover: invalid signature 's' value"},
		"v of 0":          {mangle: func(s []byte) []byte { s[64] -= 27; return s }, reason: "ECRecover: invalid signature 'v' value"},
		"v of 29":         {mangle: func(s []byte) []byte { s[64] = 29; return s }, reason: "ECRecover: invalid signature 'v' value"},
		"r of 0":          {mangle: func(s []byte) []byte { clear(s[:32]); return s }, reason: "ECRecover: invalid signature"},
		"64 bytes":        {mangle: func(s []byte) []byte { return s[:64] }, reason: "ECRecover: invalid signature length"},
		"66 bytes":        {mangle: func(s []byte) []byte { return append(s, 0) }, reason: "ECRecover: invalid signature length"},
		"no signature":    {mangle: func([]byte) []byte { return nil }, reason: "ECRecover: invalid signature length"},
		"no balance":      {change: func(a *transfer) { a.from = other.addr }, signer: other, reason: "ERC20: transfer amount exceeds balance"},
		"wrong sender":    {change: func(a *transfer) { a.from = other.addr }, reason: "FiatTokenV2: invalid signature"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newTransfer(payer.addr, payee.addr, 100_000, name)
			if c.change != nil {
				c.change(&a)
			}
			if c.signer.key == nil {
				c.signer = payer
			}
			sig := a.sign(t, c.signer, transferType)
			if c.mangle != nil {
				sig = c.mangle(sig)
			}
			b.wantRevert(t, a.data(t, b, "transferWithAuthorization", sig), c.reason)
			if len(sig) == 65 {
				b.wantRevert(t, a.split(t, b, "transferWithAuthorization", sig), c.reason)
			}
		})
	}
}

// highS returns the malleated signature that recovers to the same key.
func highS(sig []byte) []byte {
	s := new(big.Int).Sub(crypto.S256().Params().N, new(big.Int).SetBytes(sig[32:64]))
	s.FillBytes(sig[32:64])
	sig[64] ^= 27 ^ 28
	return sig
}

func TestCancelAuthorization(t *testing.T) {
	b := open(t)
	payer, payee := b.fundedWallet(t, 1_000_000), newWallet(t)
	a := newTransfer(payer.addr, payee.addr, 1, "cancelled")
	forged := newWallet(t).signed(t, cancelType, address(payer.addr), a.nonce[:])
	b.wantRevert(t, pack(t, b.token, overload(t, b, "cancelAuthorization", whole), payer.addr, a.nonce, forged), "FiatTokenV2: invalid signature")

	sig := payer.signed(t, cancelType, address(payer.addr), a.nonce[:])
	cancel := pack(t, b.token, overload(t, b, "cancelAuthorization", parts), payer.addr, a.nonce, sig[64], common.Hash(sig[:32]), common.Hash(sig[32:64]))
	r := b.send(t, payer, &usdc, cancel)
	if r.Status != 1 || len(r.Logs) != 1 || r.Logs[0].Topics[0] != b.token.Events["AuthorizationCanceled"].ID {
		t.Fatalf("got %+v, want AuthorizationCanceled", r)
	}
	out, err := b.call(usdc, pack(t, b.token, "authorizationState", payer.addr, a.nonce))
	if err != nil || new(big.Int).SetBytes(out).Int64() != 1 {
		t.Errorf("got state %x, %v, want true", out, err)
	}
	used := "FiatTokenV2: authorization is used or canceled"
	b.wantRevert(t, a.data(t, b, "transferWithAuthorization", a.sign(t, payer, transferType)), used)
	b.wantRevert(t, cancel, used)
}
