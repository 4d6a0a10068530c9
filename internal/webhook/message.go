package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
)

// A Message is what is sent about an event.
type Message struct {
	ID      string
	N       int64 // the number of the event, 0 for a test
	Type    string
	Subject string // the name that it is about; may be empty
	At      time.Time
	Data    []byte // a JSON object
}

// cloudEvent is the body of a request (CloudEvents 1.0.2, JSON format, section 3).
// cursor is an extension attribute.
type cloudEvent struct {
	SpecVersion     string         `json:"specversion"`
	ID              string         `json:"id"`
	Source          string         `json:"source"`
	Type            string         `json:"type"`
	Subject         string         `json:"subject,omitzero"`
	Time            time.Time      `json:"time"`
	DataContentType string         `json:"datacontenttype"`
	Cursor          string         `json:"cursor,omitzero"`
	Data            jsontext.Value `json:"data"`
}

// Body returns the CloudEvent of the message. The source is the address of the
// service.
func (m Message) Body(source string) ([]byte, error) {
	e := cloudEvent{
		SpecVersion: "1.0", ID: m.ID, Source: source, Type: m.Type, Subject: m.Subject, Time: m.At.UTC(), DataContentType: "application/json", Data: m.Data,
	}
	if m.N > 0 {
		e.Cursor = strconv.FormatInt(m.N, 10)
	}
	body, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode event %s: %w", m.ID, err)
	}
	return body, nil
}

// Header returns the headers of an attempt: those of Standard Webhooks, with one
// signature for each secret. The id is the same in each attempt, so that a receiver
// notices a repetition.
func Header(id string, body []byte, at time.Time, secrets []deed.Secret) (http.Header, error) {
	if len(secrets) == 0 {
		return nil, errors.New("a webhook has no secret to sign with")
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, s := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s.Reveal(), secretPrefix))
		if err != nil {
			return nil, fmt.Errorf("decode the secret of a webhook: %w", err)
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body) // a hash never fails
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return http.Header{
		"Content-Type":      {"application/cloudevents+json; charset=utf-8"},
		"Webhook-Id":        {id},
		"Webhook-Timestamp": {timestamp},
		"Webhook-Signature": {strings.Join(signatures, " ")},
	}, nil
}
