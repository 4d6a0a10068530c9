package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"deed.example/deed/client"
)

// An externalSigner is a command that signs, such as one for a hardware wallet. It
// gets one JSON object on stdin and prints the answer: the address, or a signature
// in hex. What it prints on stderr is shown to the user.
type externalSigner struct {
	command []string
	errs    io.Writer
	address common.Address
}

// A signRequest is what an external signer gets. The methods are those of wallets:
// eth_accounts, personal_sign and eth_signTypedData_v4.
type signRequest struct {
	Method    string            `json:"method"`
	Address   string            `json:"address,omitzero"`
	Message   string            `json:"message,omitzero"`
	TypedData *client.TypedData `json:"typedData,omitzero"`
}

// newExternalSigner returns the signer of a command line. Words are separated by
// spaces; there is no shell. An address that is known saves the question for it.
func (s *session) newExternalSigner(line, known string) (*externalSigner, error) {
	e := &externalSigner{command: strings.Fields(line), errs: s.errs}
	if len(e.command) == 0 {
		return nil, usagef("--signer is empty: name the command that signs")
	}
	if known == "" {
		out, err := e.run(s.ctx, signRequest{Method: "eth_accounts"})
		if err != nil {
			return nil, err
		}
		known = strings.Trim(out, `[]" `)
	}
	if !common.IsHexAddress(known) {
		return nil, fmt.Errorf("the signer says that its address is %q: it should print 0x and 40 hex digits", clean(known))
	}
	e.address = common.HexToAddress(known)
	return e, nil
}

// Address returns the address that the command signs for.
func (e *externalSigner) Address() common.Address { return e.address }

// SignMessage has the command sign a text.
func (e *externalSigner) SignMessage(ctx context.Context, text string) ([]byte, error) {
	return e.signature(ctx, signRequest{Method: "personal_sign", Address: e.address.Hex(), Message: text})
}

// SignTypedData has the command sign a payment.
func (e *externalSigner) SignTypedData(ctx context.Context, data client.TypedData) ([]byte, error) {
	return e.signature(ctx, signRequest{Method: "eth_signTypedData_v4", Address: e.address.Hex(), TypedData: &data})
}

func (e *externalSigner) signature(ctx context.Context, r signRequest) ([]byte, error) {
	out, err := e.run(ctx, r)
	if err != nil {
		return nil, err
	}
	sig, err := hex.DecodeString(strings.TrimPrefix(strings.Trim(out, `"`), "0x"))
	if err != nil || len(sig) == 0 {
		return nil, fmt.Errorf("the signer printed %.40q: it should print a signature, 0x and hex digits", out)
	}
	return sig, nil
}

// run runs the command once and returns what it printed.
func (e *externalSigner) run(ctx context.Context, r signRequest) (string, error) {
	raw, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, e.command[0], e.command[1:]...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(raw), e.errs
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("the signer %s did not sign (exit code %d)", e.command[0], failed.ExitCode())
	}
	if err != nil {
		return "", fmt.Errorf("run the signer: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
