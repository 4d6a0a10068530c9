package app

import (
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
)

// realConfig is a configuration in which everything but the registry is real.
func realConfig(t *testing.T) *Config {
	t.Helper()
	c := Default()
	c.Data, c.ChainID, c.ChainRPCURL, c.ChainFirst, c.PayTo = t.TempDir(), 8453, "https://rpc.acme.net", 1, "0x71C7656EC7ab88b098defB751B7401B5f6d8976F"
	c.PublicURL, c.Contact, c.Nameservers = "https://names.acme.net", "security@acme.net", []string{"ns1.acme.net", "ns2.acme.net"}
	c.Registrar.Name, c.Registrar.AbuseEmail, c.Registrar.AbusePhone = "Acme Names Ltd", "abuse@acme.net", "+44.2079460000"
	for path, at := range map[string]*string{"gas.key": &c.GasKey, "refund.key": &c.RefundKey} {
		*at = filepath.Join(t.TempDir(), path)
		writeHexKey(t, *at, hex.EncodeToString(crypto.FromECDSA(newKey(t))))
	}
	return &c
}

func writeHexKey(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPlaceholdersAreRefusedWithRealMoney(t *testing.T) {
	if got := realConfig(t).placeholders(); len(got) != 0 {
		t.Errorf("real settings: got %q", got)
	}
	for key, spoil := range map[string]func(c *Config){
		`public_url: ""`:                             func(c *Config) { c.PublicURL = "" },
		`public_url: "https://deed.example"`:         func(c *Config) { c.PublicURL = "https://deed.example" },
		`public_url: "http://127.0.0.1:8080"`:        func(c *Config) { c.PublicURL = "http://127.0.0.1:8080" },
		`public_url: "http://localhost:8080"`:        func(c *Config) { c.PublicURL = "http://localhost:8080" },
		`contact: "security@deed.example"`:           func(c *Config) { c.Contact = Default().Contact },
		`contact: "me@example.com"`:                  func(c *Config) { c.Contact = "me@example.com" },
		`rdap.registrar: "Deed"`:                     func(c *Config) { c.Registrar.Name = "Deed" },
		`rdap.abuse_email: "abuse@deed.example"`:     func(c *Config) { c.Registrar.AbuseEmail = Default().Registrar.AbuseEmail },
		`rdap.abuse_email: "abuse@mail.EXAMPLE.org"`: func(c *Config) { c.Registrar.AbuseEmail = "abuse@mail.EXAMPLE.org" },
		`rdap.abuse_phone: "+1.2025550100"`:          func(c *Config) { c.Registrar.AbusePhone = Default().Registrar.AbusePhone },
		`rdap.contact_url: "https://a.test/contact"`: func(c *Config) { c.Registrar.Contact = "https://a.test/contact" },
		`dns.nameservers: "ns2.deed.example"`:        func(c *Config) { c.Nameservers = []string{"ns1.acme.net", "ns2.deed.example"} },
	} {
		c := realConfig(t)
		spoil(c)
		if _, err := c.Validate(); err == nil || !strings.Contains(err.Error(), "\n  "+key+" is a placeholder\n") {
			t.Errorf("got %v, want it to name %s", err, key)
		}
		c.AllowEmbedded = true
		if warned, err := c.Validate(); err != nil || !slices.Contains(warned, "REHEARSAL: "+key+" is a placeholder") {
			t.Errorf("in a rehearsal: got %q, %v, want a warning of %s", warned, err, key)
		}
	}
	defaults := Default()
	if got := defaults.placeholders(); len(got) != 7 {
		t.Errorf("the defaults: got %q, want each of them", got)
	}
}

// Keys of a sandbox lie in a folder that nobody guards, and those of development
// chains are printed in every manual.
func TestSandboxKeysAreRefusedWithRealMoney(t *testing.T) {
	if _, err := realConfig(t).Validate(); err == nil || strings.Contains(err.Error(), "wallet") {
		t.Errorf("keys of our own: got %v", err)
	}
	const anvil = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80" // its first account
	treasury := newKey(t)
	inSandbox := func(c *Config, name string) string { return filepath.Join(c.chainFolder(), name) }
	for want, spoil := range map[string]func(c *Config){
		"chain.gas_key: 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 is the wallet of a development chain": func(c *Config) {
			writeHexKey(t, c.GasKey, "0x"+anvil)
		},
		"pay_to: 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 is the wallet of a development chain": func(c *Config) {
			c.PayTo = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"
		},
		"chain.refund_key: ": func(c *Config) { // the file of the sandbox itself
			c.RefundKey = inSandbox(c, "refund.key")
			writeHexKey(t, c.RefundKey, hex.EncodeToString(crypto.FromECDSA(newKey(t))))
		},
		"chain.gas_key: ": func(c *Config) { // a copy of it
			raw, err := os.ReadFile(c.GasKey)
			if err != nil {
				t.Fatal(err)
			}
			writeHexKey(t, inSandbox(c, "faucet.key"), string(raw))
		},
		"pay_to: " + crypto.PubkeyToAddress(treasury.PublicKey).Hex() + " is the wallet of the embedded chain": func(c *Config) {
			writeHexKey(t, inSandbox(c, "treasury.key"), hex.EncodeToString(crypto.FromECDSA(treasury)))
			c.PayTo = crypto.PubkeyToAddress(treasury.PublicKey).Hex()
		},
	} {
		c := realConfig(t)
		spoil(c)
		if _, err := c.Validate(); err == nil || !strings.Contains(err.Error(), "\n  "+want) {
			t.Errorf("got %v, want it to say %s", err, want)
		}
		c.AllowEmbedded = true
		if warned, err := c.Validate(); err != nil || !slices.ContainsFunc(warned, func(w string) bool { return strings.HasPrefix(w, "REHEARSAL: "+want) }) {
			t.Errorf("in a rehearsal: got %q, %v, want %s", warned, err, want)
		}
	}
	for _, address := range developmentWallets {
		if common.HexToAddress(address).Hex() != address {
			t.Errorf("%s is misspelled", address)
		}
	}
	missing := realConfig(t)
	missing.RefundKey, missing.AllowEmbedded = "", true
	if _, err := missing.Validate(); err == nil || !strings.Contains(err.Error(), "chain.refund_key") {
		t.Errorf("no refund key: got %v", err)
	}
}

func TestWarnings(t *testing.T) {
	c := Default()
	if w := c.warnings(); len(w) != 0 {
		t.Errorf("the defaults: got %q", w)
	}
	c.MetricsListen, c.DatabaseURL = "0.0.0.0:8081", "postgres://db.example/deed"
	if w := c.warnings(); len(w) != 2 {
		t.Errorf("got %q, want two", w)
	}
	c = Default()
	c.ChainRPCURL, c.PayTo = "https://rpc.example", "0x71c7656ec7ab88b098defb751b7401b5f6d8976f"
	if w := c.warnings(); len(w) != 1 || !strings.Contains(w[0], "chain.from_block") {
		t.Errorf("got %q, want one about old money", w)
	}
	if c.ChainFirst = 1; len(c.warnings()) != 0 {
		t.Errorf("got %q, want none", c.warnings())
	}
	c.PayTo = ""
	if w := c.warnings(); len(w) != 1 || !strings.Contains(w[0], "pay_to") {
		t.Errorf("got %q, want one about the treasury", w)
	}
	c = Default()
	c.PrimaryListen = "127.0.0.1:5354"
	if w := c.warnings(); len(w) != 1 || !strings.Contains(w[0], "dns.primary_allow") {
		t.Errorf("got %q, want one about transfers", w)
	}
	c.PrimaryListen, c.Secondaries = off, []string{"ns1.example@192.0.2.1:53"}
	if w := c.warnings(); len(w) != 1 || !strings.Contains(w[0], "dns.primary_listen is not") {
		t.Errorf("got %q, want one about transfers", w)
	}
	c = Default()
	c.Registrars = []RegistrarConfig{{Name: "a", Type: localKind}}
	if w := c.warnings(); len(w) != 0 {
		t.Errorf("got %q, want none about the embedded registry", w)
	}
	c.Registrars[0].TLDs = []string{"*", ".com", "net", "no-such-tld"}
	if w := c.warnings(); len(w) != 1 || !strings.Contains(w[0], ".no-such-tld is not in the list") {
		t.Errorf("got %q, want one about a TLD", w)
	}
	c.Registrars = []RegistrarConfig{{Name: "b", Type: "opusdns"}}
	if w := c.warnings(); len(w) != 1 || !strings.Contains(w[0], "registrar b charges") {
		t.Errorf("got %q, want one about test money", w)
	}
	c.ChainRPCURL, c.PayTo, c.ChainFirst = "https://rpc.example", "0x71c7656ec7ab88b098defb751b7401b5f6d8976f", 1
	if w := c.warnings(); len(w) != 0 {
		t.Errorf("got %q, want none", w)
	}
}

// A configuration that does not start with Default is refused, and nothing panics.
func TestRequiredFields(t *testing.T) {
	for name, clear := range map[string]func(c *Config){
		"everything":        func(c *Config) { *c = Config{} },
		"data":              func(c *Config) { c.Data = "" },
		"nameservers":       func(c *Config) { c.Nameservers = nil },
		"the page of terms": func(c *Config) { c.Terms.Version = "1" },
		"searches":          func(c *Config) { c.Search = SearchConfig{} },
		"calls of searches": func(c *Config) { c.Search.MaxCalls = 0 },
	} {
		c := sandbox(t)
		clear(&c)
		if _, err := Open(t.Context(), c); err == nil {
			t.Errorf("without %s it opens", name)
		}
	}
}

// Money that is paid before chain.from_block is nobody's, so the block must be there.
func TestFirstBlockIsThere(t *testing.T) {
	c := sandbox(t)
	c.ChainFirst = 30_000_000
	if _, err := Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), "chain.from_block: it is 30000000") {
		t.Errorf("got %v", err)
	}
}

