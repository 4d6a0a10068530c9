package apitest

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// An exchange is a request and its response.
type exchange struct {
	req     *http.Request
	sent    []byte
	res     *http.Response
	body    []byte
	bodyErr error // the response was truncated; its body is not checked
}

// check returns the errors of an exchange.
func (c *contract) check(e exchange) []string {
	op, found := c.find(e.req.Method, e.req.URL)
	if !found {
		return c.checkUnrouted(e)
	}
	answer := op.child("responses").child(strconv.Itoa(e.res.StatusCode))
	if answer.value == nil {
		return []string{"openapi.yaml does not document this status"}
	}
	problems := c.checkAnswer(e, answer)
	if e.res.StatusCode/100 == 2 {
		problems = append(problems, c.checkRequest(e, op)...)
	}
	return problems
}

// checkUnrouted checks the response to a request that matches no operation: an
// error, or 204 for a CORS preflight.
func (c *contract) checkUnrouted(e exchange) []string {
	if e.req.Method == http.MethodOptions && e.res.StatusCode == http.StatusNoContent {
		return c.checkHeader(e.res.Header, "X-Request-Id", c.root().follow("#/components/headers/X-Request-Id"))
	}
	answer := c.root().child("x-refusals").child(strconv.Itoa(e.res.StatusCode))
	if answer.value == nil {
		return []string{"openapi.yaml has no such operation, and this status is no refusal"}
	}
	return c.checkAnswer(e, answer)
}

func (c *contract) checkAnswer(e exchange, answer node) []string {
	var problems []string
	for name, header := range answer.child("headers").children() {
		problems = append(problems, c.checkHeader(e.res.Header, name, header)...)
	}
	slices.Sort(problems)
	content := answer.child("content")
	switch {
	case e.bodyErr != nil:
		return problems
	case e.req.Method == http.MethodHead || content.value == nil:
		if len(e.body) > 0 {
			problems = append(problems, fmt.Sprintf("body: got %d bytes, want none", len(e.body)))
		}
		return problems
	}
	return append(problems, c.checkBody("body", content, e.res.Header, e.body)...)
}

// checkHeader checks a documented header of a response or a request.
func (c *contract) checkHeader(h http.Header, name string, documented node) []string {
	return c.checkValues("header "+name, h.Values(name), documented)
}

// checkBody checks a body by the schema of its content type.
func (c *contract) checkBody(what string, content node, h http.Header, body []byte) []string {
	typ := mediaType(h)
	media := content.child(typ)
	if media.value == nil {
		return []string{fmt.Sprintf("%s: content type %q is not documented", what, h.Get("Content-Type"))}
	}
	if typ != "application/json" && typ != "application/rdap+json" {
		return nil // streams are not read here
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return []string{fmt.Sprintf("%s: broken JSON: %v", what, err)}
	}
	return c.checkValue(what, media.child("schema"), value)
}

// checkValues checks a header or parameter that may occur once.
func (c *contract) checkValues(what string, values []string, documented node) []string {
	switch {
	case len(values) > 1:
		return []string{fmt.Sprintf("%s: got %d values, want one", what, len(values))}
	case len(values) == 1:
		return c.checkText(what, documented.child("schema"), values[0])
	case documented.is("required"):
		return []string{what + ": is missing"}
	}
	return nil
}

// checkText checks a value of a header or parameter: "12" is a number if the
// schema has that type, and a string otherwise.
func (c *contract) checkText(what string, schema node, text string) []string {
	problems := c.checkValue(what, schema, text)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || len(problems) == 0 {
		return problems
	}
	return c.checkValue(what, schema, n)
}

// checkValue checks a value and returns each error with its JSON pointer.
func (c *contract) checkValue(what string, at node, value any) []string {
	schema, err := c.schema(at)
	if err != nil {
		return []string{err.Error()}
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](schema.Validate(value))
	if !ok {
		return nil
	}
	problems := map[string]bool{} // removes duplicates of schemas that are used twice
	for leaf := range leaves(invalid) {
		place := what
		for i, key := range leaf.InstanceLocation {
			if i == 0 {
				place += " "
			}
			place += "/" + escape.Replace(key)
		}
		problems[place+": "+leaf.ErrorKind.LocalizedString(english)] = true
	}
	return slices.Sorted(maps.Keys(problems))
}

var english = message.NewPrinter(language.English)

// leaves returns the innermost errors of a failed validation.
func leaves(e *jsonschema.ValidationError) iter.Seq[*jsonschema.ValidationError] {
	return func(yield func(*jsonschema.ValidationError) bool) {
		if len(e.Causes) == 0 {
			yield(e)
		}
		for _, cause := range e.Causes {
			for leaf := range leaves(cause) {
				if !yield(leaf) {
					return
				}
			}
		}
	}
}

// mediaType returns the content type without its parameters.
func mediaType(h http.Header) string {
	typ, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return typ
}
