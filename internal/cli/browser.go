package cli

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// browserTimeout is how long a person has to sign in the browser.
const browserTimeout = 10 * time.Minute

// signInByBrowser opens the page of the service, where a browser's wallet signs the
// sign-in message. The page sends message and signature to a listener on this
// machine; state proves that it is the page that this command opened. The tokens go
// to this command only.
func (s *session) signInByBrowser() error {
	ctx, cancel := context.WithTimeout(s.ctx, browserTimeout)
	defer cancel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	state, signed := rand.Text(), make(chan api.VerifyRequest, 1)
	srv := &http.Server{Handler: acceptSignature(state, signed), ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	go srv.Serve(l)   // it ends with Close
	defer srv.Close() // the browser has its answer
	page := fmt.Sprintf("%s/app/login?port=%d&state=%s", s.server, l.Addr().(*net.TCPAddr).Port, state)
	fmt.Fprintf(s.errs, "sign in at %s\n", page)
	if err := openBrowser(page); err != nil {
		fmt.Fprintf(s.errs, "no browser could be opened (%v): open that address yourself\n", err)
	}
	select {
	case in := <-signed:
		return s.finishSignIn(in)
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return signedOut{errors.New("nobody signed in the browser within ten minutes")}
		}
		return ctx.Err()
	}
}

// acceptSignature takes the first signature that comes with the state.
func acceptSignature(state string, signed chan<- api.VerifyRequest) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		q := r.URL.Query()
		if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 || q.Get("message") == "" || q.Get("signature") == "" {
			http.Error(w, "This is not the answer that deed login waits for.", http.StatusBadRequest)
			return
		}
		select {
		case signed <- api.VerifyRequest{Message: q.Get("message"), Signature: q.Get("signature")}:
			fmt.Fprintln(w, "The terminal has your signature. You can close this tab.")
		default:
			http.Error(w, "The terminal has a signature already.", http.StatusConflict)
		}
	})
}

// finishSignIn exchanges the signature for tokens and stores them.
func (s *session) finishSignIn(in api.VerifyRequest) error {
	c, err := s.open()
	if err != nil {
		return err
	}
	set, err := c.Verify(s.ctx, in)
	if err != nil {
		return err
	}
	folder, err := configFolder()
	if err != nil {
		return err
	}
	tokens := newTokenFile(folder, s.server)
	unlock, err := tokens.Lock(s.ctx)
	if err != nil {
		return err
	}
	defer unlock()
	t := client.Tokens{Wallet: strings.ToLower(set.WalletAddress), Access: set.AccessToken, Refresh: set.RefreshToken, Expires: time.Now().Add(time.Duration(set.ExpiresIn) * time.Second)}
	if err := tokens.Save(s.ctx, t); err != nil {
		return err
	}
	return s.showSignIn(t)
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
