package httpapi

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// A document is an answer that stays the same for a while, with a tag by which
// a caller can ask whether it still has the same.
type document struct {
	raw []byte
	tag string
}

func newDocument(v any) *document {
	raw := encode(v)
	sum := sha256.Sum256(raw)
	return &document{raw: raw, tag: `"` + hex.EncodeToString(sum[:12]) + `"`}
}

// serve answers 304 to a caller who has the document (RFC 9110, 13.1.2).
func (d *document) serve(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("ETag", d.tag)
	w.Header().Set("Cache-Control", "public, max-age=60")
	if d.known(r) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	write(w, http.StatusOK, d.raw)
	return nil
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
