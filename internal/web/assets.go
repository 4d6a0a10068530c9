package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

// dist has the built files, each also compressed with brotli.
//
//go:embed all:dist
var dist embed.FS

// assets are the built files by their paths.
type assets struct {
	files  map[string]asset
	script string // path of the page's script
	reader string // of the script of the docs
	style  string
	icon   string
}

// An asset is a file in every encoding that clients accept.
type asset struct {
	media              string
	raw, zipped, brotl []byte
}

// embedded returns the built files. They are the same for every server of this
// process, and compressed once.
var embedded = sync.OnceValues(readAssets)

// mediaTypes are those of the built files. Package mime would read the lists of the
// machine, which differ and use a megabyte of memory.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

func readAssets() (*assets, error) {
	a := &assets{files: map[string]asset{}}
	entries, err := fs.ReadDir(dist, "dist/assets")
	if err != nil {
		return nil, fmt.Errorf("read the built page: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasSuffix(name, ".br") {
			continue
		}
		raw, err := dist.ReadFile("dist/assets/" + name)
		if err != nil {
			return nil, err
		}
		squeezed, err := dist.ReadFile("dist/assets/" + name + ".br")
		if err != nil {
			return nil, err
		}
		media, ok := mediaTypes[path.Ext(name)]
		if !ok {
			return nil, fmt.Errorf("the built page has a file %s of an unknown type", name)
		}
		a.files["/assets/"+name] = asset{media: media, raw: raw, zipped: zip(raw), brotl: squeezed}
	}
	return a, a.readEntries()
}

// readEntries finds the names with hashes in the build's list.
func (a *assets) readEntries() error {
	raw, err := dist.ReadFile("dist/entries.json")
	if err != nil {
		return err
	}
	var in struct {
		Script string `json:"script"`
		Reader string `json:"reader"`
		Style  string `json:"style"`
		Icon   string `json:"icon"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return fmt.Errorf("read the list of the built page: %w", err)
	}
	for _, e := range []struct {
		to   *string
		name string
	}{{&a.script, in.Script}, {&a.reader, in.Reader}, {&a.style, in.Style}, {&a.icon, in.Icon}} {
		if _, ok := a.files[e.name]; !ok {
			return fmt.Errorf("the built page has no %q: build it with npm run build", e.name)
		}
		*e.to = e.name
	}
	return nil
}

func zip(raw []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // fails for an invalid level only
	_, _ = z.Write(raw)                                   // a bytes.Buffer never fails
	_ = z.Close()                                         // likewise
	return b.Bytes()
}

// serve sends a built file. Its name has a hash, so it never changes.
func (a *assets) serve(w http.ResponseWriter, r *http.Request) error {
	f, ok := a.files[r.URL.Path]
	if !ok {
		return errNoPage(r.URL.Path)
	}
	h := w.Header()
	h.Set("Content-Type", f.media)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	send(w, r, http.StatusOK, f)
	return nil
}

// send writes the best encoding of f that the client accepts. The gzip and brotli
// copies are optional.
func send(w http.ResponseWriter, r *http.Request, status int, f asset) {
	h, body := w.Header(), f.raw
	h.Set("Vary", "Accept-Encoding")
	switch {
	case f.brotl != nil && accepts(r, "br"):
		h.Set("Content-Encoding", "br")
		body = f.brotl
	case f.zipped != nil && accepts(r, "gzip"):
		h.Set("Content-Encoding", "gzip")
		body = f.zipped
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone if this fails
}

// accepts reads Accept-Encoding (RFC 9110, 12.5.3). A coding that is only covered
// by the wildcard is not used: such clients are rare, and the raw file is right.
func accepts(r *http.Request, coding string) bool {
	for _, list := range r.Header.Values("Accept-Encoding") {
		for item := range strings.SplitSeq(list, ",") {
			name, weight, _ := strings.Cut(item, ";")
			if !strings.EqualFold(strings.TrimSpace(name), coding) {
				continue
			}
			_, q, found := strings.Cut(strings.ReplaceAll(weight, " ", ""), "q=")
			return !found || strings.Trim(q, "0.") != ""
		}
	}
	return false
}
