package httpapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// A document is a cacheable response with its entity tag.
type document struct {
	raw    []byte
	zipped []byte // gzip of raw; nil for a document that is not kept
	tag    string
}

func newDocument(v any) *document {
	raw := encode(v)
	sum := sha256.Sum256(raw)
	return &document{raw: raw, tag: `"` + hex.EncodeToString(sum[:12]) + `"`}
}

// compressed returns the document with a gzip copy. Use it only for documents
// that are kept in memory: compressing per request costs more than it saves.
func (d *document) compressed() *document {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // fails for an invalid level only
	_, _ = z.Write(d.raw)                                 // a bytes.Buffer never fails
	_ = z.Close()                                         // likewise
	return &document{raw: d.raw, zipped: b.Bytes(), tag: d.tag}
}

// serve sends the document, or 304 when If-None-Match has its tag (RFC 9110,
// 13.1.2). The gzip copy is equivalent but not identical, so its tag is the weak
// form of the document's (8.8.1); the comparison treats both alike.
func (d *document) serve(w http.ResponseWriter, r *http.Request) error {
	h, raw, tag := w.Header(), d.raw, d.tag
	if d.zipped != nil {
		h.Set("Vary", "Accept-Encoding")
	}
	zipped := d.zipped != nil && acceptsGzip(r)
	if zipped {
		raw, tag = d.zipped, "W/"+d.tag
	}
	h["Etag"] = []string{tag}
	h["Cache-Control"] = forMinute
	if d.matchesETag(r) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if zipped {
		h.Set("Content-Encoding", "gzip")
	}
	write(w, http.StatusOK, raw)
	return nil
}

// acceptsGzip reads Accept-Encoding (RFC 9110, 12.5.3). An entry for gzip takes
// precedence over the wildcard.
func acceptsGzip(r *http.Request) bool {
	accepts := false
	for _, list := range r.Header.Values("Accept-Encoding") {
		for item := range strings.SplitSeq(list, ",") {
			coding, weight, _ := strings.Cut(item, ";")
			_, q, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(weight), " ", ""), "q=")
			wanted := strings.Trim(q, "0.") != "" || q == ""
			switch strings.ToLower(strings.TrimSpace(coding)) {
			case "gzip", "x-gzip":
				return wanted
			case "*":
				accepts = wanted
			}
		}
	}
	return accepts
}

func (d *document) matchesETag(r *http.Request) bool {
	for _, list := range r.Header.Values("If-None-Match") {
		for tag := range strings.SplitSeq(list, ",") {
			tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
			if tag == d.tag || tag == "*" {
				return true
			}
		}
	}
	return false
}
