package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// browserTimeout is how long a person has to sign in the browser.
const browserTimeout = 10 * time.Minute

// signInByBrowser opens the page of the service, where the wallet of a browser signs
// the sign-in message. The page sends message and signature to a listener on this
// machine; state proves that it is the page that this command opened. The tokens go
// to this command only. The browser is told the outcome.
func (s *session) signInByBrowser() error {
	expected, err := s.expectedWallet()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, browserTimeout)
	defer cancel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	page := s.server + "/app/login"
	h := &signatureHandler{page: page, state: rand.Text(), signed: make(chan signature, 1)}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	go srv.Serve(l) // it ends with Close
	defer srv.Close()
	s.openPage(page + "?" + h.query(l, time.Now().Add(browserTimeout), expected))
	select {
	case got := <-h.signed:
		err := s.finishSignIn(got.VerifyRequest, expected)
		got.finish(err)
		return err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return signedOut{errors.New("nobody signed in the browser within ten minutes: run the command again")}
		}
		return ctx.Err()
	}
}

// query returns the query of the page's address: where it sends the signature, until
// when, and which wallet signs; any if expected is empty.
func (h *signatureHandler) query(l net.Listener, until time.Time, expected string) string {
	q := url.Values{"port": {strconv.Itoa(l.Addr().(*net.TCPAddr).Port)}, "state": {h.state}, "until": {strconv.FormatInt(until.Unix(), 10)}}
	if expected != "" {
		q.Set("wallet", expected)
	}
	return q.Encode()
}

// expectedWallet returns the address of the wallet that commands use here, in lower
// case. It is empty if there is none: any account of the browser can sign in then.
func (s *session) expectedWallet() (string, error) {
	named := s.namedWallet()
	if common.IsHexAddress(named) { // it need not be on this machine
		return strings.ToLower(common.HexToAddress(named).Hex()), nil
	}
	w, err := s.signer()
	if err == nil {
		return strings.ToLower(w.Address().Hex()), nil
	}
	if named == "" && errors.Is(err, client.ErrNotSignedIn) {
		return "", nil
	}
	return "", err
}

// errOtherWallet is returned if another account signed than the commands here use.
var errOtherWallet = errors.New("another account signed in the browser")

// finishSignIn exchanges the signature for tokens and stores them.
func (s *session) finishSignIn(in api.VerifyRequest, expected string) error {
	c, err := s.open()
	if err != nil {
		return err
	}
	set, err := c.Verify(s.ctx, in)
	if err != nil {
		return err
	}
	wallet := strings.ToLower(set.WalletAddress)
	if expected != "" && wallet != expected {
		return signedOut{fmt.Errorf("%w: %s, but commands here use %s; select that one in the browser, or run `deed login --browser --wallet %s`", errOtherWallet, wallet, expected, wallet)}
	}
	t := client.Tokens{Wallet: wallet, Access: set.AccessToken, Refresh: set.RefreshToken, Expires: time.Now().Add(time.Duration(set.ExpiresIn) * time.Second)}
	if err := s.saveTokens(t); err != nil {
		return err
	}
	return s.showSignIn(t)
}

// openPage prints an address and opens it in a browser.
func (s *session) openPage(address string) {
	fmt.Fprintf(s.errs, "sign in at %s\n", address)
	if err := openBrowser(address); err != nil {
		fmt.Fprintf(s.errs, "no browser could be opened (%v): open that address yourself\n", err)
	}
}

// openBrowser opens an address in the browser of the desktop, or in that of BROWSER.
func openBrowser(address string) error {
	if _, err := url.Parse(address); err != nil {
		return err
	}
	command := []string{"xdg-open"}
	switch custom := os.Getenv("BROWSER"); {
	case custom != "":
		command = strings.Fields(custom)
	case runtime.GOOS == "darwin":
		command = []string{"open"}
	case runtime.GOOS == "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	if len(command) == 0 {
		return errors.New("BROWSER is empty")
	}
	cmd := exec.Command(command[0], append(command[1:], address)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // so that it does not stay a zombie
	return nil
}
