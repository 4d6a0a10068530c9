package epptest

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"
)

// An answer is the content of a response. Code 0 is no response at all.
type answer struct {
	code   int
	reason string
	queue  string // msgQ
	data   string // in resData
	ext    string // in extension
}

// texts are the messages of result codes (RFC 5730, 3).
var texts = map[int]string{
	1000: "Command completed successfully", 1001: "Command completed successfully; action pending",
	1300: "Command completed successfully; no messages", 1301: "Command completed successfully; ack to dequeue",
	1500: "Command completed successfully; ending session",
	2001: "Command syntax error", 2002: "Command use error", 2003: "Required parameter missing", 2004: "Parameter value range error",
	2005: "Parameter value syntax error", 2104: "Billing failure", 2105: "Object is not eligible for renewal", 2106: "Object is not eligible for transfer",
	2200: "Authentication error", 2201: "Authorization error", 2202: "Invalid authorization information",
	2300: "Object pending transfer", 2301: "Object not pending transfer", 2302: "Object exists", 2303: "Object does not exist",
	2304: "Object status prohibits operation", 2305: "Object association prohibits operation", 2306: "Parameter value policy error",
	2307: "Unimplemented object service", 2308: "Data management policy violation", 2400: "Command failed",
	2500: "Command failed; server closing connection", 2501: "Authentication error; server closing connection", 2502: "Session limit exceeded; server closing connection",
}

const head = `<?xml version="1.0" encoding="UTF-8" standalone="no"?><epp xmlns="urn:ietf:params:xml:ns:epp-1.0">`

// respond returns a response.
func respond(clTRID, svTRID string, a answer) []byte {
	var b strings.Builder
	b.WriteString(head + `<response>`)
	fmt.Fprintf(&b, `<result code="%d"><msg>%s</msg>`, a.code, texts[a.code])
	if a.reason != "" {
		fmt.Fprintf(&b, `<extValue><value><undef xmlns="urn:ietf:params:xml:ns:epp-1.0"/></value><reason>%s</reason></extValue>`, html.EscapeString(a.reason))
	}
	b.WriteString(`</result>` + a.queue)
	if a.data != "" {
		b.WriteString(`<resData>` + a.data + `</resData>`)
	}
	if a.ext != "" {
		b.WriteString(`<extension>` + a.ext + `</extension>`)
	}
	b.WriteString(`<trID>`)
	if clTRID != "" {
		b.WriteString(`<clTRID>` + html.EscapeString(clTRID) + `</clTRID>`)
	}
	b.WriteString(`<svTRID>` + svTRID + `</svTRID></trID></response></epp>`)
	return []byte(b.String())
}

// The URIs of the greeting.
const (
	nsDomain = "urn:ietf:params:xml:ns:domain-1.0"
	nsHost   = "urn:ietf:params:xml:ns:host-1.0"
	nsSecDNS = "urn:ietf:params:xml:ns:secDNS-1.1"
	nsRGP    = "urn:ietf:params:xml:ns:rgp-1.0"
	nsFee    = "urn:ietf:params:xml:ns:epp:fee-1.0"
)

func (s *Server) offers(uri string) bool { return !slices.Contains(s.cfg.Without, uri) }

func (s *Server) greeting() string {
	var b strings.Builder
	fmt.Fprintf(&b, head+`<greeting><svID>EPP test registry</svID><svDate>%s</svDate><svcMenu><version>1.0</version><lang>en</lang>`, stamp(s.cfg.Registry.Now()))
	for _, uri := range []string{nsDomain, nsHost, "urn:ietf:params:xml:ns:contact-1.0"} {
		if s.offers(uri) {
			b.WriteString("<objURI>" + uri + "</objURI>")
		}
	}
	b.WriteString("<svcExtension>")
	for _, uri := range []string{nsSecDNS, nsRGP, nsFee, "urn:example:unknown-extension-1.0"} {
		if s.offers(uri) {
			b.WriteString("<extURI>" + uri + "</extURI>")
		}
	}
	b.WriteString(`</svcExtension></svcMenu><dcp><access><all/></access><statement><purpose><prov/></purpose><recipient><ours/></recipient><retention><stated/></retention></statement></dcp></greeting></epp>`)
	return b.String()
}

// stamp returns a time as registries write it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.0Z") }

func element(name, value string) string {
	return "<" + name + ">" + html.EscapeString(value) + "</" + name + ">"
}
