// Package contracts has the Solidity sources of the service and their compiled
// code: the test USDC and its supporting contracts on the embedded chain, and the
// signature check that is sent to any chain.
//
// Each JSON file has a contract's ABI, its creation code and its runtime code. `npm
// ci && npm run compile` in this directory creates them, and `make long` recompiles
// them and compares.
package contracts

import (
	"embed"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

//go:embed CodeCheck.json Multicall.json SignatureCheck.json USDC.json Wallet.json WalletFactory.json
var files embed.FS

// A Contract is a compiled contract.
type Contract struct {
	ABI    jsontext.Value
	Create []byte // the creation code
	Code   []byte // the runtime code
}

// Compiled returns the contract called USDC, Multicall, Wallet, WalletFactory,
// SignatureCheck or CodeCheck. It panics for any other name.
func Compiled(name string) Contract {
	raw, err := files.ReadFile(name + ".json")
	if err != nil {
		panic(fmt.Sprintf("contracts: there is no %s", name))
	}
	var file struct {
		ABI    jsontext.Value `json:"abi"`
		Create string         `json:"create"`
		Code   string         `json:"code"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		panic(fmt.Sprintf("contracts: read %s: %v", name, err))
	}
	return Contract{ABI: file.ABI, Create: mustHex(file.Create), Code: mustHex(file.Code)}
}

func mustHex(s string) []byte {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		panic(fmt.Sprintf("contracts: %v", err))
	}
	return b
}
