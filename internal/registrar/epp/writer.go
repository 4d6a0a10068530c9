package epp

import (
	"bytes"
	"encoding/xml"
	"strconv"
)

// The namespaces of the protocol and of its objects and extensions.
const (
	nsEPP     = "urn:ietf:params:xml:ns:epp-1.0"
	nsDomain  = "urn:ietf:params:xml:ns:domain-1.0"
	nsHost    = "urn:ietf:params:xml:ns:host-1.0"
	nsContact = "urn:ietf:params:xml:ns:contact-1.0"
	nsSecDNS  = "urn:ietf:params:xml:ns:secDNS-1.1"
	nsRGP     = "urn:ietf:params:xml:ns:rgp-1.0"
	nsFee     = "urn:ietf:params:xml:ns:epp:fee-1.0"
	nsIDN     = "urn:ietf:params:xml:ns:idn-1.0"
	nsChange  = "urn:ietf:params:xml:ns:changePoll-1.0"                   // RFC 8590
	nsOther   = "urn:ietf:params:xml:ns:epp:unhandled-namespaces-1.0"     // RFC 9038
	nsLogin   = "urn:ietf:params:xml:ns:epp:loginSec-1.0"                 // RFC 8807
	nsSecure  = "urn:ietf:params:xml:ns:epp:secure-authinfo-transfer-1.0" // RFC 9154
)

// A writer writes XML with the customary prefixes: some registries only pretend to
// know namespaces.
type writer struct{ bytes.Buffer }

// element writes an element with attributes (name, value, …) and what content
// writes.
func (w *writer) element(name string, content func(), attrs ...string) {
	w.start(name, attrs)
	if content != nil {
		content()
	}
	w.WriteString("</" + name + ">")
}

// text writes an element that contains text only.
func (w *writer) text(name, value string, attrs ...string) {
	w.start(name, attrs)
	w.escape(value)
	w.WriteString("</" + name + ">")
}

func (w *writer) number(name string, value int, attrs ...string) {
	w.text(name, strconv.Itoa(value), attrs...)
}

// object writes the element of a command that declares the namespace of its prefix.
func (w *writer) object(prefix, command, namespace string, content func()) {
	w.element(prefix+":"+command, content, "xmlns:"+prefix, namespace)
}

func (w *writer) start(name string, attrs []string) {
	w.WriteString("<" + name)
	for i := 0; i+1 < len(attrs); i += 2 {
		w.WriteString(" " + attrs[i] + `="`)
		w.escape(attrs[i+1])
		w.WriteString(`"`)
	}
	w.WriteString(">")
}

func (w *writer) escape(s string) {
	_ = xml.EscapeText(&w.Buffer, []byte(s)) // a buffer does not fail
}

// document returns the bytes of a whole EPP document.
func document(content func(w *writer)) []byte {
	w := &writer{}
	w.WriteString(`<?xml version="1.0" encoding="UTF-8" standalone="no"?>`)
	w.element("epp", func() { content(w) }, "xmlns", nsEPP)
	return w.Bytes()
}
