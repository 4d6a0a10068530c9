package cli_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	"github.com/go-json-experiment/json"

	"deed.example/deed/client"
)

// signAs is the external signer of the scripts: this test binary, with a key in
// TEST_SIGNER_KEY. It says what it signs on stderr.
func signAs(secret string) int {
	key, err := client.ParseKey(secret)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var in struct {
		Method    string           `json:"method"`
		Address   string           `json:"address"`
		Message   string           `json:"message"`
		TypedData client.TypedData `json:"typedData"`
	}
	if err := json.UnmarshalRead(os.Stdin, &in); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var sig []byte
	switch in.Method {
	case "eth_accounts":
		fmt.Printf("[%q]\n", key.Address().Hex())
		return 0
	case "personal_sign":
		fmt.Fprintln(os.Stderr, in.Method+": "+strings.ReplaceAll(in.Message, "\n", " "))
		sig, err = key.SignMessage(context.Background(), in.Message)
	case "eth_signTypedData_v4":
		fmt.Fprintln(os.Stderr, in.Method+": "+in.TypedData.Message["value"]+" to "+in.TypedData.Message["to"])
		sig, err = key.SignTypedData(context.Background(), in.TypedData)
	}
	if err != nil || !strings.EqualFold(in.Address, key.Address().Hex()) {
		fmt.Fprintln(os.Stderr, "refused:", err)
		return 1
	}
	fmt.Println("0x" + hex.EncodeToString(sig))
	return 0
}
