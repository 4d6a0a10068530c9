package chain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed/internal/settle"
)

// deployGas is added to the gas of a payment that deploys its wallet. The sum is below
// the gas of a full batch, so a gas wallet that can pay for a batch can pay for it, and
// low enough that the receipt fits into maxResponse, however many logs there are.
const deployGas = 1_000_000

// wrapperABI is the form of a wrapped signature, without its suffix.
var wrapperABI = abi.Arguments{{Type: mustType("address")}, {Type: mustType("bytes")}, {Type: mustType("bytes")}}

func mustType(name string) abi.Type {
	t, err := abi.NewType(name, "", nil)
	if err != nil {
		panic(fmt.Sprintf("chain: the type %s: %v", name, err))
	}
	return t
}

// A deployment is the call that creates the wallet of a payer.
type deployment struct {
	factory common.Address
	data    []byte
}

// String returns what tells one deployment from another.
func (d *deployment) String() string {
	if d == nil {
		return "without deployment"
	}
	return fmt.Sprintf("deployed by %s %x", d.factory, d.data)
}

// unwrap splits a signature into the deployment of its wallet and the signature that
// the wallet verifies. The deployment is nil when the signature is not wrapped.
func unwrap(signature []byte) (*deployment, []byte, error) {
	wrapped, ok := bytes.CutSuffix(signature, settle.WrapperSuffix)
	if !ok {
		return nil, signature, nil
	}
	parts, err := wrapperABI.Unpack(wrapped)
	if err != nil {
		return nil, nil, errors.New("its signature ends like a wrapped one (ERC-6492), but cannot be decoded")
	}
	d, inner := &deployment{parts[0].(common.Address), parts[1].([]byte)}, parts[2].([]byte)
	if bytes.HasSuffix(inner, settle.WrapperSuffix) {
		return nil, nil, errors.New("its signature is wrapped twice (ERC-6492)")
	}
	return d, inner, nil
}

// deploymentOf returns the deployment that must precede the transfer, or nil. A wallet
// that has code needs none, whoever deployed it.
func (s *Settler) deploymentOf(ctx context.Context, a *authorization) (*deployment, error) {
	if a.deploy == nil || a.signedByKey(s.Network.Domain()) {
		return nil, nil
	}
	code, err := s.Client.hasCode(ctx, []common.Address{a.from})
	if err != nil {
		return nil, fmt.Errorf("check the payment of %s: %w", a.Payer, err)
	}
	if code[0] {
		return nil, nil
	}
	return a.deploy, s.checkFactory(a)
}

// checkFactory fails for a wallet of a factory that we do not call.
func (s *Settler) checkFactory(a *authorization) error {
	if slices.Contains(s.factories, a.deploy.factory) {
		return nil
	}
	return invalid("the wallet %s is not deployed yet, and its factory %s is not one of those that we call: deploy the wallet first, with any transaction of its own, then sign again",
		a.Payer, walletAt(a.deploy.factory))
}

// deployAndSettle encodes both calls. The deployment may fail, because somebody else
// may have deployed the wallet in between. In a transaction the transfer may not:
// without the money the deployment is undone, too.
func (s *Settler) deployAndSettle(d *deployment, transfer []byte, mayFail bool) []byte {
	return pack(batchABI, "aggregate3", []batchCall{{d.factory, true, d.data}, {s.token, mayFail, transfer}})
}

// simulated returns the call for a simulation that settles the authorization after
// its deployment, if there is one. With a deployment it is a batch of its own, because
// a factory that uses up all gas must leave enough to read the other results.
func (s *Settler) simulated(a *authorization, d *deployment) batchCall {
	if d == nil {
		return batchCall{s.token, true, a.call()}
	}
	return batchCall{s.multicall, true, s.deployAndSettle(d, a.call(), true)}
}

// notDeployed is the reason when the wallet has no code after its deployment, or does
// not accept the signature.
const notDeployed = "its factory does not deploy the wallet, or the wallet does not accept its signature"

// transferResult reads the result of simulated: whether the transfer succeeds, and why
// not.
func transferResult(d *deployment, r callResult) (ok bool, reason string) {
	if d == nil {
		return r.Success, r.reason()
	}
	both, err := unpackBatch(r.ReturnData)
	if !r.Success || err != nil || len(both) != 2 {
		return false, "its deployment uses too much gas"
	}
	transfer := both[1]
	reason = transfer.reason()
	if !transfer.Success && (reason == "" || strings.Contains(reason, "signature")) {
		reason = notDeployed
	}
	return transfer.Success, reason
}
