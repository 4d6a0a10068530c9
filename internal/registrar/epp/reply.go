package epp

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf16"

	"deed.example/deed"
)

// A reply is a document of the registry. Unknown elements are ignored; what must
// occur once is a list here, so that twice is noticed.
type reply struct {
	XMLName   xml.Name   `xml:"urn:ietf:params:xml:ns:epp-1.0 epp"`
	Greetings []greeting `xml:"urn:ietf:params:xml:ns:epp-1.0 greeting"`
	Responses []response `xml:"urn:ietf:params:xml:ns:epp-1.0 response"`
}

type greeting struct {
	Languages  []string `xml:"svcMenu>lang"`
	Objects    []string `xml:"svcMenu>objURI"`
	Extensions []string `xml:"svcMenu>svcExtension>extURI"`
}

type response struct {
	Results []result `xml:"urn:ietf:params:xml:ns:epp-1.0 result"`
	Queue   *queue   `xml:"urn:ietf:params:xml:ns:epp-1.0 msgQ"`
	Data    data     `xml:"urn:ietf:params:xml:ns:epp-1.0 resData"`
	Ext     ext      `xml:"urn:ietf:params:xml:ns:epp-1.0 extension"`
	TRID    struct {
		Client string `xml:"clTRID"`
	} `xml:"urn:ietf:params:xml:ns:epp-1.0 trID"`
}

type result struct {
	Code    int      `xml:"code,attr"`
	Message string   `xml:"msg"`
	Reasons []string `xml:"extValue>reason"`
}

type queue struct {
	ID      string `xml:"id,attr"`
	Date    string `xml:"qDate"`
	Message string `xml:"msg"`
}

// data is what a response says about objects.
type data struct {
	Checks    []domainCheck   `xml:"urn:ietf:params:xml:ns:domain-1.0 chkData"`
	Domains   []domainInfo    `xml:"urn:ietf:params:xml:ns:domain-1.0 infData"`
	Created   []domainDates   `xml:"urn:ietf:params:xml:ns:domain-1.0 creData"`
	Renewed   []domainDates   `xml:"urn:ietf:params:xml:ns:domain-1.0 renData"`
	Transfers []transferData  `xml:"urn:ietf:params:xml:ns:domain-1.0 trnData"`
	Pending   []pendingAction `xml:"urn:ietf:params:xml:ns:domain-1.0 panData"`
	Hosts     []hostInfo      `xml:"urn:ietf:params:xml:ns:host-1.0 infData"`
	HostsDone []pendingAction `xml:"urn:ietf:params:xml:ns:host-1.0 panData"`
}

// ext is what the extensions add to a response.
type ext struct {
	DNSSEC    []dsInfo    `xml:"urn:ietf:params:xml:ns:secDNS-1.1 infData"`
	Grace     []rgpInfo   `xml:"urn:ietf:params:xml:ns:rgp-1.0 infData"`
	FeeChecks []feeCheck  `xml:"urn:ietf:params:xml:ns:epp:fee-1.0 chkData"`
	FeeCreate *feeBalance `xml:"urn:ietf:params:xml:ns:epp:fee-1.0 creData"`
	FeeRenew  *feeBalance `xml:"urn:ietf:params:xml:ns:epp:fee-1.0 renData"`
	FeeTrans  *feeBalance `xml:"urn:ietf:params:xml:ns:epp:fee-1.0 trnData"`
	Change    *changeData `xml:"urn:ietf:params:xml:ns:changePoll-1.0 changeData"`
}

// code returns the result code of the response.
func (r response) code() int { return r.Results[0].Code }

// parseReply parses a document of the registry.
func parseReply(frame []byte) (reply, error) {
	var r reply
	frame = inUTF8(frame)
	if declares(frame) {
		return reply{}, fmt.Errorf("%w: a document type declaration", errInvalidReply)
	}
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(frame, []byte("\ufeff"))))
	d.CharsetReader = charsetReader
	if err := d.Decode(&r); err != nil {
		return reply{}, fmt.Errorf("%w: %w", errInvalidReply, err)
	}
	for { // a comment may follow, and nothing else
		token, err := d.Token()
		switch token.(type) {
		case xml.StartElement, xml.EndElement:
			return reply{}, fmt.Errorf("%w: more than one document", errInvalidReply)
		}
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return reply{}, fmt.Errorf("%w: %w", errInvalidReply, err)
		}
	}
}

