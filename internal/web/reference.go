package web

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"deed.example/deed/api"
)

// operation has the fields of an operation that the reference shows.
type operation struct {
	ID          string                `yaml:"operationId"`
	Tags        []string              `yaml:"tags"`
	Summary     string                `yaml:"summary"`
	Description string                `yaml:"description"`
	Parameters  []parameter           `yaml:"parameters"`
	Security    []map[string][]string `yaml:"security"`
	Body        *struct {
		Content map[string]struct {
			Example any `yaml:"example"`
		} `yaml:"content"`
	} `yaml:"requestBody"`
	Responses yaml.Node `yaml:"responses"`
	Payment   *struct {
		Price struct{ Mode, Amount, Min string } `yaml:"price"`
	} `yaml:"x-payment-info"`
}

type parameter struct {
	Ref         string `yaml:"$ref"`
	Name        string `yaml:"name"`
	In          string `yaml:"in"`
	Required    bool   `yaml:"required"`
	Description string `yaml:"description"`
	Example     any    `yaml:"example"`
}

type response struct {
	Ref         string `yaml:"$ref"`
	Description string `yaml:"description"`
	Content     map[string]struct {
		Example any `yaml:"example"`
	} `yaml:"content"`
}

// description is openapi.yaml as far as the reference shows it.
type description struct {
	Info struct {
		Description string `yaml:"description"`
	} `yaml:"info"`
	Tags []struct {
		Name        string `yaml:"name"`
		Description string `yaml:"description"`
	} `yaml:"tags"`
	Paths      yaml.Node `yaml:"paths"`
	Components struct {
		Parameters map[string]parameter `yaml:"parameters"`
		Responses  map[string]response  `yaml:"responses"`
	} `yaml:"components"`
}

// callView is one call of the reference.
type callView struct {
	ID, Method, Path, Summary, Terms string
	Description                      template.HTML
	Parameters                       []parameter
	Curl, Get                        string // an example, and its path if it can be run from the page
	Answers                          []answerView
}

type answerView struct {
	Status, Description, Example string
}

type topicView struct {
	Name, Description string
	Calls             []callView
}

// renderReference renders the API reference from openapi.yaml.
func (s *Server) renderReference() (*doc, error) {
	var in description
	if err := yaml.Unmarshal(api.OpenAPIYAML, &in); err != nil {
		return nil, fmt.Errorf("read the embedded openapi.yaml: %w", err)
	}
	topics := make([]topicView, len(in.Tags))
	d := &doc{Path: "api", Title: "API reference"}
	for i, t := range in.Tags {
		topics[i] = topicView{Name: t.Name, Description: t.Description}
	}
	err := in.each(func(path, method string, op operation) error {
		c, err := s.call(&in, path, method, op)
		if err != nil {
			return err
		}
		for i := range topics {
			if topics[i].Name == op.Tags[0] {
				topics[i].Calls = append(topics[i].Calls, c)
			}
		}
		d.sections = append(d.sections, section{id: c.ID, title: method + " " + path, text: op.Summary + " " + op.Description})
		return nil
	})
	if err != nil {
		return nil, err
	}
	intro, err := fromMarkdown(in.Info.Description)
	if err != nil {
		return nil, err
	}
	body, err := render("reference.html", struct {
		Intro  template.HTML
		Topics []topicView
	}{intro, topics})
	d.HTML = template.HTML(body)
	return d, err
}

// each calls f for each operation, in the order of the file.
func (d *description) each(f func(path, method string, op operation) error) error {
	for i := 0; i+1 < len(d.Paths.Content); i += 2 {
		path, item := d.Paths.Content[i].Value, d.Paths.Content[i+1]
		for j := 0; j+1 < len(item.Content); j += 2 {
			method := strings.ToUpper(item.Content[j].Value)
			if method == "PARAMETERS" {
				continue
			}
			var op operation
			if err := item.Content[j+1].Decode(&op); err != nil {
				return fmt.Errorf("read %s %s of openapi.yaml: %w", method, path, err)
			}
			if shared := sharedParameters(item); shared != nil {
				op.Parameters = append(shared, op.Parameters...)
			}
			if err := f(path, method, op); err != nil {
				return err
			}
		}
	}
	return nil
}

