package opusdns

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"deed.example/deed/internal/registrar"
)

// A problem is a refusal of the vendor (RFC 9457). The request was not executed. Its
// text is the vendor's: it is for logs, not for callers.
type problem struct {
	status int
	kind   string // the type, such as "domain-not-found"
	code   string // such as "ERROR_DOMAIN_NOT_FOUND"; may be empty
	text   string

	invalid []string // fields that are not valid, and why; not for logs, because it may repeat them
}

func (p *problem) Error() string {
	return fmt.Sprintf("the vendor refuses: %d %s %s: %s", p.status, p.kind, p.code, p.text)
}

// decodeProblem returns the problem in a reply. A body that is not a problem document
// does not come from the API itself, but from something before it, and tells nothing
// about the request.
func decodeProblem(status int, raw []byte) error {
	var doc struct {
		Type   *string `json:"type"`
		Title  *string `json:"title"`
		Status *int    `json:"status"`
		Detail *string `json:"detail"`
		Code   *string `json:"code"`
		Errors []struct {
			Message string `json:"msg"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil || doc.Type == nil || doc.Title == nil || doc.Status == nil {
		return fmt.Errorf("the reply has status %d, and is not a problem document", status)
	}
	p := &problem{status: status, kind: short(*doc.Type), text: short(*doc.Title)}
	if doc.Code != nil {
		p.code = short(*doc.Code)
	}
	for _, e := range doc.Errors[:min(len(doc.Errors), maxInvalid)] {
		p.invalid = append(p.invalid, short(e.Message))
	}
	if doc.Detail != nil {
		p.text += ": " + short(*doc.Detail)
	}
	return p
}

// maxInvalid is how many invalid fields are told.
const maxInvalid = 4

// short returns the vendor's text as it may be logged.
func short(s string) string {
	const limit = 200
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), limit)]
}

// is reports whether the problem has one of the codes.
func (p *problem) is(codes ...string) bool {
	for _, code := range codes {
		if p.code == code || p.code == "" && p.kind == kindOf[code] {
			return true
		}
	}
	return false
}

// The codes of problems that are handled specially.
const (
	codeDomainNotFound  = "ERROR_DOMAIN_NOT_FOUND"
	codeDomainExists    = "ERROR_DOMAIN_EXISTS"
	codeAlreadyOwned    = "ERROR_DOMAIN_TRANSFER_ALREADY_OWNED"
	codeInvalidAuthCode = "ERROR_DOMAIN_TRANSFER_INVALID_AUTH_CODE"
	codeMalformedCode   = "ERROR_DOMAIN_TRANSFER_AUTHINFO_MALFORMED"
	codeTLDUnavailable  = "ERROR_TLD_NOT_AVAILABLE"
	codeHostNotFound    = "ERROR_HOST_NOT_FOUND"
	codeHostExists      = "ERROR_HOST_ALREADY_EXISTS"
	codeParentNotFound  = "ERROR_PARENT_DOMAIN_NOT_FOUND"
	codeEventNotFound   = "ERROR_EVENT_NOT_FOUND"
	codeContactNotFound = "ERROR_CONTACT_NOT_FOUND"
)

// kindOf has the types of these problems: the vendor's document requires the type
// only, and not the code.
var kindOf = map[string]string{
	codeDomainNotFound:  "domain-not-found",
	codeDomainExists:    "domain-exists",
	codeAlreadyOwned:    "domain-transfer-already-owned",
	codeInvalidAuthCode: "domain-transfer-invalid-auth",
	codeMalformedCode:   "domain-transfer-auth-info-malformed",
	codeTLDUnavailable:  "domain-tld-not-available",
	codeHostNotFound:    "host-not-found",
	codeHostExists:      "host-already-exists",
	codeParentNotFound:  "parent-domain-not-found",
	codeEventNotFound:   "event-not-found",
	codeContactNotFound: "contact-not-found",
}

// refusal returns the problem in err, if it refuses what was asked for. It returns
// nil for a problem with the account itself: the key or its permissions are wrong, or
// there is too little money. Such an error is not final, and has no code.
func refusal(err error) *problem {
	var p *problem
	if !errors.As(err, &p) || p.lacksFunds() || p.deniesAccess() {
		return nil
	}
	return p
}

func (p *problem) deniesAccess() bool {
	return p.status == 401 || p.status == 403 && !p.is(codeInvalidAuthCode)
}

func (p *problem) lacksFunds() bool {
	return p.status == 402 || strings.Contains(p.code, "INSUFFICIENT") || strings.Contains(p.kind, "insufficient")
}

// unknown returns the error of an order or change whose outcome is not a refusal.
func (b *Backend) unknown(doing string, err error) error {
	var p *problem
	switch {
	case errors.Is(err, errUndocumented):
		b.warn(warnReplies, "a reply is not as documented: "+doing)
	case errors.As(err, &p) && p.lacksFunds():
		b.warn(warnFunds, "the account has too little money: pay in")
		return fmt.Errorf("%s: %w: %w", doing, registrar.ErrFunds, err)
	case errors.As(err, &p) && p.deniesAccess():
		b.warn(warnKey, "the API key is refused, or lacks a permission")
	case errors.As(err, &p) && p.status == 404 && !p.is(codeDomainNotFound):
		b.warn(warnReplies, "the vendor does not find what it should have: "+p.kind)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
