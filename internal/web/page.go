package web

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
)

//go:embed templates
var templates embed.FS

var pages = template.Must(template.ParseFS(templates, "templates/*.html"))

// A view has the data of the page's template.
type view struct {
	Title  string
	Script string
	Style  string
	Icon   string
	Path   string // of the request, to mark the link to it
	Config string // JSON for the script
	Found  string // JSON of the results, so that the script need not ask again

	Sandbox bool
	Search  *searched     // on the first page
	Body    template.HTML // of the docs
}

// config is what the script knows of the service.
type config struct {
	ChainID   uint64 `json:"chainId"`
	ChainName string `json:"chainName"`
	USDC      string `json:"usdc"`
	TokenName string `json:"tokenName"`
	TokenVer  string `json:"tokenVersion"`
	Payments  bool   `json:"payments"`
	Forwards  bool   `json:"forwarding"`
	Email     bool   `json:"email"`
	RPCURL    string `json:"rpcUrl,omitzero"`
	Sandbox   bool   `json:"sandbox"`
	Version   string `json:"version"`
}

func (s *Server) view(title, script, path string) view {
	n := s.site.Network
	return view{
		Title: title, Script: script, Style: s.assets.style, Icon: s.assets.icon, Path: path, Sandbox: s.site.RPCURL != "",
		Config: jsonText(config{
			ChainID: n.ChainID, ChainName: n.Title, USDC: string(n.Token.Address), TokenName: n.Token.Name, TokenVer: n.Token.Version,
			Payments: s.site.Payments, Forwards: s.site.Forwards, Email: s.site.Email, RPCURL: s.site.RPCURL, Sandbox: s.site.RPCURL != "", Version: s.site.Version,
		}),
	}
}

func jsonText(v any) string {
	raw, _ := json.Marshal(v) // only structs of strings, numbers and booleans
	return string(raw)
}

// renderShells renders the pages that are the same for everyone.
func (s *Server) renderShells() error {
	for path, v := range map[string]view{"/": {Search: &searched{}}, "/app/": {}} {
		body, err := s.renderPage(path, v.Search)
		if err != nil {
			return err
		}
		s.shells[path] = asset{raw: body, zipped: zip(body)}
	}
	return nil
}

func (s *Server) renderPage(path string, found *searched) ([]byte, error) {
	v := s.view("Deed: domain names for wallets", s.assets.script, path)
	v.Search = found
	if found != nil && len(found.Results) > 0 {
		v.Title, v.Found = found.Query+" – Deed", foundJSON(found)
	}
	return render("page.html", v)
}

// ServeMissing answers 404 with a page that leads back. Its script is that of the docs,
// which leaves the text as it is.
func (s *Server) ServeMissing(w http.ResponseWriter, r *http.Request) error {
	body, err := render("missing.html", s.view("No such page – Deed", s.assets.reader, r.URL.Path))
	if err != nil {
		return err
	}
	s.setHeaders(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	send(w, r, http.StatusNotFound, asset{raw: body})
	return nil
}

// servePage sends the page. The first one has the results of ?q=.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-cache")
	if r.URL.Path != "/" {
		send(w, r, http.StatusOK, s.shells["/app/"])
		return nil
	}
	params := r.URL.Query()
	asked := &searched{Query: strings.TrimSpace(params.Get("q")), All: params.Has("all")}
	if asked.Query == "" {
		send(w, r, http.StatusOK, s.shells["/"])
		return nil
	}
	asked.Max, _ = deed.ParseUSDC(params.Get("max")) // what is no amount filters nothing
	found, status := s.search(w, r, asked)
	body, err := s.renderPage("/", found)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store") // availability changes
	send(w, r, status, asset{raw: body, zipped: zip(body)})
	return nil
}

func render(name string, v any) ([]byte, error) {
	var b bytes.Buffer
	err := pages.ExecuteTemplate(&b, name, v)
	return b.Bytes(), err
}
