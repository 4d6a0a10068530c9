package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// eventStream sends events with the cursors from first to last.
func eventStream(first, last int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		for n := first; n <= last; n++ {
			fmt.Fprintf(w, "event: dns.changed\nid: %d\ndata: {\"cursor\":\"%d\"}\n\n", n, n)
		}
	}
}

// cutStream is a stream that ends within an event.
func cutStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Content-Length", "1000")
	fmt.Fprint(w, "data: {\"cur")
}

func eventPage(cursor int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		fmt.Fprintf(w, `{"events":[{"cursor":"%d"}],"cursor":"%d"}`, cursor, cursor)
	}
}

func refusedWith(status int, code string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":"e","message":"m","code":%q}`, code)
	}
}

func signedIn() client.Option {
	return client.WithTokens(&tokens{t: client.Tokens{Wallet: "0x1", Access: "a", Expires: time.Now().Add(time.Hour)}})
}

// Events are yielded once each and in order, whatever happens to the connection, and the
// caller is told once of each outage.
func TestWatchEvents(t *testing.T) {
	for name, test := range map[string]struct {
		scripts []func(http.ResponseWriter)
		outages int
	}{
		"stream":                 {[]func(http.ResponseWriter){eventStream(1, 4)}, 0},
		"stream that ends":       {[]func(http.ResponseWriter){eventStream(1, 2), eventStream(3, 4)}, 0},
		"stream that is cut":     {[]func(http.ResponseWriter){eventStream(1, 2), cutStream, eventStream(3, 4)}, 1},
		"sent twice":             {[]func(http.ResponseWriter){eventStream(1, 2), eventStream(2, 4)}, 0},
		"polled":                 {[]func(http.ResponseWriter){eventPage(1), eventStream(2, 4)}, 0},
		"service away meanwhile": {[]func(http.ResponseWriter){eventStream(1, 1), broken(502), refusedWith(503, client.CodeUnavailable), eventStream(2, 4)}, 1},
		"too many calls":         {[]func(http.ResponseWriter){refusedWith(429, client.CodeRateLimited), eventStream(1, 4)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outages := 0
			opts := []client.Option{signedIn(), client.WithRetryNotice(func(error) { outages++ })}
			var got []string
			for e, err := range scriptedWith(t, opts, test.scripts...).WatchEvents(t.Context(), "") {
				if err != nil {
					t.Fatal(err)
				}
				if got = append(got, e.Cursor); len(got) == 4 {
					break
				}
			}
			if fmt.Sprint(got) != "[1 2 3 4]" || outages != test.outages {
				t.Errorf("got %v and %d outages, want %d", got, outages, test.outages)
			}
		})
	}
}

// What the next attempt would not change ends the watch.
func TestWatchEventsEnds(t *testing.T) {
	first := func(c *client.Client) (e api.Event, err error) {
		for e, err = range c.WatchEvents(t.Context(), "x") {
			break
		}
		return e, err
	}
	_, err := first(scriptedWith(t, []client.Option{signedIn()}, refusedWith(400, client.CodeValidation)))
	refused(t, err, 400, client.CodeValidation)
	if _, err := first(scripted(t)); !errors.Is(err, client.ErrNotSignedIn) {
		t.Errorf("got %v", err)
	}
	_, err = first(scriptedWith(t, []client.Option{signedIn()}, refusedWith(401, client.CodeTokenInvalid)))
	if !errors.Is(err, client.ErrNotSignedIn) {
		t.Errorf("got %v", err)
	}
}

// A server that is no Deed service, or is broken, ends a call or a list, and is no reason to
// wait for ever or to use up the memory.
func TestOddServers(t *testing.T) {
	page := func(w http.ResponseWriter) { io.WriteString(w, "<html>accept our terms</html>") }
	_, err := scripted(t, page).Price(t.Context(), "com")
	refused(t, err, 200, "")
	_, err = scriptedWith(t, []client.Option{signedIn()}, page).ExportZone(t.Context(), "example.com")
	refused(t, err, 200, "")

	cut := func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, `{"tld":`)
	}
	if _, err = scripted(t, cut).Price(t.Context(), "com"); !errors.As(err, new(*url.Error)) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}

	same := func(w http.ResponseWriter) {
		io.WriteString(w, `{"events":[{"cursor":"7"}],"cursor":"7","hasMore":true}`)
	}
	n := 0
	for _, err := range scriptedWith(t, []client.Option{signedIn()}, same, same).Events(t.Context(), "6") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("got %d events of a list that does not end", n)
	}

	endless := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 20 {
			fmt.Fprintf(w, "data: %s\n", strings.Repeat(" ", 1<<20)) // it fails when the client has left
		}
	}
	var told error
	for _, err := range scriptedWith(t, []client.Option{client.WithRetryNotice(func(err error) { told = err })}, endless, plain("completed")).WatchJob(t.Context(), "j") {
		if err != nil {
			t.Fatal(err)
		}
	}
	if told == nil || !strings.Contains(told.Error(), "larger than") {
		t.Errorf("got %v about an event that does not end", told)
	}
}

// A payment whose answer is lost is repeated, and the caller is told once.
func TestRetryNotice(t *testing.T) {
	outages := 0
	s := newBuyer(t, client.WithRetryNotice(func(error) { outages++ }))
	cut := 0
	s.wire.set(nil, func(req *http.Request, _ *http.Response) error {
		if !paying(req) || cut == 2 {
			return nil
		}
		cut++
		return errCut
	})
	if _, err := s.Register(t.Context(), api.RegisterRequest{Domain: fresh(t)}); err != nil {
		t.Fatal(err)
	}
	if outages != 1 {
		t.Errorf("told %d times", outages)
	}
	s.spent(t, comPrice, 1)
}
