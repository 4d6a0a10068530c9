package app

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/sqldb"
)

// checkBlocks returns what is wrong with the [registrar.NAME] blocks, all of it at
// once: unknown keys, values, files that cannot be read, TLDs that two of them sell, and
// which of them sell names that are not real. It connects to nobody.
func (c *Config) checkBlocks() (notReal []string, err error) {
	a := &App{
		config: *c, log: slog.New(slog.DiscardHandler), chain: &chainBackend{}, calendar: sqldb.NewCalendar(nil, time.Now),
		master: deed.Secret(strings.Repeat("0", 64)), // nothing is ordered with it
	}
	defer func() { err = errors.Join(err, a.closeRegistrars()) }()
	var all []registrar.Backend
	for _, block := range c.EffectiveRegistrars() {
		b, wrong := a.openRegistrar(block)
		if b.Close != nil {
			a.closers = append(a.closers, b.Close)
		}
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("registrar.%s: %w", block.Name, wrong))
			continue
		}
		all = append(all, b)
		if b.NotReal {
			notReal = append(notReal, fmt.Sprintf("registrar.%s: it is a test system, so nothing that is sold is in the public DNS", block.Name))
		}
	}
	if err == nil {
		_, err = registrar.NewRouter(nil, all...)
	}
	return notReal, err
}

// unlistedTLDs returns the TLDs of registrars that the list of TLDs does not have. They are not
// sold.
func (c *Config) unlistedTLDs() (out []string) {
	prices, err := c.Prices()
	if err != nil {
		return nil // which is an error
	}
	for _, block := range c.Registrars {
		for _, text := range block.TLDs {
			tld, err := deed.ParseTLD(text)
			if err != nil {
				continue // "*"
			}
			if _, err := prices.Listing(tld); err != nil {
				out = append(out, fmt.Sprintf("registrar %s: .%s is not in the list of TLDs (`deed price`), so it is not sold", block.Name, tld))
			}
		}
	}
	return out
}

// registrantPlaceholders returns the settings of registrants of record that still have
// placeholder values: a registry shows them, and deletes names whose registrant it
// cannot reach.
func (c *Config) registrantPlaceholders() (out []string) {
	for _, block := range c.EffectiveRegistrars() {
		_, host, _ := strings.Cut(block.Values["registrant_email"], "@")
		if host != "" && reserved.MatchString(host) {
			out = append(out, fmt.Sprintf("registrar.%s.registrant_email: %q is a placeholder", block.Name, block.Values["registrant_email"]))
		}
		if phone := block.Values["registrant_phone"]; fictional.MatchString(phone) {
			out = append(out, fmt.Sprintf("registrar.%s.registrant_phone: %q is a placeholder", block.Name, phone))
		}
	}
	return out
}

// registrantCountries returns the country of the registrant of record of each backend
// whose block says it.
func (c *Config) registrantCountries() map[string]string {
	countries := map[string]string{}
	for _, block := range c.EffectiveRegistrars() {
		if country := block.Values["registrant_country"]; country != "" {
			countries[block.Name] = strings.ToUpper(country)
		}
	}
	return countries
}
