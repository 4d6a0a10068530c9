package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// Report prints the error of a command and what to do about it, and returns the
// exit code. With --json it prints one JSON object in the form of the service's
// errors.
func Report(w io.Writer, cmd *cobra.Command, err error) int {
	if err == nil {
		return 0
	}
	r := newReport(err)
	if cmd == nil || cmd.Flag("server") == nil { // no client command: what was called is no Deed server
		r = ownReport(err)
	}
	if cmd != nil {
		if f := cmd.Flag("json"); f != nil && f.Value.String() == "true" {
			if raw, err := json.Marshal(r, json.Deterministic(true)); err == nil {
				fmt.Fprintf(w, "%s\n", raw)
				return r.Exit
			}
		}
	}
	r.print(w)
	return r.Exit
}

// A report is an error as it is printed. Its members are those of the service's
// errors; Exit is the exit code.
type report struct {
	Title     string       `json:"error,omitzero"`
	Message   string       `json:"message"`
	Code      string       `json:"code,omitzero"`
	Details   []api.Detail `json:"details,omitempty"`
	Hint      string       `json:"hint,omitzero"`
	DocURL    string       `json:"doc_url,omitzero"`
	RequestID string       `json:"requestId,omitzero"`
	JobID     string       `json:"jobId,omitzero"`
	Refund    *api.Refund  `json:"refund,omitzero"`
	Exit      int          `json:"exit"`

	said string // the message with its code
}

// ownReport returns what to tell about an error of a command that calls no Deed server:
// its words name the setting.
func ownReport(err error) report {
	r := report{Message: clean(err.Error()), Exit: ExitCode(err)}
	if errors.Is(err, context.Canceled) {
		r.Message = "interrupted"
	}
	r.said = r.Message
	return r
}

// newReport returns what to tell about an error of a client command.
func newReport(err error) report {
	r := report{Message: clean(err.Error()), Exit: ExitCode(err)}
	r.said = r.Message
	if text, ok := unreachable(err); ok {
		r.Message = text
		r.said = r.Message
	}
	switch e, dialed := errors.AsType[*net.OpError](err); {
	case dialed && e.Op == "dial":
		r.Hint = "no service responds there; set --server or DEED_SERVER, or run `deed serve`"
	case is[*url.Error](err) && !errors.Is(err, context.Canceled):
		r.Hint = "check the address in --server or DEED_SERVER; `deed doctor` says what is wrong"
	}
	if e, ok := errors.AsType[*client.Error](err); ok {
		r.addServiceError(e)
	}
	switch {
	case isUnknown(err) && errors.Is(err, context.Canceled):
		r.Message = "interrupted while a payment was under way: whether it was made is not known"
		r.Hint = "run the same command again within 24 hours: it repeats the same payment and never pays twice. `deed tx ls` shows what was paid"
	case isUnknown(err):
		r.Hint = "run the same command again within 24 hours: it repeats the same payment and never pays twice"
		return r
	case is[notPaid](err):
		r.Message = "interrupted; nothing was signed, and nothing was paid"
	case errors.Is(err, context.Canceled):
		r.Message = "interrupted"
	default:
		return r
	}
	r.said, r.Code = r.Message, ""
	return r
}

// addServiceError adds what a service has said, if it was one.
func (r *report) addServiceError(e *client.Error) {
	r.Title, r.Code, r.Details, r.Hint, r.RequestID, r.JobID, r.Refund = e.Title, e.Code, e.Details, clean(hint(e)), e.RequestID, e.JobID, e.Refund
	r.DocURL = e.DocURL
	if e.Code == "" {
		r.Hint = "this answer is not from a Deed service, but from a proxy or another server: check --server or DEED_SERVER, or try again later"
	}
	if e.Message != "" && r.said == clean(e.Error()) {
		r.Message = clean(e.Message)
	}
	if reason, over := overCap(e); over {
		r.said = clean("--max-price: " + reason)
		r.Hint = "give a higher --max-price (DEED_MAX_PRICE); nothing was paid"
	}
}

// unreachable says which service cannot be reached, if that is the error. The words of the
// library name the path of HTTP.
func unreachable(err error) (text string, ok bool) {
	e, ok := errors.AsType[*url.Error](err)
	if !ok {
		return "", false
	}
	u, bad := url.Parse(e.URL)
	if bad != nil {
		return "", false
	}
	return clean(fmt.Sprintf("cannot reach %s://%s: %v", u.Scheme, u.Host, e.Err)), true
}

// notPaid is the error of a paid command that was interrupted before it signed.
type notPaid struct{ error }

// Unwrap returns the interrupt.
func (e notPaid) Unwrap() error { return e.error }

func (r report) print(w io.Writer) {
	fmt.Fprintln(w, "deed:", r.said)
	for _, d := range r.Details {
		if !strings.Contains(r.Message, d.Reason) {
			fmt.Fprintf(w, "  %s: %s\n", clean(d.Field), clean(d.Reason))
		}
	}
	docs := r.DocURL
	if r.Hint != "" {
		docs = "" // the hint is enough
	}
	for _, line := range [][2]string{{"hint", r.Hint}, {"docs", docs}, {"job", r.JobID}} {
		if line[1] != "" {
			fmt.Fprintf(w, "  %s: %s\n", line[0], clean(line[1]))
		}
	}
	if r.Refund != nil {
		fmt.Fprintf(w, "  refund: %s USDC, %s\n", clean(r.Refund.Amount), clean(r.Refund.Status))
	}
	if r.RequestID != "" {
		fmt.Fprintln(w, "  request:", clean(r.RequestID))
	}
}
