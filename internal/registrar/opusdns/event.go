package opusdns

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// Limits of the events that are read at once.
const (
	eventsPerPage = 100
	maxEventPages = 10
	maxEventSize  = 16 << 10
)

// An event is an event of the vendor that was not acknowledged yet.
type event struct {
	id     string
	object string // ID of a domain, or ""
	kind   string
	result string
	text   string
	at     time.Time
	raw    []byte
}

// NextMessage implements registrar.MessageQueue. Events are read in pages. One that
// cannot be read is passed on as it is; only one without an ID is left out, since it
// can never be acknowledged, and must not stop those behind it.
func (b *Backend) NextMessage(ctx context.Context, store func(context.Context, registrar.Message) error) (bool, error) {
	e, ok, err := b.nextEvent(ctx)
	if err != nil || !ok {
		return false, err
	}
	m, err := b.message(ctx, e)
	if err != nil {
		b.dropEvent(e.id) // it is read again, after those behind it
		return false, err
	}
	if err := store(ctx, m); err != nil {
		return false, err
	}
	err = b.api.do(ctx, request{lane: readLane, method: http.MethodPatch, path: "/v1/events/" + e.id}, nil)
	if p := refusal(err); err != nil && (p == nil || !p.is(codeEventNotFound)) {
		return false, b.unknown("acknowledge an event", err)
	}
	b.dropEvent(e.id)
	return true, nil
}

// nextEvent returns the oldest event that was not acknowledged.
func (b *Backend) nextEvent(ctx context.Context) (event, bool, error) {
	if e, ok := b.bufferedEvent(); ok {
		return e, true, nil
	}
	var found []event
	for page := 1; page <= maxEventPages && len(found) == 0; page++ {
		var reply struct {
			Results    []jsontext.Value `json:"results"`
			Pagination *pagination      `json:"pagination"`
		}
		query := url.Values{
			"acknowledged": {"false"}, "sort_by": {"created_on"}, "sort_order": {"asc"},
			"page": {strconv.Itoa(page)}, "page_size": {strconv.Itoa(eventsPerPage)},
		}
		err := b.api.do(ctx, request{lane: readLane, method: http.MethodGet, path: "/v1/events", query: query, limit: maxList}, &reply)
		if err != nil {
			return event{}, false, b.unknown("read events", err)
		}
		for _, raw := range reply.Results[:min(len(reply.Results), eventsPerPage)] {
			if e, ok := parseEvent(raw); ok {
				found = append(found, e)
			}
		}
		if reply.Pagination == nil || !reply.Pagination.HasNext {
			break
		}
	}
	b.mu.Lock()
	b.events = found
	b.mu.Unlock()
	e, ok := b.bufferedEvent()
	return e, ok, nil
}

func (b *Backend) bufferedEvent() (event, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.events) == 0 {
		return event{}, false
	}
	return b.events[0], true
}

func (b *Backend) dropEvent(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = slices.DeleteFunc(b.events, func(e event) bool { return e.id == id })
}

// parseEvent reads an event. It reports whether the event has an ID.
func parseEvent(raw jsontext.Value) (event, bool) {
	var head struct {
		ID string `json:"event_id"`
	}
	if json.Unmarshal(raw, &head) != nil || !eventID.MatchString(head.ID) {
		return event{}, false
	}
	e := event{id: head.ID, raw: slices.Clone(raw[:min(len(raw), maxEventSize)])}
	var body struct {
		Object  string `json:"object_id"`
		Of      string `json:"object_type"`
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		Created string `json:"created_on"`
		Data    struct {
			Message string `json:"message"`
			Error   *struct {
				Code   string `json:"code"`
				Detail string `json:"detail"`
			} `json:"error"`
		} `json:"event_data"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		e.text = "an event that is not as documented"
		return e, true
	}
	e.kind, e.result, e.text = short(body.Type), short(body.Subtype), short(body.Data.Message)
	if body.Data.Error != nil {
		e.text += ": " + short(body.Data.Error.Code) + ": " + short(body.Data.Error.Detail)
	}
	if body.Of == "DOMAIN" && domainID.MatchString(body.Object) {
		e.object = body.Object
	}
	e.at, _ = parseTime(body.Created) // zero when it is not a time
	return e, true
}

var domainID = typeID("domain")

// messageKinds maps the vendor's types of events.
var messageKinds = map[string]registrar.MessageKind{
	"REGISTRATION":      registrar.MessagePending,
	"RENEWAL":           registrar.MessageRenewal,
	"INBOUND_TRANSFER":  registrar.MessageTransfer,
	"OUTBOUND_TRANSFER": registrar.MessageTransfer,
	"MODIFICATION":      registrar.MessageName,
	"DELETION":          registrar.MessageName,
	"TRANSIT":           registrar.MessageName,
	"WITHDRAW":          registrar.MessageName,
	"VERIFICATION":      registrar.MessageName,
}

// message returns the event as a message. The vendor names the domain by its ID, so
// the name is looked up; that of a deleted domain, or of one that cannot be read, is not
// known.
func (b *Backend) message(ctx context.Context, e event) (registrar.Message, error) {
	m := registrar.Message{ID: e.id, At: e.at, Kind: registrar.MessageOther, Done: e.result == "SUCCESS", Text: strings.TrimSpace(e.kind + " " + e.result + " " + e.text), Raw: e.raw}
	if kind, ok := messageKinds[e.kind]; ok {
		m.Kind = kind
	}
	if m.Kind == registrar.MessageTransfer {
		m.Status = e.kind + " " + e.result
	}
	if e.object == "" {
		return m, nil
	}
	var reply struct {
		Name string `json:"name"`
	}
	err := b.api.do(ctx, request{lane: readLane, method: http.MethodGet, path: "/v1/domains/" + e.object}, &reply)
	if refusal(err) != nil || errors.Is(err, errUndocumented) {
		return m, nil
	}
	if err != nil {
		return m, fmt.Errorf("look up the name of an event: %w", err)
	}
	if name, err := deed.ParseName(reply.Name); err == nil {
		m.Name = name
	}
	return m, nil
}
