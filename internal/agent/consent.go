package agent

// A Consent is what the user of an agent allows it to do with their wallet.
type Consent struct {
	Wallet  string // address of the wallet that signs; "" if there is no usable one
	Problem string // why there is no usable wallet

	MaxPrice string // USDC that one call may cost; "" if not set
	Budget   string // USDC that all calls of this process may cost; "" if not set
	AskAbove string // USDC above which the user is asked about each call, if the agent's client can ask
}

// Spends reports whether anything may be spent: there is a wallet that can sign,
// and the user has set both limits.
func (c Consent) Spends() bool { return c.Wallet != "" && c.MaxPrice != "" && c.Budget != "" }
