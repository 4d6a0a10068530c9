package opusdnstest

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"
)

// A schema returns what is wrong with a value that was decoded from JSON: one
// sentence for each violation, with the path of the value.
type schema func(path string, v any) []string

func wrong(path, format string, args ...any) []string {
	return []string{path + ": " + fmt.Sprintf(format, args...)}
}

// matching is a string that matches the pattern.
func matching(pattern string) schema {
	re := regexp.MustCompile(pattern)
	return func(path string, v any) []string {
		if s, ok := v.(string); !ok || !re.MatchString(s) {
			return wrong(path, "%v is not a string like %s", v, pattern)
		}
		return nil
	}
}

// text is a string of this length.
func text(least, most int) schema {
	return func(path string, v any) []string {
		if s, ok := v.(string); !ok || utf8.RuneCountInString(s) < least || utf8.RuneCountInString(s) > most {
			return wrong(path, "%v is not a string of %d to %d characters", v, least, most)
		}
		return nil
	}
}

var (
	anyText = matching(`(?s)^.*$`)
	amount  = matching(`^[+-]?[0-9]*\.?[0-9]*$`)
	confirm = matching(`^\d{1,8}\.\d{2}$`)
	country = matching(`^\w{2}$`)
)

// id is a TypeID.
func id(kind string) schema { return matching(`^` + kind + `_[0-7][0-9a-hjkmnpq-tv-z]{25}$`) }

// enum is one of these strings.
func enum(values ...string) schema {
	return func(path string, v any) []string {
		if s, ok := v.(string); !ok || !slices.Contains(values, s) {
			return wrong(path, "%v is not one of %v", v, values)
		}
		return nil
	}
}

// integer is a whole number in a range.
func integer(least, most float64) schema {
	return func(path string, v any) []string {
		if n, ok := v.(float64); !ok || n != float64(int64(n)) || n < least || n > most {
			return wrong(path, "%v is not a whole number from %v to %v", v, least, most)
		}
		return nil
	}
}

func boolean(path string, v any) []string {
	if _, ok := v.(bool); !ok {
		return wrong(path, "%v is not a boolean", v)
	}
	return nil
}

func date(path string, v any) []string {
	s, _ := v.(string)
	if _, err := time.Parse(time.RFC3339, s); err != nil {
		return wrong(path, "%v is not a time", v)
	}
	return nil
}

func address(path string, v any) []string {
	s, _ := v.(string)
	if _, err := netip.ParseAddr(s); err != nil {
		return wrong(path, "%v is not an address", v)
	}
	return nil
}

// list has elements of one kind.
func list(most int, of schema) schema {
	return func(path string, v any) (found []string) {
		all, ok := v.([]any)
		if !ok || len(all) > most {
			return wrong(path, "it is not a list of at most %d", most)
		}
		for i, e := range all {
			found = append(found, of(fmt.Sprintf("%s[%d]", path, i), e)...)
		}
		return found
	}
}

// orNull also allows null.
func orNull(of schema) schema {
	return func(path string, v any) []string {
		if v == nil {
			return nil
		}
		return of(path, v)
	}
}

// A property is a field of an object.
type property struct {
	of       schema
	required bool
}

func need(of schema) property { return property{of, true} }
func may(of schema) property  { return property{of, false} }

// fields are the fields of an object. Others are not allowed: those that the vendor
// documents and nobody uses are not written down.
type fields map[string]property

func object(all fields) schema {
	return func(path string, v any) (found []string) {
		have, ok := v.(map[string]any)
		if !ok {
			return wrong(path, "%v is not an object", v)
		}
		for name, p := range all {
			value, has := have[name]
			if has {
				found = append(found, p.of(path+"."+name, value)...)
			} else if p.required {
				found = append(found, wrong(path+"."+name, "it is missing")...)
			}
		}
		for name := range have {
			if _, known := all[name]; !known {
				found = append(found, wrong(path+"."+name, "it is not documented")...)
			}
		}
		slices.Sort(found)
		return found
	}
}

// dictionary is an object with one kind of keys and values.
func dictionary(key, value schema) schema {
	return func(path string, v any) (found []string) {
		have, ok := v.(map[string]any)
		if !ok {
			return wrong(path, "%v is not an object", v)
		}
		for k, e := range have {
			found = append(found, key(path, k)...)
			found = append(found, value(path+"."+k, e)...)
		}
		return found
	}
}

// withFields returns both.
func withFields(a, b fields) fields {
	out := fields{}
	for _, all := range []fields{a, b} {
		for name, p := range all {
			out[name] = p
		}
	}
	return out
}
