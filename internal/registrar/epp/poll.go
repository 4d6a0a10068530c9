package epp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// pendingAction is the result of a command that was pending (RFC 5731, 3.3).
type pendingAction struct {
	Name struct {
		Text   string `xml:",chardata"`
		Result string `xml:"paResult,attr"`
	} `xml:"name"`
}

// changeData says who changed an object, and why (RFC 8590).
type changeData struct {
	State     string `xml:"state,attr"`
	Operation string `xml:"operation"`
	Who       string `xml:"who"`
	Case      string `xml:"caseId"`
	Reason    string `xml:"reason"`
}

// text returns the change for the operator.
func (c changeData) text() string {
	return strings.Join(strings.Fields(strings.Join([]string{c.Operation, "by", c.Who, c.Case, c.Reason}, " ")), " ")
}

// NextMessage implements registrar.MessageQueue.
func (b *Backend) NextMessage(ctx context.Context, store func(context.Context, registrar.Message) error) (bool, error) {
	var m registrar.Message
	err := b.pool.do(ctx, normal, func(ctx context.Context, s *session) error {
		trid := trid("")
		frame, err := s.exchange(ctx, document(func(w *writer) {
			w.element("command", func() {
				writePoll(w, s.services)
				w.text("clTRID", trid)
			})
		}))
		if err != nil {
			return err
		}
		r, err := parseResponse(frame, trid)
		if err == nil {
			m, err = message(r, frame)
		}
		b.noteReply(r, err)
		if id := unreadableID(frame, trid); errors.Is(err, errInvalidReply) && id != "" {
			m, err = registrar.Message{ID: id, Kind: registrar.MessageOther, Text: "a message that cannot be read: " + err.Error(), Raw: frame}, nil
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("read a message: %w", err)
	}
	if m.ID == "" {
		return false, nil
	}
	if err := store(ctx, m); err != nil {
		return true, fmt.Errorf("store message %s: %w", m.ID, err)
	}
	r, err := b.send(ctx, command{body: func(w *writer, _ services) {
		w.element("poll", nil, "op", "ack", "msgID", m.ID)
	}})
	if err == nil && r.code() != codeOK && r.code() != codeNoMessages && r.code() != codeNotFound { // another process may have acknowledged it
		err = resultError(r)
	}
	if err != nil {
		return true, fmt.Errorf("acknowledge message %s: %w", m.ID, err)
	}
	return true, nil
}

// writePoll writes the question for the oldest message.
func writePoll(w *writer, _ services) { w.element("poll", nil, "op", "req") }

var (
	messageID   = regexp.MustCompile(`<(?:[\w.-]+:)?msgQ\s[^<>]*?\bid\s*=\s*["']([^"'<>&\s]{1,200})["']`)
	messageCode = regexp.MustCompile(`\bcode\s*=\s*["']1301["']`)
)

// unreadableID returns the identifier of a message that is not XML, or not as it must be, so
// that it does not stop those behind it; "" when it has none, or the frame is no reply to the
// command with this identifier.
func unreadableID(frame []byte, trid string) string {
	frame = inUTF8(frame)
	found := messageID.FindAllSubmatch(frame, 2)
	if len(found) != 1 || !messageCode.Match(frame) || !regexp.MustCompile(`>\s*`+regexp.QuoteMeta(trid)+`\s*<`).Match(frame) {
		return ""
	}
	return string(found[0][1])
}

// maxMessageID bounds the identifier of a message.
const maxMessageID = 200

// message returns the message of a response, or the zero message when there is none.
// What it is about may be missing or unknown; the operator gets it all the same.
func message(r response, raw []byte) (registrar.Message, error) {
	switch {
	case r.code() == codeNoMessages:
		return registrar.Message{}, nil
	case r.code() != codeMessage:
		return registrar.Message{}, resultError(r)
	case r.Queue == nil || r.Queue.ID == "" || len(r.Queue.ID) > maxMessageID:
		return registrar.Message{}, fmt.Errorf("%w: a message without an identifier", errInvalidReply)
	}
	m := registrar.Message{ID: r.Queue.ID, Kind: registrar.MessageOther, Text: strings.TrimSpace(r.Queue.Message), Raw: raw}
	if at, err := parseTime(r.Queue.Date); err == nil {
		m.At = at.Truncate(time.Second)
	}
	if c := r.Ext.Change; c != nil {
		m.Text = strings.TrimSpace(m.Text + " (" + c.text() + ")")
	}
	about := ""
	switch d := r.Data; {
	case len(d.Hosts) == 1:
		return ofHost(m, d.Hosts[0].Name), nil
	case len(d.HostsDone) == 1:
		return ofHost(m, d.HostsDone[0].Name.Text), nil
	case len(d.Transfers) == 1:
		t := d.Transfers[0]
		m.Kind, about, m.Status = registrar.MessageTransfer, t.Name, strings.TrimSpace(t.Status)
		m.Done = strings.HasSuffix(m.Status, transferApproved)
	case len(d.Pending) == 1:
		p := d.Pending[0].Name
		m.Kind, about, m.Done = registrar.MessagePending, p.Text, p.Result == "1" || p.Result == "true"
	case len(d.Renewed) == 1:
		m.Kind, about = registrar.MessageRenewal, d.Renewed[0].Name
	case len(d.Domains) == 1:
		m.Kind, about = registrar.MessageName, d.Domains[0].Name
	case len(d.Created) == 1:
		m.Kind, about = registrar.MessageName, d.Created[0].Name
	}
	if name, err := deed.ParseName(strings.TrimSpace(about)); err == nil {
		m.Name = name
	} else {
		m.Kind = registrar.MessageOther
	}
	return m, nil
}

// ofHost returns the message as one about a host.
func ofHost(m registrar.Message, text string) registrar.Message {
	if host, err := deed.ParseHost(strings.TrimSpace(text)); err == nil {
		m.Kind, m.Host = registrar.MessageHost, host
	}
	return m
}
