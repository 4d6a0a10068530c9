package client_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"deed.example/deed/client"
)

// A plain HTTP client pays through the transport, once, and no other service.
func TestTransportPays(t *testing.T) {
	s := newBuyer(t)
	plain := &http.Client{Transport: s.Transport()}
	body := `{"domain":"` + fresh(t) + `"}`
	res, err := plain.Post(service+"/domains/register", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // it is read below
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 201 || !strings.Contains(string(raw), `"status":"active"`) || res.Header.Get("PAYMENT-RESPONSE") == "" {
		t.Errorf("got %d %s, %v", res.StatusCode, raw, err)
	}
	s.spent(t, comPrice, 1)
	again, err := plain.Post(service+"/domains/register", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Body.Close() // nobody reads it
	if again.StatusCode != 409 {
		t.Errorf("got %d, want 409", again.StatusCode)
	}
	if _, err := plain.Get("http://127.0.0.1:1/"); err == nil || !strings.Contains(err.Error(), "this wallet pays") {
		t.Errorf("got %v", err)
	}
}

// Without a wallet, the response is the offer.
func TestTransportWithoutWallet(t *testing.T) {
	plain := &http.Client{Transport: open(t, newWire(t), client.WithMaxPayment(50*client.Dollar)).Transport()}
	res, err := plain.Post(service+"/domains/register", "application/json", strings.NewReader(`{"domain":"`+fresh(t)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // nobody reads it
	if res.StatusCode != 402 || res.Header.Get("PAYMENT-REQUIRED") == "" {
		t.Errorf("got %d", res.StatusCode)
	}
}
