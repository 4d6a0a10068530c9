package agent_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
)

// An order that was answered while its payment was being settled, and then waited for, has
// the receipt of the settled payment: a client would take the pending one for a failure.
func TestReceiptAfterWaiting(t *testing.T) {
	for _, name := range []string{"PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE"} {
		service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/domains/status/") {
				_, _ = w.Write([]byte(`{"jobId":"job_1","status":"completed","result":{"domain":"a.com"},"payment":{"txHash":"0xabc","settled":true}}`))
				return
			}
			w.Header()[name] = []string{base64.StdEncoding.EncodeToString([]byte(`{"success":false,"errorReason":"settlement_pending","payer":"0x1","transaction":"","network":"eip155:84532"}`))}
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write([]byte(`{"jobId":"job_1","status":"pending"}`))
		})
		e := newExecutor(service)
		e.WaitSlots = make(chan struct{}, 1)
		e.Stopping = func() bool { return false }
		e.Pause = func(context.Context, time.Duration) error { return nil }
		tool, _ := agent.Find("register_domain")
		a, err := e.Do(t.Context(), tool, agent.Request{Arguments: []byte(`{"domain":"a.com","wait_seconds":1}`)})
		if err != nil || a.Status != http.StatusCreated {
			t.Fatalf("got %d %v", a.Status, err)
		}
		var got api.SettleResponse
		raw, err := base64.StdEncoding.DecodeString(a.Header[name][0])
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if want := (api.SettleResponse{Success: true, Payer: "0x1", Transaction: "0xabc", Network: "eip155:84532"}); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}
