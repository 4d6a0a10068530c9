package epp

import (
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/secretfile"
)

// New opens the account of a [registrar.NAME] block. docs/registrars.md lists its
// keys.
func New(s registrar.Settings) (registrar.Backend, error) {
	r := s.Read()
	cfg := Config{
		Address: r.Needed("address"), ClientID: r.Needed("client_id"), CertFile: r.Text("cert_file"), KeyFile: r.Text("key_file"),
		CAFile: r.Text("ca_file"), ServerName: r.Text("server_name"),
		Secret: s.Secret, Purchase: s.Purchase, PaidUntil: s.PaidUntil, Now: s.Now, Log: s.Log,
		Limits:     Limits{Sessions: r.Int("sessions", 1, 64), Timeout: r.Duration("timeout"), KeepAlive: r.Duration("keep_alive")},
		Profile:    readProfile(r),
		Registrant: readContact(r),
	}
	if _, err := secretfile.Read(cfg.KeyFile); cfg.KeyFile != "" && err != nil {
		r.Fail("key_file", err)
	}
	cfg.Password = r.SecretFile("password_file", secretfile.Read)
	deadline := r.Deadline()
	if err := r.Err(); err != nil {
		return registrar.Backend{}, err
	}
	b, err := Open(cfg)
	if err != nil {
		return registrar.Backend{}, err
	}
	return registrar.Backend{Registrar: b, Manager: b, Ping: b.Ping, Close: b.Close, Deadline: deadline}, nil
}

func readProfile(r *registrar.Reader) Profile {
	return Profile{
		Without:        r.List("without"),
		Contacts:       contactChoices[r.Choice("contacts", "none", "registrant", "all")],
		HostAttributes: r.Choice("hosts", "objects", "attributes") == "attributes",
		IDNTable:       r.Text("idn_table"),
		MinYears:       r.Int("min_years", 1, 10),
		MaxYears:       r.Int("max_years", 1, 10),
		AutoRenew:      r.Bool("auto_renew"),
		RestoreReport:  r.Bool("restore_report"),
		Unlocked:       r.Bool("unlocked"),
		HiddenAuthInfo: r.Bool("hidden_auth_info"),
	}
}

var contactChoices = map[string]Contacts{"none": ContactsNone, "registrant": ContactsRegistrant, "all": ContactsAll}

func readContact(r *registrar.Reader) lifecycle.Contact {
	return lifecycle.Contact{
		Name: r.Text("registrant_name"), Organization: r.Text("registrant_organization"), Street: r.List("registrant_street"),
		City: r.Text("registrant_city"), Region: r.Text("registrant_region"), PostalCode: r.Text("registrant_postal_code"),
		Country: r.Text("registrant_country"), Phone: r.Text("registrant_phone"), Email: r.Text("registrant_email"),
	}
}
