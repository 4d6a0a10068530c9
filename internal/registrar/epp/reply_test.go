package epp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"
)

// good is a response to the command "a-1".
const good = `<?xml version="1.0" encoding="UTF-8"?><epp xmlns="urn:ietf:params:xml:ns:epp-1.0"><response><result code="1000"><msg>ok</msg></result>` +
	`<resData><domain:infData xmlns:domain="urn:ietf:params:xml:ns:domain-1.0"><domain:name>a.com</domain:name><domain:clID>us</domain:clID></domain:infData></resData>` +
	`<trID><clTRID>a-1</clTRID><svTRID>s-1</svTRID></trID></response></epp>`

// utf16Text returns the text in UTF-16, with a byte order mark.
func utf16Text(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// Registries write the same in many ways, and extend it.
func TestRepliesThatAreUnderstood(t *testing.T) {
	for title, text := range map[string]string{
		"as in the RFC":            good,
		"a default namespace":      strings.NewReplacer("<domain:infData xmlns:domain", "<infData xmlns", "domain:", "").Replace(good),
		"another prefix":           strings.NewReplacer("xmlns:domain", "xmlns:d", "domain:", "d:").Replace(good),
		"no declaration":           "\n" + strings.TrimPrefix(good, `<?xml version="1.0" encoding="UTF-8"?>`),
		"comments and CDATA":       strings.Replace(good, "<msg>ok", "<!-- a <b> --><msg><![CDATA[ok]]>", 1) + "<!-- end -->",
		"unknown elements":         strings.Replace(good, "<resData>", `<resData><x:y xmlns:x="urn:example:x"><x:z/></x:y>`, 1),
		"an unknown result detail": strings.Replace(good, "</msg>", `</msg><value><x xmlns="urn:example:x">1</x></value>`, 1),
		"Latin-1":                  strings.NewReplacer("UTF-8", "ISO-8859-1", ">ok<", ">\xe9t\xe9<").Replace(good),
		"ASCII":                    strings.Replace(good, "UTF-8", "US-ASCII", 1),
		"a byte order mark":        "\ufeff" + good,
		"UTF-16":                   utf16Text(strings.Replace(good, "UTF-8", "UTF-16", 1), binary.BigEndian),
		"UTF-16, little endian":    utf16Text(strings.Replace(good, `encoding="UTF-8"`, "", 1), binary.LittleEndian),
		"space in the identifier":  strings.Replace(good, "<clTRID>a-1<", "<clTRID>\n a-1 <", 1),
		"no server identifier":     strings.Replace(good, "<svTRID>s-1</svTRID>", "", 1),
		"a queue in it":            strings.Replace(good, "<resData>", `<msgQ count="5" id="12345"/><resData>`, 1),
		"attributes":               strings.NewReplacer("<msg>", `<msg lang="fr">`, "<epp ", `<epp xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="urn:ietf:params:xml:ns:epp-1.0 epp-1.0.xsd" `).Replace(good),
		"two results":              strings.Replace(good, "<resData>", `<result code="1000"><msg>ok</msg></result><resData>`, 1),
	} {
		r, err := parseResponse([]byte(text), "a-1")
		if err != nil || r.code() != codeOK || len(r.Data.Domains) != 1 || r.Data.Domains[0].Name != "a.com" {
			t.Errorf("%s: got %+v, %v", title, r, err)
		}
	}
}

func TestRepliesThatAreNonsense(t *testing.T) {
	for title, text := range map[string]string{
		"nothing":                 "",
		"another root":            strings.NewReplacer("<epp ", "<app ", "</epp>", "</app>").Replace(good),
		"another namespace":       strings.Replace(good, "epp-1.0", "epp-2.0", 1),
		"two responses":           strings.Replace(good, "</response>", "</response><response/>", 1),
		"a greeting as well":      strings.Replace(good, "<response>", "<greeting/><response>", 1),
		"two documents":           good + good,
		"text after it":           good + "<",
		"mixed results":           strings.Replace(good, "<resData>", `<result code="2400"><msg>no</msg></result><resData>`, 1),
		"no code":                 strings.Replace(good, `code="1000"`, "", 1),
		"a code of text":          strings.Replace(good, `code="1000"`, `code="ok"`, 1),
		"no identifier":           strings.Replace(good, "<clTRID>a-1</clTRID>", "", 1),
		"another encoding":        strings.Replace(good, "UTF-8", "UTF-7", 1),
		"a document type":         strings.Replace(good, "<epp", "<!DOCTYPE epp><epp", 1),
		"one in UTF-16":           utf16Text(strings.Replace(good, "<epp", "<!DOCTYPE epp><epp", 1), binary.LittleEndian),
		"half of UTF-16":          "\xff\xfe<",
		"an entity":               strings.Replace(good, "ok", "&ok;", 1),
		"not closed":              strings.TrimSuffix(good, "</epp>"),
		"bytes that are not text": strings.Replace(good, "ok", "\xff\xfe", 1),
	} {
		if r, err := parseResponse([]byte(text), "a-1"); !errors.Is(err, errInvalidReply) {
			t.Errorf("%s: got %+v, %v", title, r, err)
		}
	}
}

// Whatever a registry sends, reading it neither fails otherwise than it may nor uses
// more than a frame may have.
func FuzzReply(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(`<epp xmlns="urn:ietf:params:xml:ns:epp-1.0"><greeting><svcMenu><objURI>x</objURI></svcMenu></greeting></epp>`))
	f.Add([]byte(strings.Repeat("<a>", 10_000)))
	f.Fuzz(func(t *testing.T, body []byte) {
		frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(body)+headerSize)), body...)
		got, err := readFrame(bytes.NewReader(frame))
		if err != nil || !bytes.Equal(got, body) {
			if len(body) > 0 && len(body)+headerSize <= maxFrame {
				t.Fatalf("got %d bytes, %v", len(got), err)
			}
			return
		}
		r, err := parseResponse(got, "a-1")
		if err == nil && len(r.Results) == 0 || err != nil && !errors.Is(err, errInvalidReply) {
			t.Errorf("got %+v, %v", r, err)
		}
		if err == nil && len(r.Data.Domains) == 1 {
			_, _ = parseDomain(r, "a.com") // must not panic
		}
		_, _ = message(r0(r), got) // must not panic
	})
}

// r0 returns a response that has a result.
func r0(r response) response {
	if len(r.Results) == 0 {
		r.Results = []result{{Code: codeMessage}}
	}
	return r
}
