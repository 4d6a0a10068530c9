package email

import (
	"regexp"
	"strings"

	"deed.example/deed"
)

// An Address is an e-mail address that is safe in a header and in an SMTP command.
type Address string

// The parts of an address. Quoted local parts, address literals and addresses that are
// not ASCII (RFC 6531) are not accepted.
const (
	maxAddress = 254 // RFC 5321, 4.5.3.1.3
	maxLocal   = 64
)

var (
	localPart  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$")
	domainPart = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

// ParseAddress returns the address, with its domain in lower case, or CodeValidation.
func ParseAddress(text string) (Address, error) {
	at := strings.LastIndexByte(text, '@')
	if len(text) > maxAddress || at < 1 || at > maxLocal {
		return "", errAddress
	}
	local, domain := text[:at], strings.ToLower(text[at+1:])
	if !localPart.MatchString(local) || !domainPart.MatchString(domain) {
		return "", errAddress
	}
	return Address(local + "@" + domain), nil
}

var errAddress = deed.Invalid("address", "must be one e-mail address such as owner@example.com, in ASCII, of at most %d characters", maxAddress)

// key returns what is the same for all spellings of an address that most mail servers
// deliver to one mailbox: limits are counted for it.
func (a Address) key() string {
	local, domain, _ := strings.Cut(strings.ToLower(string(a)), "@")
	local, _, _ = strings.Cut(local, "+")
	return local + "@" + domain
}

// Masked returns the address as it may be shown to whoever has a token of the wallet.
func (a Address) Masked() string {
	local, domain, _ := strings.Cut(string(a), "@")
	return local[:1] + "…@" + domain
}