// sharedParameters returns the parameters of all operations of a path.
func sharedParameters(item *yaml.Node) []parameter {
	var in struct {
		Parameters []parameter `yaml:"parameters"`
	}
	_ = item.Decode(&in) // what is no list of parameters fails where the operation is read
	return in.Parameters
}

func fromMarkdown(text string) (template.HTML, error) {
	var b bytes.Buffer
	err := markdown.Convert([]byte(text), &b)
	return focusable(b.Bytes()), err
}

// call returns the view of an operation.
func (s *Server) call(in *description, path, method string, op operation) (callView, error) {
	c := callView{ID: op.ID, Method: method, Path: path, Summary: op.Summary, Terms: op.terms()}
	var err error
	if c.Description, err = fromMarkdown(op.Description); err != nil {
		return c, err
	}
	target, query, complete := path, url.Values{}, true
	for _, p := range op.Parameters {
		if p.Ref != "" {
			p = in.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
		}
		c.Parameters = append(c.Parameters, p)
		switch {
		case p.Example == nil:
			complete = complete && !p.Required
		case p.In == "path":
			target = strings.ReplaceAll(target, "{"+p.Name+"}", url.PathEscape(fmt.Sprint(p.Example)))
		case p.In == "query" && p.Required:
			query.Set(p.Name, fmt.Sprint(p.Example))
		}
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	if method == "GET" && complete && !op.bearer() {
		c.Get = target
	}
	c.Curl = s.curl(method, target, op)
	c.Answers, err = in.answers(op)
	return c, err
}

// terms says what a call costs and needs.
func (op operation) terms() string {
	var out []string
	if op.Payment != nil {
		price := "Costs the price of the name, in USDC."
		switch p := op.Payment.Price; {
		case p.Amount != "":
			price = "Costs " + p.Amount + " USDC."
		case p.Min != "":
			price = "Costs " + p.Min + " USDC for each change."
		}
		out = append(out, price)
	}
	if op.bearer() {
		out = append(out, "Needs an access token.")
	}
	return strings.Join(out, " ")
}

func (op operation) bearer() bool {
	for _, way := range op.Security {
		if _, ok := way["bearer"]; ok {
			return true
		}
	}
	return false
}

func (s *Server) curl(method, target string, op operation) string {
	var b strings.Builder
	b.WriteString("curl '" + s.site.PublicURL + target + "'")
	if method != "GET" {
		b.WriteString(" -X " + method)
	}
	if op.bearer() {
		b.WriteString(" \\\n  -H 'authorization: Bearer '$TOKEN")
	}
	if op.Body != nil {
		for media, content := range op.Body.Content {
			raw, ok := content.Example.(string)
			if !ok {
				raw = encode(content.Example, "")
			}
			b.WriteString(" \\\n  -H 'content-type: " + media + "' \\\n  --data-raw '" + strings.ReplaceAll(raw, "'", `'\''`) + "'")
			break
		}
	}
	return b.String()
}

// encode returns an example as JSON, on several lines if it has an indent.
func encode(v any, indent string) string {
	options := []json.Options{json.Deterministic(true)}
	if indent != "" {
		options = append(options, jsontext.WithIndent(indent))
	}
	raw, err := json.Marshal(v, options...)
	if err != nil {
		return "" // an example that is no JSON is not shown
	}
	return string(raw)
}

// answers returns the responses of an operation in the order of the file.
func (d *description) answers(op operation) ([]answerView, error) {
	var out []answerView
	for i := 0; i+1 < len(op.Responses.Content); i += 2 {
		var r response
		if err := op.Responses.Content[i+1].Decode(&r); err != nil {
			return nil, err
		}
		if r.Ref != "" {
			r = d.Components.Responses[r.Ref[strings.LastIndex(r.Ref, "/")+1:]]
		}
		a := answerView{Status: op.Responses.Content[i].Value, Description: r.Description}
		if content, ok := r.Content["application/json"]; ok && content.Example != nil && strings.HasPrefix(a.Status, "2") {
			a.Example = encode(content.Example, "  ")
		}
		out = append(out, a)
	}
	return out, nil
}
