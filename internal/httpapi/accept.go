package httpapi

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// acceptWeight returns the weight that Accept gives to a media type by its name (RFC 9110,
// 12.5.1): 1 without one, and 0 if it does not name it.
func acceptWeight(r *http.Request, media string) (most float64) {
	for _, list := range r.Header.Values("Accept") {
		for item := range strings.SplitSeq(list, ",") {
			named, parameters, err := mime.ParseMediaType(item)
			if err != nil || named != media {
				continue
			}
			weight, err := strconv.ParseFloat(parameters["q"], 64)
			if err != nil {
				weight = 1
			}
			most = max(most, weight)
		}
	}
	return most
}
