package api_test

import (
	"fmt"
	"testing"
)

// Ajv, the usual validator of JavaScript, forgets the properties of a $ref when there is a
// condition beside it, and takes them for unevaluated. Conditions are inside an allOf.
func TestNoConditionBesideUnevaluatedProperties(t *testing.T) {
	var walk func(place string, v any)
	walk = func(place string, v any) {
		o, _ := v.(object)
		for _, word := range []string{"if", "anyOf", "oneOf"} {
			if o[word] != nil && o["$ref"] != nil && o["unevaluatedProperties"] != nil {
				t.Errorf("%s has %s beside unevaluatedProperties", place, word)
			}
		}
		for key, value := range o {
			walk(place+"/"+key, value)
		}
		for i, value := range list(v) {
			walk(fmt.Sprint(place, "/", i), value)
		}
	}
	walk("", document(t))
}
