package app

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed/internal/network"
	"deed.example/deed/internal/signer/file"
)

// Outside reports whether callers pay on a chain that is not the embedded one of
// this process. Its money may be real: a chain ID alone does not tell.
func (c *Config) Outside() bool {
	return c.Hooks.Chain == nil && c.ChainRPCURL != "" || c.ChainID != network.EmbeddedChainID
}

// Validate returns an error if this configuration must not run, and warnings about
// what the operator may not have intended.
//
// Real money must buy real names. On an external chain, the embedded registry,
// placeholders and the keys of a sandbox are rejected, unless
// registrar.allow_embedded declares a rehearsal.
func (c *Config) Validate() ([]string, error) {
	if err := c.checkRequired(); err != nil {
		return nil, err
	}
	out := c.warnings()
	notReal, err := c.checkBlocks()
	if err != nil {
		return out, err
	}
	if !c.Outside() {
		return out, nil
	}
	if c.ChainRPCURL == "" {
		return out, fmt.Errorf("chain.id is %d and the embedded chain is %d: set chain.rpc_url too", c.ChainID, network.EmbeddedChainID)
	}
	if c.WebhooksAllowLocal {
		return out, errors.New("webhooks.allow_local is for a sandbox: strangers could reach what only this machine can reach")
	}
	if c.SandboxPublic {
		return out, errors.New("sandbox.public is for the embedded chain, with test money: leave it out")
	}
	keys, err := c.sandboxKeysInUse()
	if err != nil {
		return out, err
	}
	problems := slices.Concat(notReal, c.placeholders(), c.registrantPlaceholders())
	if c.SellsEmbedded() {
		problems = append([]string{"registrar: names come from the embedded registry, so nothing that is sold is in the public DNS: configure a [registrar.NAME] block of another type"}, problems...)
	}
	problems = append(problems, keys...)
	if len(problems) == 0 {
		return out, nil
	}
	if !c.AllowEmbedded {
		return out, fmt.Errorf("chain %d is not the embedded one, so callers may pay with real money, and this must not meet it:\n  %s\nset these, or say that this is a rehearsal: registrar.allow_embedded = true",
			c.ChainID, strings.Join(problems, "\n  "))
	}
	for _, p := range problems {
		out = append(out, "REHEARSAL: "+p)
	}
	return out, nil
}

// checkRequired returns an error if a field without a usable zero value is not set.
// The command never leaves one out; a program that does not start with Default may.
func (c *Config) checkRequired() error {
	switch {
	case c.Data == "":
		return errors.New("data: name a folder")
	case (c.Terms.Version == "") != (c.Terms.URL == ""):
		return errors.New("terms.version and terms.url: set both, or none")
	case len(c.Nameservers) == 0:
		return errors.New("dns.nameservers: name at least one host")
	case c.DatabaseDirectURL != "" && c.DatabaseURL == "":
		return errors.New("database.direct_url is for database.url: set it, too")
	case c.ChainFallback != "" && c.ChainRPCURL == "":
		return errors.New("chain.rpc_fallback_url is for chain.rpc_url: set it, too")
	case c.ChainQuorum > 1 && c.ChainFallback == "":
		return errors.New("chain.quorum is for two endpoints: set chain.rpc_fallback_url, too")
	case c.SignerURL != "" && (c.GasWallet == "" || c.RefundWallet == "" || c.GasKey != "" || c.RefundKey != ""):
		return errors.New("chain.signer_url needs chain.gas_wallet and chain.refund_wallet, and neither chain.gas_key nor chain.refund_key: the keys are at the signer")
	case c.SignerURL == "" && (c.GasWallet != "" || c.RefundWallet != ""):
		return errors.New("chain.gas_wallet and chain.refund_wallet are for chain.signer_url: set it, or the files of the keys")
	case c.RedirectTLSListen != off && c.ACMEEmail == "":
		return errors.New("redirect.tls_listen needs certificates: set redirect.acme_email, which agrees to the terms of the certificate authority (redirect.acme_directory)")
	case c.RedirectTLSListen != off && c.CertificatesHour < 1:
		return errors.New("redirect.certificates_per_hour: at least one")
	case c.Search.MaxParallel < 1 || c.Search.MaxCalls < 1:
		return errors.New("a search needs at least one call of the registrar")
	}
	return nil
}

