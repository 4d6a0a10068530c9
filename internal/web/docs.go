package web

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"deed.example/deed/docs"
)

// A library has the rendered docs, and what a search looks through.
type library struct {
	server   *Server
	pages    map[string]*doc // by path below /docs/
	groups   []group         // of the navigation
	order    []*doc          // of the navigation, all groups in one
	pictures map[string][]byte
}

// A doc is one rendered page.
type doc struct {
	Path  string // below /docs/
	Title string
	About string // in a few words
	HTML  template.HTML

	sections []section
	whole    asset // the page as it is sent
}

// A section is a heading and the text up to the next.
type section struct {
	id, title, text string
	lower           string // title of the page, title and text in lower case, to search
}

func (s *Server) renderDocs() (*library, error) {
	l := &library{server: s, pages: map[string]*doc{}, pictures: map[string][]byte{}}
	err := fs.WalkDir(docs.Files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := docs.Files.ReadFile(name)
		if err != nil {
			return err
		}
		if path.Ext(name) != ".md" {
			l.pictures["/docs/"+name] = raw
			return nil
		}
		return l.add(name, raw)
	})
	if err != nil {
		return nil, fmt.Errorf("render the docs: %w", err)
	}
	reference, err := s.renderReference()
	if err != nil {
		return nil, err
	}
	l.pages["api"] = reference
	if err := l.arrange(); err != nil {
		return nil, err
	}
	for _, d := range l.pages {
		for i, s := range d.sections {
			d.sections[i].lower = strings.ToLower(d.Title + " " + s.title + " " + s.text)
		}
		body, err := l.frame(d.Title, d, d.HTML)
		if err != nil {
			return nil, err
		}
		d.whole = asset{raw: body, zipped: zip(body)}
	}
	return l, nil
}

// markdown renders GitHub's tables without inline styles, which the policy of the
// page forbids.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Linkify, extension.Strikethrough),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
)

// add renders one page.
func (l *library) add(name string, raw []byte) error {
	d := &doc{Path: strings.TrimSuffix(name, ".md")}
	root := markdown.Parser().Parse(text.NewReader(raw))
	here := section{}
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(destination(path.Dir(name), string(n.Destination)))
		case *ast.Image:
			n.Destination = []byte("/docs/" + path.Join(path.Dir(name), string(n.Destination)))
		case *ast.Heading:
			d.sections = append(d.sections, here)
			id, _ := n.AttributeString("id")
			idText, _ := id.([]byte)
			here = section{id: string(idText), title: plainText(n, raw)}
			if n.Level == 1 && d.Title == "" {
				d.Title = here.title
			}
		case *extensionast.Table:
			labelCells(n, raw)
		case *ast.Text:
			here.text += string(n.Segment.Value(raw)) + " "
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			here.text += string(n.Lines().Value(raw))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	d.sections = append(d.sections, here)
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, raw, root); err != nil {
		return err
	}
	page, err := drawDiagrams(b.Bytes())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	d.HTML = focusable(breakWords(page))
	l.pages[d.Path] = d
	return nil
}

func plainText(n ast.Node, raw []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function never fails
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(raw))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// focusable makes what may scroll reachable by keyboard. The text of the docs has no
// HTML of its own, so these tags are those of the renderer.
func focusable(html []byte) template.HTML {
	return template.HTML(strings.NewReplacer(
		"<pre>", `<pre tabindex="0">`,
		"<table>", `<div class="scroll" tabindex="0"><table>`,
		"</table>", "</table></div>",
		"<th></th>", "<td></td>", // a heading must have text
	).Replace(string(html)))
}

// destination turns a link between files into one between pages. What is in the
// repository and not in the docs leads to their first page.
func destination(dir, to string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "#") || strings.HasPrefix(to, "mailto:") {
		return to
	}
	file, fragment, found := strings.Cut(to, "#")
	if found {
		fragment = "#" + fragment
	}
	file = path.Join(dir, file)
	switch {
	case strings.HasSuffix(file, "openapi.yaml"):
		return "/docs/api"
	case strings.HasPrefix(file, "../") || path.Ext(file) != ".md":
		return "/docs/"
	}
	return "/docs/" + strings.TrimSuffix(file, ".md") + fragment
}

// docView has the data of docs.html.
type docView struct {
	view
	Groups  []group
	Current string
	Query   string
}

// frame puts a body into the page with the navigation.
func (l *library) frame(title string, d *doc, body template.HTML) ([]byte, error) {
	v := docView{view: l.server.view(title+" – Deed docs", l.server.assets.reader, "/docs/"), Groups: l.groups}
	v.Body = body
	if d != nil {
		v.Current = d.Path
	}
	return render("docs.html", v)
}

// serve sends a page of the docs, a picture, or the results of a search.
func (l *library) serve(w http.ResponseWriter, r *http.Request) error {
	name := strings.Trim(strings.TrimPrefix(r.URL.Path, "/docs"), "/")
	w.Header().Set("Cache-Control", "no-cache")
	if raw, ok := l.pictures[r.URL.Path]; ok {
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Cache-Control", "public, max-age=3600")
		send(w, r, http.StatusOK, asset{raw: raw})
		return nil
	}
	if name == "" {
		return l.serveIndex(w, r)
	}
	d, ok := l.pages[strings.TrimSuffix(name, ".md")]
	if !ok {
		return errNoPage(r.URL.Path)
	}
	send(w, r, http.StatusOK, d.whole)
	return nil
}
