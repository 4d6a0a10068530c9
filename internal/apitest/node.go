package apitest

import (
	"iter"
	"strconv"
	"strings"
)

// A node is a location in the document. Its value is nil if there is nothing.
type node struct {
	document map[string]any
	pointer  string // RFC 6901
	value    any
}

func (c *contract) root() node { return node{document: c.document, value: c.document} }

var escape = strings.NewReplacer("~", "~0", "/", "~1")

// child returns the member of an object or the item of an array. It follows a
// $ref, so that the pointer is that of the target.
func (n node) child(key string) node {
	next := node{n.document, n.pointer + "/" + escape.Replace(key), nil}
	switch v := n.value.(type) {
	case map[string]any:
		next.value = v[key]
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i < len(v) {
			next.value = v[i]
		}
	}
	if ref := next.text("$ref"); ref != "" && len(next.value.(map[string]any)) == 1 {
		return next.follow(ref)
	}
	return next
}

// follow returns the target of a reference such as #/components/headers/ETag.
func (n node) follow(ref string) node {
	at := node{document: n.document, value: n.document}
	for key := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.child(strings.NewReplacer("~1", "/", "~0", "~").Replace(key))
	}
	return at
}

// children returns the members of an object or the items of an array.
func (n node) children() iter.Seq2[string, node] {
	return func(yield func(string, node) bool) {
		switch v := n.value.(type) {
		case map[string]any:
			for key := range v {
				if !yield(key, n.child(key)) {
					return
				}
			}
		case []any:
			for i := range v {
				if key := strconv.Itoa(i); !yield(key, n.child(key)) {
					return
				}
			}
		}
	}
}

// text returns a string member, or "".
func (n node) text(key string) string {
	m, _ := n.value.(map[string]any)
	s, _ := m[key].(string)
	return s
}

// is reports whether a member is true.
func (n node) is(key string) bool {
	m, _ := n.value.(map[string]any)
	b, _ := m[key].(bool)
	return b
}
