package signer

import (
	"encoding/hex"
	"testing"

	"deed.example/deed/internal/network"
)

var transfer = TypedData{
	Domain: network.Domain{Name: "USDC", Version: "2", ChainID: 84532, Contract: "0x036cbd53842c5426634e7929541ec2318f3dcf7e"},
	Type:   "TransferWithAuthorization",
	Fields: []Field{
		Address("from", "0x00000000000000000000000000000000000000aa"), Address("to", "0x00000000000000000000000000000000000000bb"),
		Uint256("value", 100_000), Uint256("validAfter", 0), Uint256("validBefore", 4_294_967_295), Bytes32("nonce", [32]byte{31: 7}),
	},
}

// The suite in signertest compares the same with go-ethereum's implementation.
func TestDigest(t *testing.T) {
	digest := transfer.Digest()
	if got, want := hex.EncodeToString(digest[:]), "5f150ecd5330b608841de3478cda604fa45bb1026486a9961d5a833167629efb"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	changed := transfer
	changed.Domain.ChainID = 8453
	if changed.Digest() == digest {
		t.Error("the chain is not part of the digest")
	}
}

func TestJSON(t *testing.T) {
	got, err := transfer.MarshalJSON()
	want := `{"domain":{"chainId":84532,"name":"USDC","verifyingContract":"0x036cbd53842c5426634e7929541ec2318f3dcf7e","version":"2"},` +
		`"message":{"from":"0x00000000000000000000000000000000000000aa","nonce":"0x0000000000000000000000000000000000000000000000000000000000000007",` +
		`"to":"0x00000000000000000000000000000000000000bb","validAfter":"0","validBefore":"4294967295","value":"100000"},` +
		`"primaryType":"TransferWithAuthorization",` +
		`"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],` +
		`"TransferWithAuthorization":[{"name":"from","type":"address"},{"name":"to","type":"address"},{"name":"value","type":"uint256"},` +
		`{"name":"validAfter","type":"uint256"},{"name":"validBefore","type":"uint256"},{"name":"nonce","type":"bytes32"}]}}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