// reserved matches reserved domain names (RFC 2606, RFC 6761).
var reserved = regexp.MustCompile(`(?i)(^|\.)(example|test|invalid|localhost|example\.(com|net|org))\.?$`)

// fictional matches fictional telephone numbers.
var fictional = regexp.MustCompile(`^\+1\.?[0-9]{3}55501[0-9]{2}$`)

// placeholders returns the settings about the operator that still have placeholder
// values. Their values are public and must lead to the operator.
func (c *Config) placeholders() []string {
	var out []string
	add := func(key, value string, placeholder bool) {
		if placeholder {
			out = append(out, fmt.Sprintf("%s: %q is a placeholder", key, value))
		}
	}
	mail := func(address string) bool {
		_, domain, _ := strings.Cut(address, "@")
		return reserved.MatchString(domain)
	}
	add("public_url", c.PublicURL, unreachableURL(c.PublicURL))
	add("contact", c.Contact, mail(c.Contact))
	add("rdap.registrar", c.Registrar.Name, c.Registrar.Name == Default().Registrar.Name)
	add("rdap.abuse_email", c.Registrar.AbuseEmail, mail(c.Registrar.AbuseEmail))
	add("rdap.abuse_phone", c.Registrar.AbusePhone, fictional.MatchString(c.Registrar.AbusePhone))
	add("rdap.contact_url", c.Registrar.Contact, c.Registrar.Contact != "" && unreachableURL(c.Registrar.Contact))
	for _, host := range c.Nameservers {
		add("dns.nameservers", host, reserved.MatchString(host))
	}
	return out
}

// unreachableURL reports whether a URL has a reserved or local host.
func unreachableURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || s == "" {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return reserved.MatchString(u.Hostname()) || err == nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// developmentWallets are the first accounts of anvil and Hardhat. Their keys are
// public, and money sent to them on a real chain is stolen at once.
var developmentWallets = []string{
	"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
	"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
	"0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65", "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
	"0x976EA74026E726554dB657fA54763abd0C3a0aa9", "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955",
	"0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f", "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720",
}

// sandboxKeysInUse returns the wallets whose keys belong to a sandbox in the data
// folder, or are public. It fails if a key cannot be read.
func (c *Config) sandboxKeysInUse() ([]string, error) {
	if c.PayTo == "" {
		return nil, nil // no payments are accepted, and no key is read
	}
	ours := []struct {
		key     string
		address common.Address
	}{{"pay_to", common.HexToAddress(c.PayTo)}, {key: "chain.gas_key"}, {key: "chain.refund_key"}}
	for i, path := range []string{c.GasKey, c.RefundKey} {
		if c.SignerURL != "" {
			ours[i+1].key, ours[i+1].address = []string{"chain.gas_wallet", "chain.refund_wallet"}[i], common.HexToAddress([]string{c.GasWallet, c.RefundWallet}[i])
			continue
		}
		s, err := file.Open(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", ours[i+1].key, err)
		}
		ours[i+1].address = common.HexToAddress(string(s.Address()))
	}
	if err := checkDistinct(ours[0].address, ours[1].address, ours[2].address); err != nil {
		return nil, err
	}
	whose := map[common.Address]string{}
	for _, address := range developmentWallets {
		whose[common.HexToAddress(address)] = "of a development chain, whose key everybody has"
	}
	for _, name := range []string{"treasury.key", "gas.key", "refund.key", "faucet.key"} {
		path := filepath.Join(c.chainFolder(), name)
		if s, err := file.Open(path); err == nil { // else there is no such sandbox here
			whose[common.HexToAddress(string(s.Address()))] = "of the embedded chain, with its key in " + path
		}
	}
	var out []string
	for _, w := range ours {
		if of := whose[w.address]; of != "" {
			out = append(out, fmt.Sprintf("%s: %s is the wallet %s", w.key, w.address.Hex(), of))
		}
	}
	return out, nil
}
