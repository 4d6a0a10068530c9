package apitest

import (
	"net/http"
	"strings"
)

// checkRequest checks a request that the server accepted.
func (c *contract) checkRequest(e exchange, op operation) []string {
	problems := c.checkParameters(e.req, op)
	problems = append(problems, c.checkSecurity(e.req, op)...)
	body := op.child("requestBody")
	switch {
	case body.value == nil:
		return problems
	case len(e.sent) == 0 && !body.is("required"):
		return problems
	case len(e.sent) == 0:
		return append(problems, "request body: is missing")
	}
	return append(problems, c.checkBody("request body", body.child("content"), e.req.Header, e.sent)...)
}

func (c *contract) checkParameters(req *http.Request, op operation) []string {
	var problems []string
	query := req.URL.Query()
	for _, owner := range []node{op.item, op.node} {
		for _, p := range owner.child("parameters").children() {
			name, in := p.text("name"), p.text("in")
			var values []string
			switch in {
			case "path":
				values = []string{op.params[name]}
			case "query":
				values = query[name]
			case "header":
				values = oneLine(req.Header.Values(name))
			}
			problems = append(problems, c.checkValues(in+" parameter "+name, values, p)...)
		}
	}
	return problems
}

// oneLine joins the lines of a header (RFC 9110, 5.3).
func oneLine(lines []string) []string {
	if len(lines) < 2 {
		return lines
	}
	return []string{strings.Join(lines, ", ")}
}

// checkSecurity checks whether the request meets one of the security requirements.
// An operation without requirements is public.
func (c *contract) checkSecurity(req *http.Request, op operation) []string {
	var missing []string
	for _, alternative := range op.child("security").children() {
		var lacks []string
		for scheme := range alternative.children() {
			header := "Authorization"
			if s := c.root().child("components").child("securitySchemes").child(scheme); s.text("type") == "apiKey" {
				header = s.text("name")
			}
			if req.Header.Get(header) == "" {
				lacks = append(lacks, header)
			}
		}
		if lacks == nil {
			return nil
		}
		missing = lacks
	}
	if missing == nil {
		return nil
	}
	return []string{"request header " + strings.Join(missing, ", ") + ": is missing"}
}
