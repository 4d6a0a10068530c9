package lifecycle

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"deed.example/deed"
)

// A RegistrantPolicy says whose contact data the names of a registrar may have at the
// registry.
type RegistrantPolicy string

// The policies. With RegistrantProxy the operator's privacy service is the registrant
// of every name. The other two let the owner of a name give their own data after the
// purchase; with RegistrantRequired the registry demands it.
const (
	RegistrantProxy    RegistrantPolicy = "proxy"
	RegistrantOptional RegistrantPolicy = "owner_optional"
	RegistrantRequired RegistrantPolicy = "owner_required"
)

// AllowsOwner reports whether the owner of a name may be its registrant.
func (p RegistrantPolicy) AllowsOwner() bool {
	return p == RegistrantOptional || p == RegistrantRequired
}

// A Registrant is the contact data that the owner of a name gave, and what became of
// it at the registry. A name without one has the operator's privacy service.
type Registrant struct {
	Name      deed.Name
	Reference string      // of the registration
	Backend   string      // the registrar that holds the name
	Wallet    deed.Wallet // the owner who gave it
	Contact   Contact     // zero once it is erased
	Handle    string      // of the contact that the registry has for the name; "" if it has none of an owner
	State     RegistrantState
	Reason    string // why the registry refused it
	Version   int    // counts the changes, so that an answer belongs to one of them
	Tries     int    // how often the registry was asked about this version
	Updated   time.Time
	Lease     time.Time // until then a call for an earlier version may still be executed
}

// Current reports whether the registry has data of an owner for the name, and is to
// keep it.
func (g Registrant) Current() bool { return g.Handle != "" && g.State.given() }

// A RegistrantState is the state of a Registrant:
//
//	pending ─► sent
//	  │ ▲ └──► refused
//	  │ └─── the owner gives other data, in any state
//	  ▼
//	resetting ─► (none)     erasing ─► (none)
//
// Pending: it is to be sent to the registry. Sent: the registry has it. Refused: the
// registry does not accept it, and has what it had before. Resetting: the owner took it
// back, or the name has another owner; the data is erased here, and the registry is to
// get the privacy service again. Erasing: the name has left us; the data is erased
// here, and is to be deleted at the registry.
type RegistrantState string

// The states of a registrant.
const (
	RegistrantPending   RegistrantState = "pending"
	RegistrantSent      RegistrantState = "sent"
	RegistrantRefused   RegistrantState = "refused"
	RegistrantResetting RegistrantState = "resetting"
	RegistrantErasing   RegistrantState = "erasing"
)

// given reports whether there is data of the owner.
func (s RegistrantState) given() bool {
	return s == RegistrantPending || s == RegistrantSent || s == RegistrantRefused
}

// Due reports whether the registry is to be asked.
func (s RegistrantState) Due() bool {
	return s == RegistrantPending || s == RegistrantResetting || s == RegistrantErasing
}

// A Contact is a person or an organization, as registries want it (RFC 5733).
type Contact struct {
	Name, Organization       string
	Street                   []string // one to three lines
	City, Region, PostalCode string
	Country                  string // ISO 3166-1, two capital letters
	Phone                    string // "+49.301234567"
	Email                    string
}

// maxStreet is how many lines a street has at most (RFC 5733, 2.3).
const maxStreet = 3

var (
	phoneNumber = regexp.MustCompile(`^\+[0-9]{1,3}\.[0-9]{4,14}$`)
	countryCode = regexp.MustCompile(`^[A-Z]{2}$`)
	mailAddress = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*" +
		`@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
)

// ValidPhone reports whether text is a telephone number as registries want it (RFC 5733,
// 2.5).
func ValidPhone(text string) bool { return phoneNumber.MatchString(text) }

// ValidCountry reports whether text has the form of a country code of ISO 3166-1: two
// capital letters.
func ValidCountry(text string) bool { return countryCode.MatchString(text) }

// ParseContact returns the contact in its usual form. It fails with CodeValidation when
// a field is missing, too long, or has characters that no address has. The message has
// the name of the field and never its value.
func ParseContact(c Contact) (Contact, error) {
	var err error
	line := func(field string, value *string, least, most int) {
		*value = strings.TrimSpace(*value)
		if err == nil {
			err = checkLine(field, *value, least, most)
		}
	}
	line("name", &c.Name, 1, 100)
	line("organization", &c.Organization, 0, 100)
	if err == nil && (len(c.Street) == 0 || len(c.Street) > maxStreet) {
		err = deed.Invalid("street", "needs one to three lines")
	}
	c.Street = append([]string(nil), c.Street[:min(len(c.Street), maxStreet)]...)
	for i := range c.Street {
		line("street", &c.Street[i], 1, 80)
	}
	line("city", &c.City, 1, 80)
	line("region", &c.Region, 0, 80)
	line("postalCode", &c.PostalCode, 0, 16)
	line("phone", &c.Phone, 1, 20)
	line("email", &c.Email, 1, 254)
	line("country", &c.Country, 2, 2)
	c.Country = strings.ToUpper(c.Country)
	switch {
	case err != nil:
		return Contact{}, err
	case !ValidCountry(c.Country):
		return Contact{}, deed.Invalid("country", "must be a country of ISO 3166-1, such as DE")
	case !ValidPhone(c.Phone):
		return Contact{}, deed.Invalid("phone", "must be written like +49.301234567: country code, dot, number")
	case !mailAddress.MatchString(c.Email) || strings.IndexByte(c.Email, '@') > 64:
		return Contact{}, deed.Invalid("email", "must be one e-mail address such as owner@example.com, in ASCII")
	}
	return c, nil
}

// checkLine fails unless the value is one line of text of this length.
func checkLine(field, value string, least, most int) error {
	switch n := utf8.RuneCountInString(value); {
	case !utf8.ValidString(value):
		return deed.Invalid(field, "is not valid UTF-8")
	case n < least && most == least:
		return deed.Invalid(field, "must have %d characters", most)
	case n < least:
		return deed.Invalid(field, "is required")
	case n > most:
		return deed.Invalid(field, "has more than %d characters", most)
	case strings.ContainsFunc(value, unprintable):
		return deed.Invalid(field, "has control characters, or others that cannot be seen")
	}
	return nil
}

// unprintable reports whether the character could change how a line is shown or read.
func unprintable(r rune) bool {
	return r != ' ' && !unicode.IsPrint(r) || r == utf8.RuneError
}