// A block of a registrar has its markup for the TLDs that it sells, also when that is
// nothing.
func TestMarkupsOfBlocks(t *testing.T) {
	free, some := &catalog.Markup{}, &catalog.Markup{BasisPoints: 100}
	of := registrarMarkup([]RegistrarConfig{{TLDs: []string{".COM"}, Markup: free}, {TLDs: []string{"net"}}, {TLDs: []string{"*"}, Markup: some}})
	for tld, want := range map[deed.TLD]*catalog.Markup{"com": free, "net": nil, "org": some} {
		got, ok := of(tld)
		if ok != (want != nil) || ok && got != *want {
			t.Errorf("%s: got %+v, %t, want %+v", tld, got, ok, want)
		}
	}
}

// Everything that is wrong with the blocks of registrars is found before the start, all
// at once.
func TestBlocksAreChecked(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	writeHexKey(t, key, "secret")
	empty := filepath.Join(t.TempDir(), "empty")
	writeHexKey(t, empty, "\n")
	public := filepath.Join(t.TempDir(), "public")
	writeHexKey(t, public, "\n")
	if err := os.Chmod(public, 0o644); err != nil {
		t.Fatal(err)
	}
	vendor := func(more map[string]string) map[string]string {
		values := map[string]string{"key_file": key, "organization": "organization_01h45ytscbebyvny4gc8cr8ma2", "contact": "contact_01h45ytscbebyvny4gc8cr8ma2"}
		maps.Copy(values, more)
		return values
	}
	block := func(name, kind string, values map[string]string, tlds ...string) RegistrarConfig {
		return RegistrarConfig{Name: name, Type: kind, TLDs: tlds, Values: values}
	}
	for title, c := range map[string]struct {
		blocks []RegistrarConfig
		want   []string
	}{
		"all is well":     {[]RegistrarConfig{block("a", "opusdns", vendor(nil), "com")}, nil},
		"two blocks":      {[]RegistrarConfig{block("a", "opusdns", map[string]string{"key_fil": "x"}, "com"), block("b", "epp", nil, "net")}, []string{"registrar.a: ", "no key key_fil", "key_file must be set", "registrar.b: ", "address must be set", "password_file must be set"}},
		"an unknown type": {[]RegistrarConfig{block("a", "eep", nil, "com")}, []string{`registrar.a: type "eep": there are epp, `}},
		"no TLDs":         {[]RegistrarConfig{block("a", "opusdns", vendor(nil))}, []string{"registrar.a: tlds must be set"}},
		"not a TLD":       {[]RegistrarConfig{block("a", "opusdns", vendor(nil), "c om")}, []string{"registrar.a: tlds: "}},
		"one TLD, twice":  {[]RegistrarConfig{block("a", "opusdns", vendor(nil), "com"), block("b", "opusdns", vendor(nil), "com")}, []string{"registrar b: .com is already sold by a"}},
		"no file":         {[]RegistrarConfig{block("a", "opusdns", vendor(map[string]string{"key_file": key + "x"}), "com")}, []string{"registrar.a: key_file "}},
		"an empty file":   {[]RegistrarConfig{block("a", "opusdns", vendor(map[string]string{"key_file": empty}), "com")}, []string{"registrar.a: key_file names an empty file"}},
		"an empty certificate": {[]RegistrarConfig{block("a", "epp", map[string]string{"address": "127.0.0.1:700", "client_id": "x", "password_file": key, "cert_file": empty, "key_file": empty}, "com")},
			[]string{"registrar.a: ", "cert_file " + empty}},
		"a certificate whose key others can read": {[]RegistrarConfig{block("a", "epp", map[string]string{"address": "127.0.0.1:700", "client_id": "x", "password_file": key, "cert_file": public, "key_file": public}, "com")},
			[]string{"registrar.a: ", "key_file " + public}},
		"an empty authority": {[]RegistrarConfig{block("a", "epp", map[string]string{"address": "127.0.0.1:700", "client_id": "x", "password_file": key, "ca_file": empty}, "com")},
			[]string{"registrar.a: ", "ca_file " + empty}},
		"a wrong number": {[]RegistrarConfig{block("a", "opusdns", vendor(map[string]string{"requests_per_second": "0"}), "com")}, []string{"requests_per_second must be a number from 1 to 1000"}},
		"a wrong common": {[]RegistrarConfig{block("a", "opusdns", vendor(map[string]string{"cancel_percent": "101"}), "com")}, []string{"cancel_percent must be a number from 0 to 100"}},
		"owners":         {[]RegistrarConfig{block("a", "opusdns", vendor(map[string]string{"registrant_mode": "owner_required"}), "com")}, nil},
		"a wrong mode":   {[]RegistrarConfig{block("a", "opusdns", vendor(map[string]string{"registrant_mode": "owner"}), "com")}, []string{"registrant_mode must be one of proxy, owner_optional, owner_required"}},
		"no registrants": {[]RegistrarConfig{block("a", "epp", map[string]string{"address": "127.0.0.1:700", "client_id": "x", "password_file": key, "registrant_mode": "owner_optional"}, "com")},
			[]string{"registrant_mode is owner_optional, and this registrar has no registrants"}},
		"local has no key": {[]RegistrarConfig{block("a", "local", map[string]string{"address": "x"}, "*")}, []string{"no key address"}},
	} {
		config := Default()
		config.Registrars = c.blocks
		_, err := config.Validate()
		if (err == nil) != (len(c.want) == 0) {
			t.Errorf("%s: got %v", title, err)
		}
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q in it", title, err, want)
			}
		}
	}
}

