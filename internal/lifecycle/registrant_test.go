package lifecycle_test

import (
	"slices"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

var ada = lifecycle.Contact{
	Name: "Ada Example", Organization: "Engines Ltd", Street: []string{"1 Any Street", "Floor 2"}, City: "London", Region: "Greater London",
	PostalCode: "N1 1AA", Country: "GB", Phone: "+44.2079460000", Email: "ada@example.com",
}

func TestParseContact(t *testing.T) {
	spaced := ada
	spaced.Name, spaced.Country, spaced.Street = "  Ada Example ", "gb", []string{" 1 Any Street", "Floor 2 "}
	for title, c := range map[string]lifecycle.Contact{"as it is": ada, "other spelling": spaced} {
		got, err := lifecycle.ParseContact(c)
		if err != nil || got.Name != ada.Name || got.Country != "GB" || !slices.Equal(got.Street, ada.Street) {
			t.Errorf("%s: got %+v, %v", title, got, err)
		}
	}
	least := lifecycle.Contact{Name: "Жанна", Street: []string{"ул. 1"}, City: "北京", Country: "CN", Phone: "+86.1000", Email: "a@b.cn"}
	if _, err := lifecycle.ParseContact(least); err != nil {
		t.Errorf("only what is required, in other scripts: %v", err)
	}
}

// A contact with a bad field is refused with the name of the field, and without what it
// contains.
func TestBadContacts(t *testing.T) {
	const secret = "s3cret"
	for title, c := range map[string]struct {
		field  string
		change func(*lifecycle.Contact)
	}{
		"no name":              {"name", func(c *lifecycle.Contact) { c.Name = " " }},
		"a huge name":          {"name", func(c *lifecycle.Contact) { c.Name = secret + strings.Repeat("x", 1<<20) }},
		"not UTF-8":            {"name", func(c *lifecycle.Contact) { c.Name = secret + "\xff" }},
		"control bytes":        {"name", func(c *lifecycle.Contact) { c.Name = secret + "\x00" }},
		"two lines in one":     {"city", func(c *lifecycle.Contact) { c.City = secret + "\r\nX" }},
		"text that turns":      {"organization", func(c *lifecycle.Contact) { c.Organization = secret + "\u202eX" }},
		"a separator of lines": {"region", func(c *lifecycle.Contact) { c.Region = secret + "\u2028X" }},
		"no street":            {"street", func(c *lifecycle.Contact) { c.Street = nil }},
		"an empty line":        {"street", func(c *lifecycle.Contact) { c.Street = []string{secret, ""} }},
		"four lines":           {"street", func(c *lifecycle.Contact) { c.Street = []string{secret, "b", "c", "d"} }},
		"no city":              {"city", func(c *lifecycle.Contact) { c.City = "" }},
		"a long postal code":   {"postalCode", func(c *lifecycle.Contact) { c.PostalCode = secret + strings.Repeat("1", 16) }},
		"no country":           {"country", func(c *lifecycle.Contact) { c.Country = "" }},
		"three letters":        {"country", func(c *lifecycle.Contact) { c.Country = "GBR" }},
		"digits":               {"country", func(c *lifecycle.Contact) { c.Country = "12" }},
		"no phone":             {"phone", func(c *lifecycle.Contact) { c.Phone = "" }},
		"no country code":      {"phone", func(c *lifecycle.Contact) { c.Phone = "02079460000" }},
		"letters in a number":  {"phone", func(c *lifecycle.Contact) { c.Phone = "+44." + secret }},
		"no e-mail":            {"email", func(c *lifecycle.Contact) { c.Email = "" }},
		"no host":              {"email", func(c *lifecycle.Contact) { c.Email = secret }},
		"two addresses":        {"email", func(c *lifecycle.Contact) { c.Email = secret + "@example.com,b@example.com" }},
		"a quoted part":        {"email", func(c *lifecycle.Contact) { c.Email = `"` + secret + `"@example.com` }},
		"a long local part":    {"email", func(c *lifecycle.Contact) { c.Email = secret + strings.Repeat("x", 60) + "@example.com" }},
	} {
		bad := ada
		bad.Street = slices.Clone(ada.Street)
		c.change(&bad)
		got, err := lifecycle.ParseContact(bad)
		if deed.CodeOf(err) != deed.CodeValidation || !strings.HasPrefix(err.Error(), "VALIDATION_ERROR: "+c.field+":") && !strings.Contains(err.Error(), c.field+":") {
			t.Errorf("%s: got %v, want %s", title, err, c.field)
		}
		if err != nil && strings.Contains(err.Error(), secret) || got.Name != "" {
			t.Errorf("%s: got %+v, %v", title, got, err)
		}
	}
}
