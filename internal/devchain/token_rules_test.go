package devchain_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"deed.example/deed/internal/devchain"
)

// callAsOwner calls the token from its owner's account.
func (b *env) callAsOwner(t testing.TB, method string, args ...any) {
	t.Helper()
	if _, _, err := b.SendFromFaucet(t.Context(), devchain.USDC, pack(t, b.token, method, args...)); err != nil {
		t.Fatal(err)
	}
}

func TestReceiveWithAuthorization(t *testing.T) {
	b := open(t)
	payer, payee := b.fundedWallet(t, 1_000_000), b.fundedWallet(t, 1)
	a := newTransfer(payer.addr, payee.addr, 10, "received")
	data := a.data(t, b, "receiveWithAuthorization", a.sign(t, payer, receiveType))
	b.wantRevert(t, data, "FiatTokenV2: caller must be the payee")
	if r := b.send(t, payer, &usdc, data); r.Status != 0 {
		t.Error("someone other than the payee could receive")
	}
	if r := b.send(t, payee, &usdc, data); r.Status != 1 || b.usdcOf(t, payee.addr) != 11 {
		t.Errorf("got status %d, balance %d, want the payee paid", r.Status, b.usdcOf(t, payee.addr))
	}
}

func TestBlacklist(t *testing.T) {
	b := open(t)
	payer, payee := b.fundedWallet(t, 1_000_000), newWallet(t)
	a := newTransfer(payer.addr, payee.addr, 10, "barred")
	data := a.data(t, b, "transferWithAuthorization", a.sign(t, payer, transferType))
	for _, barred := range []wallet{payer, payee} {
		if err := b.Blacklist(t.Context(), barred.hex(), true); err != nil {
			t.Fatal(err)
		}
		b.wantRevert(t, data, "Blacklistable: account is blacklisted")
		if _, _, err := b.Faucet(t.Context(), barred.hex(), 5); err == nil {
			t.Error("the faucet paid a blacklisted wallet")
		}
		if err := b.Blacklist(t.Context(), barred.hex(), false); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.usdcOf(t, payer.addr); got != 1_000_000 {
		t.Errorf("got %d after the blacklist, want all of it", got)
	}
	if r := b.send(t, payer, &usdc, data); r.Status != 1 {
		t.Error("a payer that was removed from the blacklist cannot pay")
	}
	if r := b.send(t, payer, &usdc, pack(t, b.token, "blacklist", payee.addr)); r.Status != 0 {
		t.Error("a wallet other than the owner could blacklist")
	}
}

func TestPausedToken(t *testing.T) {
	b := open(t)
	payer, payee := b.fundedWallet(t, 1_000_000), newWallet(t)
	a := newTransfer(payer.addr, payee.addr, 10, "paused")
	sig := a.sign(t, payer, transferType)
	b.callAsOwner(t, "pause")
	for _, data := range [][]byte{
		a.data(t, b, "transferWithAuthorization", sig),
		a.split(t, b, "transferWithAuthorization", sig),
		pack(t, b.token, "transfer", payee.addr, big.NewInt(1)),
		pack(t, b.token, "approve", payee.addr, big.NewInt(1)),
	} {
		b.wantRevert(t, data, "Pausable: paused")
	}
	b.callAsOwner(t, "unpause")
	if r := b.send(t, payer, &usdc, a.data(t, b, "transferWithAuthorization", sig)); r.Status != 1 {
		t.Error("the token stayed paused")
	}
}

func TestOnlyTheOwnerMints(t *testing.T) {
	b := open(t)
	b.wantRevert(t, pack(t, b.token, "mint", newWallet(t).addr, big.NewInt(1)), "FiatToken: caller is not a minter")
	b.wantRevert(t, pack(t, b.token, "pause"), "Ownable: caller is not the owner")
}

func TestAllowance(t *testing.T) {
	b := open(t)
	owner, spender := b.fundedWallet(t, 100), b.fundedWallet(t, 1)
	if r := b.send(t, owner, &usdc, pack(t, b.token, "approve", spender.addr, big.NewInt(60))); r.Status != 1 {
		t.Fatal("cannot approve")
	}
	take := pack(t, b.token, "transferFrom", owner.addr, spender.addr, big.NewInt(40))
	for i, want := range []uint64{1, 0} { // 60 allows 40 once
		if r := b.send(t, spender, &usdc, take); uint64(r.Status) != want {
			t.Errorf("take %d: got status %d, want %d", i, r.Status, want)
		}
	}
	if got := b.usdcOf(t, spender.addr); got != 41 {
		t.Errorf("got %d, want 41", got)
	}
}

func TestPermit(t *testing.T) {
	b := open(t)
	owner, spender := b.fundedWallet(t, 100), b.fundedWallet(t, 1)
	permit := func(nonce, deadline int64) []byte {
		sig := owner.signed(t, permitType, address(owner.addr), address(spender.addr), word(70), word(nonce), word(deadline))
		return pack(t, b.token, overload(t, b, "permit", parts), owner.addr, spender.addr, big.NewInt(70), big.NewInt(deadline),
			sig[64], common.Hash(sig[:32]), common.Hash(sig[32:64]))
	}
	soon := time.Now().Add(time.Hour).Unix()
	b.wantRevert(t, permit(0, time.Now().Unix()-1), "FiatTokenV2: permit is expired")
	b.wantRevert(t, permit(1, soon), "EIP2612: invalid signature")
	if r := b.send(t, spender, &usdc, permit(0, soon)); r.Status != 1 {
		t.Fatal("a valid permit was refused")
	}
	b.wantRevert(t, permit(0, soon), "EIP2612: invalid signature")
	take := pack(t, b.token, "transferFrom", owner.addr, spender.addr, big.NewInt(70))
	if r := b.send(t, spender, &usdc, take); r.Status != 1 || b.usdcOf(t, owner.addr) != 30 {
		t.Errorf("got status %d, %d left, want 70 taken", r.Status, b.usdcOf(t, owner.addr))
	}
}

// codeWallet creates an ERC-1271 wallet with the factory and funds it.
func (b *env) codeWallet(t testing.TB, owner wallet, amount int64) common.Address {
	t.Helper()
	salt := crypto.Keccak256Hash(owner.addr[:])
	out, err := b.call(makers, pack(t, b.factory, "walletOf", owner.addr, salt))
	if err != nil {
		t.Fatal(err)
	}
	at := common.BytesToAddress(out)
	if _, _, err := b.SendFromFaucet(t.Context(), devchain.WalletFactory, pack(t, b.factory, "createWallet", owner.addr, salt)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Faucet(t.Context(), at.Hex(), amount); err != nil {
		t.Fatal(err)
	}
	return at
}

func TestSmartContractPayer(t *testing.T) {
	b := open(t)
	owner, payee := b.fundedWallet(t, 1), newWallet(t)
	payer := b.codeWallet(t, owner, 500)
	a := newTransfer(payer, payee.addr, 200, "by code")
	b.wantRevert(t, a.data(t, b, "transferWithAuthorization", a.sign(t, payee, transferType)), "FiatTokenV2: invalid signature")
	b.wantRevert(t, a.data(t, b, "transferWithAuthorization", []byte("short")), "FiatTokenV2: invalid signature")
	good := a.data(t, b, "transferWithAuthorization", a.sign(t, owner, transferType))
	if r := b.send(t, owner, &usdc, good); r.Status != 1 || b.usdcOf(t, payee.addr) != 200 {
		t.Errorf("got status %d and a balance of %d, want 200", r.Status, b.usdcOf(t, payee.addr))
	}
}

// The signatures of an account with delegated code (EIP-7702) are checked by that
// code: its own signature is no longer valid.
func TestDelegatedCodePayer(t *testing.T) {
	b := open(t)
	owner, payer, payee := b.fundedWallet(t, 1), b.fundedWallet(t, 500), newWallet(t)
	code := b.codeWallet(t, owner, 1)
	auth, err := types.SignSetCode(payer.key, types.SetCodeAuthorization{
		ChainID: *uint256.NewInt(devchain.ChainID), Address: code, Nonce: 0,
	})
	if err != nil {
		t.Fatal(err)
	}
	tx := owner.signWith(t, &types.SetCodeTx{
		ChainID: uint256.NewInt(devchain.ChainID), To: payer.addr, Gas: 200_000, AuthList: []types.SetCodeAuthorization{auth},
		GasFeeCap: uint256.NewInt(1e9), GasTipCap: uint256.NewInt(1e6),
	})
	if err := b.post(t, tx); err != nil {
		t.Fatal(err)
	}
	a := newTransfer(payer.addr, payee.addr, 200, "delegated")
	b.wantRevert(t, a.data(t, b, "transferWithAuthorization", a.sign(t, payer, transferType)), "FiatTokenV2: invalid signature")
	if r := b.send(t, owner, &usdc, a.data(t, b, "transferWithAuthorization", a.sign(t, owner, transferType))); r.Status != 1 {
		t.Error("the owner in the code cannot sign for the account with delegated code")
	}
}

// call3 is an entry of aggregate3.
type call3 struct {
	Target       common.Address
	AllowFailure bool
	CallData     []byte
}

func TestMulticallSettlesValidPayments(t *testing.T) {
	b := open(t)
	payee, carrier := newWallet(t), b.fundedWallet(t, 1)
	var calls []call3
	for i := range 8 {
		payer := b.fundedWallet(t, 100)
		a := newTransfer(payer.addr, payee.addr, 100+int64(i%2), "in a batch") // every other one exceeds the balance
		calls = append(calls, call3{usdc, true, a.data(t, b, "transferWithAuthorization", a.sign(t, payer, transferType))})
	}
	r := b.send(t, carrier, &batch, pack(t, b.multicall, "aggregate3", calls))
	if r.Status != 1 || len(r.Logs) != 2*4 || b.usdcOf(t, payee.addr) != 400 {
		t.Errorf("got status %d, %d logs, a balance of %d, want 1, 8, 400", r.Status, len(r.Logs), b.usdcOf(t, payee.addr))
	}
	for i, l := range r.Logs {
		if l.Index != uint(i) || l.TxHash != r.TransactionHash || l.BlockHash != r.BlockHash || !types.BloomLookup(r.LogsBloom, l.Topics[0]) {
			t.Errorf("log %d is inconsistent with its receipt: %+v", i, l)
		}
	}
	calls[1].AllowFailure = false
	if r := b.send(t, carrier, &batch, pack(t, b.multicall, "aggregate3", calls)); r.Status != 0 {
		t.Error("a batch succeeded although a required call failed")
	}
}