// parseResponse parses the reply to the command with this client transaction
// identifier.
func parseResponse(frame []byte, trid string) (response, error) {
	r, err := parseReply(frame)
	if err != nil {
		return response{}, err
	}
	if len(r.Responses) != 1 || len(r.Greetings) > 0 {
		return response{}, fmt.Errorf("%w: %d responses", errInvalidReply, len(r.Responses))
	}
	resp := r.Responses[0]
	if len(resp.Results) == 0 {
		return response{}, fmt.Errorf("%w: no result", errInvalidReply)
	}
	for _, one := range resp.Results {
		if (one.Code < 2000) != (resp.code() < 2000) || one.Code < 1000 || one.Code > 2599 {
			return response{}, fmt.Errorf("%w: result codes %d and %d", errInvalidReply, resp.code(), one.Code)
		}
	}
	// A registry that could not read the command may not know its identifier.
	if got := strings.TrimSpace(resp.TRID.Client); got != trid && (got != "" || resp.code() < 2000) {
		return response{}, fmt.Errorf("%w: it is for the command %s, not for %s", errInvalidReply, deed.Quoted(got), trid)
	}
	return resp, nil
}

// inUTF8 returns a document that is in UTF-16, which every XML processor reads, in UTF-8 (RFC
// 5730, 5).
func inUTF8(frame []byte) []byte {
	var order binary.ByteOrder = binary.BigEndian
	switch {
	case bytes.HasPrefix(frame, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case !bytes.HasPrefix(frame, []byte{0xfe, 0xff}):
		return frame
	}
	units := make([]uint16, len(frame)/2-1)
	for i := range units {
		units[i] = order.Uint16(frame[2*i+2:])
	}
	return []byte(string(utf16.Decode(units)))
}

// charsetReader reads documents that declare another encoding than UTF-8. Registries
// that name a subset of it, or Latin-1, exist.
func charsetReader(charset string, r io.Reader) (io.Reader, error) {
	switch strings.ToLower(charset) {
	case "us-ascii", "ascii", "utf8", "utf-16":
		return r, nil // it is in UTF-8 by now
	case "iso-8859-1", "latin1":
		text, err := io.ReadAll(r) // a frame is bounded
		out := make([]rune, len(text))
		for i, b := range text {
			out[i] = rune(b)
		}
		return strings.NewReader(string(out)), err
	}
	return nil, fmt.Errorf("%w: the encoding %s", errInvalidReply, deed.Quoted(charset))
}

// declares reports whether a document has a declaration, as of a document type or of
// entities. Only comments and CDATA may begin like one.
func declares(frame []byte) bool {
	for {
		_, rest, found := bytes.Cut(frame, []byte("<!"))
		if !found {
			return false
		}
		if !bytes.HasPrefix(rest, []byte("--")) && !bytes.HasPrefix(rest, []byte("[CDATA[")) {
			return true
		}
		frame = rest
	}
}

// timeFormats are the formats of a time in replies. A time without a zone is in UTC
// (RFC 5731, 2.4).
var timeFormats = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateOnly,
	"2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02Z07:00",
}

// parseTime parses a time of a reply, to the second.
func parseTime(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	for _, format := range timeFormats {
		if t, err := time.Parse(format, s); err == nil && t.Year() > 1980 && t.Year() < 2200 {
			return t.UTC().Truncate(time.Second), nil
		}
	}
	return time.Time{}, fmt.Errorf("%w: %s is not a time", errInvalidReply, deed.Quoted(s))
}

// sameName reports whether the registry's text is the name.
func sameName(text string, name deed.Name) bool {
	text = strings.TrimSuffix(strings.TrimSpace(text), ".")
	if strings.EqualFold(text, string(name)) {
		return true
	}
	parsed, err := deed.ParseName(text) // some write names in Unicode
	return err == nil && parsed == name
}
