package httpapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// A document is an answer that stays the same for a while, with a tag by which
// a caller can ask whether it still has the same.
type document struct {
	raw    []byte
	zipped []byte // nil unless it was worth the while
	tag    string
}

func newDocument(v any) *document {
	raw := encode(v)
	sum := sha256.Sum256(raw)
	return &document{raw: raw, tag: `"` + hex.EncodeToString(sum[:12]) + `"`}
}

// compressed returns the document with a copy for callers who take gzip. It is
// for documents that are kept: compressing costs more than sending.
func (d *document) compressed() *document {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // there is such a level
	_, _ = z.Write(d.raw)                                 // memory takes it all
	_ = z.Close()                                         // likewise
	return &document{raw: d.raw, zipped: b.Bytes(), tag: d.tag}
}

// serve answers 304 to a caller who has the document (RFC 9110, 13.1.2). The
// compressed copy says the same in other bytes, so its tag is the weak form of
// the document's (8.8.1), and one stands for the other when callers ask.
func (d *document) serve(w http.ResponseWriter, r *http.Request) error {
	h, raw, tag := w.Header(), d.raw, d.tag
	if d.zipped != nil {
		h.Set("Vary", "Accept-Encoding")
	}
	zipped := d.zipped != nil && takesGzip(r)
	if zipped {
		raw, tag = d.zipped, "W/"+d.tag
	}
	h.Set("ETag", tag)
	h.Set("Cache-Control", "public, max-age=60")
	if d.known(r) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if zipped {
		h.Set("Content-Encoding", "gzip")
	}
	write(w, http.StatusOK, raw)
	return nil
}

// takesGzip reads Accept-Encoding (RFC 9110, 12.5.3). What is said of gzip
// itself counts more than what is said of everything.
func takesGzip(r *http.Request) bool {
	takes := false
	for _, list := range r.Header.Values("Accept-Encoding") {
		for item := range strings.SplitSeq(list, ",") {
			coding, weight, _ := strings.Cut(item, ";")
			_, q, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(weight), " ", ""), "q=")
			wanted := strings.Trim(q, "0.") != "" || q == ""
			switch strings.ToLower(strings.TrimSpace(coding)) {
			case "gzip", "x-gzip":
				return wanted
			case "*":
				takes = wanted
			}
		}
	}
	return takes
}

func (d *document) known(r *http.Request) bool {
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
