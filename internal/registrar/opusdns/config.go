package opusdns

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// The base URLs of the vendor.
const (
	ProductionURL = "https://api.opusdns.com"
	SandboxURL    = "https://sandbox.opusdns.com"
)

// Defaults of the Config.
const (
	defaultTimeout           = 15 * time.Second
	defaultRequestsPerSecond = 10
	defaultClockSkew         = 5 * time.Minute
	defaultPriceAge          = 15 * time.Minute
)

// minSecret is the least length of the secret.
const minSecret = 16

// currency is the currency of the account. Prices are in USDC, one for one.
const currency = "USD"

// A Config says how to use the vendor's API.
type Config struct {
	BaseURL           string        // ProductionURL or SandboxURL; http only for a loopback address
	Key               deed.Secret   // the API key
	Secret            deed.Secret   // the key that the first auth codes of names are derived with; the same on all nodes, at least 16 characters
	Organization      string        // ID of the organization whose account it is
	Contact           string        // ID of the contact that is the registrant; "" to find or create Registrant
	Registrant        Contact       // the registrant of record, when Contact is ""
	RequestsPerSecond int           // of all kinds together; 10 when zero
	Timeout           time.Duration // of one request; 15 seconds when zero
	ClockSkew         time.Duration // difference between the clocks that is tolerated; 5 minutes when zero
	PriceAge          time.Duration // how long a price list is used; 15 minutes when zero
	PageSize          int           // of lists of names, at most 1000; 1000 when zero
	ListWithoutDS     bool          // do not read the DS records of each name in a list, which takes a request each
	Now               func() time.Time
	Log               *slog.Logger // nil for none
}

// A Contact is the registrant of record.
type Contact struct {
	FirstName    string
	LastName     string
	Organization string // may be empty
	Email        string
	Phone        string // "+1.2125552368"
	Street       string
	City         string
	State        string // may be empty
	PostalCode   string
	Country      string // ISO 3166-1, two letters
}

// A Backend implements registrar.Registrar, registrar.Manager and
// registrar.Inventory, and the capabilities that interface.go lists. Make it with Open.
// It is safe for concurrent use.
type Backend struct {
	config Config
	api    *client

	contactMu sync.Mutex // held while the registrant's contact is found or created

	mu       sync.Mutex // guards the fields below
	contact  string     // ID of the registrant's contact, once known
	rules    map[deed.TLD]tldRules
	prices   *priceList // the last one, or nil
	events   []event    // read, and not yet acknowledged
	walk     walk       // where the last page of the inventory ended
	snapshot snapshot   // of the inventory, if the vendor does not sort it
	warnings warnings   // what was wrong lately
}

var (
	organizationID = typeID("organization")
	contactID      = typeID("contact")
	eventID        = typeID("event")
)

// typeID matches the vendor's IDs of one kind.
func typeID(kind string) *regexp.Regexp {
	return regexp.MustCompile(`^` + kind + `_[0-7][0-9a-hjkmnpq-tv-z]{25}$`)
}

// Open returns a backend with this configuration. It fails when the configuration is
// not valid, and makes no request.
func Open(c Config) (*Backend, error) {
	base, err := parseBaseURL(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	c.RequestsPerSecond = cmp.Or(c.RequestsPerSecond, defaultRequestsPerSecond)
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.ClockSkew = cmp.Or(c.ClockSkew, defaultClockSkew)
	c.PriceAge = cmp.Or(c.PriceAge, defaultPriceAge)
	c.PageSize = cmp.Or(c.PageSize, namesPerPage)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Backend{
		config: c,
		api: &client{
			base: base, key: c.Key, timeout: c.Timeout, pace: newPace(c.RequestsPerSecond),
			http: &http.Client{
				Transport:     &http.Transport{MaxIdleConnsPerHost: c.RequestsPerSecond, IdleConnTimeout: time.Minute},
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			},
		},
		contact: c.Contact, rules: map[deed.TLD]tldRules{},
	}, nil
}

// parseBaseURL returns the URL that all paths are relative to. The key is sent in a
// header, so the connection must be encrypted unless it stays on this machine.
func parseBaseURL(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(s, "/"))
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("base URL %q: write it like %s", s, ProductionURL)
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return u, nil
	}
	return nil, fmt.Errorf("base URL %q: it must be https", s)
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

func (c Config) check() error {
	switch {
	case c.Key == "" || strings.ContainsFunc(c.Key.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("the API key is missing, or has characters that cannot be in a header")
	case len(c.Secret) < minSecret:
		return fmt.Errorf("the secret that auth codes are derived with needs at least %d characters", minSecret)
	case !organizationID.MatchString(c.Organization):
		return fmt.Errorf("organization %q: it must be an ID such as organization_01h45ytscbebyvny4gc8cr8ma2", c.Organization)
	case c.Contact != "" && !contactID.MatchString(c.Contact):
		return fmt.Errorf("contact %q: it must be an ID such as contact_01h45ytscbebyvny4gc8cr8ma2", c.Contact)
	case c.RequestsPerSecond < 0 || c.Timeout < 0 || c.ClockSkew < 0 || c.PriceAge < 0:
		return fmt.Errorf("requests per second, timeout, clock skew and price age cannot be negative")
	case c.PageSize < 0 || c.PageSize == 1 || c.PageSize > namesPerPage:
		return fmt.Errorf("page size %d: it must be 2 to %d", c.PageSize, namesPerPage)
	case c.Contact == "":
		return c.Registrant.check()
	}
	return nil
}

func (c Contact) check() error {
	for field, value := range map[string]string{
		"first name": c.FirstName, "last name": c.LastName, "e-mail": c.Email, "phone": c.Phone,
		"street": c.Street, "city": c.City, "postal code": c.PostalCode, "country": c.Country,
	} {
		if value == "" || len(value) > 255 {
			return fmt.Errorf("registrant: the %s must have 1 to 255 characters", field)
		}
	}
	switch {
	case len(c.Organization) > 255 || len(c.State) > 255:
		return fmt.Errorf("registrant: organization and state have at most 255 characters")
	case !lifecycle.ValidPhone(c.Phone):
		return fmt.Errorf("registrant: phone %q: write it like +1.2125552368", c.Phone)
	case !lifecycle.ValidCountry(c.Country):
		return fmt.Errorf("registrant: country %q: write two capital letters (ISO 3166-1)", c.Country)
	case !strings.Contains(c.Email, "@"):
		return fmt.Errorf("registrant: e-mail %q has no @", c.Email)
	}
	return nil
}
