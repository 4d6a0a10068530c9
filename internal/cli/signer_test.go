package cli_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

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
	if len(os.Args) == 2 && strings.HasPrefix(os.Args[1], "http") {
		return browse(key, os.Args[1])
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

// browse does what the page does in a browser: it signs a message and sends it to
// the command that opened the page. A wrong state is refused.
func browse(key *client.Key, page string) int {
	u, err := url.Parse(page)
	if err != nil {
		return 1
	}
	c, err := client.New(u.Scheme + "://" + u.Host)
	if err != nil {
		return 1
	}
	n, err := c.Nonce(context.Background())
	if err != nil {
		return 1
	}
	message := fmt.Sprintf("%s wants you to sign in with your Ethereum account:\n%s\n\n\nURI: %s\nVersion: %s\nChain ID: %d\nNonce: %s\nIssued At: %s",
		n.Domain, key.Address().Hex(), n.URI, n.Version, n.ChainID, n.Nonce, time.Now().UTC().Format(time.RFC3339))
	sig, err := key.SignMessage(context.Background(), message)
	if err != nil {
		return 1
	}
	for _, state := range []string{"wrong", u.Query().Get("state")} {
		q := url.Values{"state": {state}, "message": {message}, "signature": {"0x" + hex.EncodeToString(sig)}}
		res, err := http.Get("http://127.0.0.1:" + u.Query().Get("port") + "/?" + q.Encode())
		if err != nil || (res.StatusCode == http.StatusOK) != (state != "wrong") {
			return 1
		}
		res.Body.Close() // its text is for people
	}
	return 0
}