// Real money does not buy names of a test system, and a registrant that nobody can reach
// is not sent to a registry.
func TestBlocksWithRealMoney(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	writeHexKey(t, key, "secret")
	c := realConfig(t)
	values := map[string]string{
		"key_file": key, "organization": "organization_01h45ytscbebyvny4gc8cr8ma2", "registrant_first_name": "Ada", "registrant_last_name": "Byron",
		"registrant_email": "ada@acme.net", "registrant_phone": "+44.2079460000", "registrant_street": "1 Street", "registrant_city": "London",
		"registrant_postal_code": "N1", "registrant_country": "GB",
	}
	c.Registrars = []RegistrarConfig{{Name: "a", Type: "opusdns", TLDs: []string{"*"}, Values: values}}
	if warned, err := c.Validate(); err != nil || len(warned) != 0 {
		t.Fatalf("got %q, %v", warned, err)
	}
	values["registrant_email"], values["registrant_phone"], values["environment"] = "ada@example.org", "+1.2025550100", "sandbox"
	_, err := c.Validate()
	for _, want := range []string{`registrar.a.registrant_email: "ada@example.org"`, `registrar.a.registrant_phone: "+1.2025550100"`, "registrar.a: it is a test system"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	c.AllowEmbedded = true
	if warned, err := c.Validate(); err != nil || len(warned) != 3 {
		t.Errorf("in a rehearsal: got %q, %v", warned, err)
	}
}

// HTTPS for FORWARD needs an account at a certificate authority, and says what it will
// do.
func TestRedirectsOverHTTPSNeedAnAccount(t *testing.T) {
	c := Default()
	if got := c.DescribeRedirects(); got != "" {
		t.Errorf("by default: got %q", got)
	}
	c.RedirectTLSListen = "127.0.0.1:443"
	if _, err := c.Validate(); err == nil || !strings.Contains(err.Error(), "redirect.acme_email") {
		t.Errorf("without an account: got %v", err)
	}
	c.ACMEEmail = "hostmaster@acme.net"
	warned, err := c.Validate()
	if err != nil || !slices.ContainsFunc(warned, func(w string) bool { return strings.Contains(w, "redirect.addresses") }) {
		t.Errorf("without addresses: got %q, %v", warned, err)
	}
	if got, want := c.DescribeRedirects(), "HTTPS at 127.0.0.1:443, certificates from https://acme-v02.api.letsencrypt.org/directory for hostmaster@acme.net"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.RedirectListen, c.RedirectTLSListen = "127.0.0.1:80", off
	if warned, err := c.Validate(); err != nil || !slices.ContainsFunc(warned, func(w string) bool { return strings.Contains(w, "redirect.tls_listen is not") }) {
		t.Errorf("without the listener: got %q, %v", warned, err)
	}
	c.RedirectTLSListen, c.CertificatesHour = "127.0.0.1:443", 0
	if _, err := c.Validate(); err == nil {
		t.Error("no certificate an hour was accepted")
	}
}
