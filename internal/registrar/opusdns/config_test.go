package opusdns_test

import (
	"fmt"
	"strings"
	"testing"

	"deed.example/deed/internal/registrar/opusdns"
	"deed.example/deed/internal/registrar/opusdns/opusdnstest"
)

func TestConfig(t *testing.T) {
	good := opusdns.Config{
		BaseURL: opusdns.SandboxURL, Key: "opk_secret_key", Secret: "sixteen characters", Organization: opusdnstest.Organization,
		Registrant: opusdns.Contact{
			FirstName: "Grace", LastName: "Example", Email: "names@example.com", Phone: "+44.2071234567", Street: "High St 1", City: "London",
			PostalCode: "N1 1AA", Country: "GB",
		},
	}
	if _, err := opusdns.Open(good); err != nil {
		t.Fatal(err)
	}
	for title, change := range map[string]func(*opusdns.Config){
		"no URL":               func(c *opusdns.Config) { c.BaseURL = "" },
		"not encrypted":        func(c *opusdns.Config) { c.BaseURL = "http://api.example.com" },
		"another scheme":       func(c *opusdns.Config) { c.BaseURL = "ftp://127.0.0.1" },
		"a password":           func(c *opusdns.Config) { c.BaseURL = "https://me:secret@api.example.com" },
		"a query":              func(c *opusdns.Config) { c.BaseURL = "https://api.example.com?key=1" },
		"no key":               func(c *opusdns.Config) { c.Key = "" },
		"a key with a newline": func(c *opusdns.Config) { c.Key = "opk_secret_key\n" },
		"a short secret":       func(c *opusdns.Config) { c.Secret = "short" },
		"no organization":      func(c *opusdns.Config) { c.Organization = "" },
		"a path":               func(c *opusdns.Config) { c.Organization += "/../x" },
		"not a contact":        func(c *opusdns.Config) { c.Contact = "contact" },
		"no registrant":        func(c *opusdns.Config) { c.Registrant = opusdns.Contact{} },
		"a phone number":       func(c *opusdns.Config) { c.Registrant.Phone = "020 7123 4567" },
		"a country":            func(c *opusdns.Config) { c.Registrant.Country = "England" },
		"an e-mail":            func(c *opusdns.Config) { c.Registrant.Email = "names" },
		"a long city":          func(c *opusdns.Config) { c.Registrant.City = strings.Repeat("x", 256) },
		"a negative rate":      func(c *opusdns.Config) { c.RequestsPerSecond = -1 },
		"large pages":          func(c *opusdns.Config) { c.PageSize = 1001 },
	} {
		c := good
		change(&c)
		if _, err := opusdns.Open(c); err == nil {
			t.Errorf("%s: no error", title)
		} else if strings.Contains(err.Error(), "opk_secret_key") {
			t.Errorf("%s: the error has the key: %v", title, err)
		}
	}
	if text := fmt.Sprintf("%+v", good); strings.Contains(text, "opk_secret") || strings.Contains(text, "sixteen") {
		t.Errorf("the configuration prints its secrets: %s", text)
	}
	local := good
	for _, url := range []string{"http://127.0.0.1:8080", "http://[::1]:8080/", "http://localhost:1", opusdns.ProductionURL} {
		local.BaseURL = url
		if _, err := opusdns.Open(local); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}
