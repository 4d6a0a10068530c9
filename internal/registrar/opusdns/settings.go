package opusdns

import (
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/secretfile"
)

// New opens the account of a [registrar.NAME] block. docs/registrar-opusdns.md lists
// its keys.
func New(s registrar.Settings) (registrar.Backend, error) {
	r := s.Read()
	environment := r.Choice("environment", "production", "sandbox", "custom")
	cfg := Config{
		BaseURL: baseURLs[environment], Secret: s.Secret,
		Organization: r.Needed("organization"), Contact: r.Text("contact"), Registrant: readContact(r),
		RequestsPerSecond: r.Int("requests_per_second", 1, 1000), Timeout: r.Duration("timeout"), ClockSkew: r.Duration("clock_skew"),
		PriceAge: r.Duration("price_age"), ListWithoutDS: r.Bool("list_without_ds"), Now: s.Now, Log: s.Log,
	}
	if url := r.Text("base_url"); url != "" {
		cfg.BaseURL = url
	}
	cfg.Key = r.SecretFile("key_file", secretfile.Read)
	deadline := r.Deadline()
	if err := r.Err(); err != nil {
		return registrar.Backend{}, err
	}
	b, err := Open(cfg)
	if err != nil {
		return registrar.Backend{}, err
	}
	return registrar.Backend{Registrar: b, Manager: b, Ping: b.Ping, Deadline: deadline, NotReal: environment == "sandbox"}, nil
}

// baseURLs are the addresses of the vendor; a custom one is in base_url.
var baseURLs = map[string]string{"production": ProductionURL, "sandbox": SandboxURL}

func readContact(r *registrar.Reader) Contact {
	return Contact{
		FirstName: r.Text("registrant_first_name"), LastName: r.Text("registrant_last_name"), Organization: r.Text("registrant_organization"),
		Email: r.Text("registrant_email"), Phone: r.Text("registrant_phone"), Street: r.Text("registrant_street"), City: r.Text("registrant_city"),
		State: r.Text("registrant_state"), PostalCode: r.Text("registrant_postal_code"), Country: r.Text("registrant_country"),
	}
}
