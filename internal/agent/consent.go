package agent

// A Consent is what the person beside an agent lets it do with their wallet.
type Consent struct {
	Wallet  string // address of the wallet that signs; "" when there is none that can
	Problem string // why there is none

	MaxPrice string // USDC that one call may cost; "" when nobody said
	Budget   string // USDC that all calls of this run may cost together; likewise
}

// Spends reports whether anything may be spent: there is a wallet that can sign,
// and a person named both limits.
func (c Consent) Spends() bool { return c.Wallet != "" && c.MaxPrice != "" && c.Budget != "" }
