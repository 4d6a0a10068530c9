package cli

import (
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"

	"deed.example/deed/api"
)

// A signatureHandler receives the signature of a sign-in from the page, once, and
// sends the browser back to the page with the outcome. So the signature does not stay
// in the address of the tab.
type signatureHandler struct {
	page   string         // where the page shows an outcome
	state  string         // what the page has to send along
	signed chan signature // gets the first one; it has room for it
	taken  atomic.Bool    // signed has got one
}

// A signature is what the page sent. The browser waits until finish is called.
type signature struct {
	api.VerifyRequest
	outcome chan<- error    // has room for one
	told    <-chan struct{} // closed when the browser has its response, or has gone
}

// finish tells the browser the outcome, and returns when it has been sent.
func (s signature) finish(err error) {
	s.outcome <- err
	<-s.told
}

// ServeHTTP accepts the first signature that comes with the state.
func (h *signatureHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(h.state)) != 1 || q.Get("message") == "" || q.Get("signature") == "" {
		http.Error(w, "This is not the response that deed login waits for.", http.StatusBadRequest)
		return
	}
	if !h.taken.CompareAndSwap(false, true) {
		h.redirect(w, r, "used")
		return
	}
	outcome, told := make(chan error, 1), make(chan struct{})
	defer close(told)
	h.signed <- signature{api.VerifyRequest{Message: q.Get("message"), Signature: q.Get("signature")}, outcome, told}
	select {
	case err := <-outcome:
		h.redirect(w, r, outcomeName(err))
	case <-r.Context().Done(): // the tab was closed
	}
}

// outcomeName returns the word that the page has for an outcome. It shows no text of
// others, so the reason is said in the terminal.
func outcomeName(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, errOtherWallet):
		return "account"
	}
	return "failed"
}

func (h *signatureHandler) redirect(w http.ResponseWriter, r *http.Request, outcome string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Connection", "close")
	http.Redirect(w, r, h.page+"?"+url.Values{"result": {outcome}}.Encode(), http.StatusSeeOther)
	_ = http.NewResponseController(w).Flush() // it fails only if the browser has gone
}
