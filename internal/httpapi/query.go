package httpapi

import (
	"net/http"
	"net/url"

	"deed.example/deed"
)

// query returns the query parameters that a call takes. It fails if the query cannot be
// read, or if one of these is repeated, because the intended value is unknown. What a
// call does not take is ignored.
func query(r *http.Request, names ...string) (url.Values, error) {
	if r.URL.RawQuery == "" {
		return nil, nil
	}
	all, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, deed.Errorf(deed.CodeValidation, "the part of the address behind the ? cannot be read: percent-encode what is in it")
	}
	for _, name := range names {
		if n := len(all[name]); n > 1 {
			return nil, deed.Invalid(name, "is there %d times: send it once", n)
		}
	}
	return all, nil
}
