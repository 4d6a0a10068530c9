package api

import "time"

// Sandbox says what the embedded parts are and where they listen.
type Sandbox struct {
	ChainID uint64    `json:"chainId"`
	RPCURL  string    `json:"rpcUrl"`
	USDC    string    `json:"usdc"`
	DNS     string    `json:"dns,omitzero"` // address of the embedded name server
	Now     time.Time `json:"now"`

	Faults SandboxFaults `json:"faults"`
}

// SandboxFaults says in which ways the embedded parts fail on purpose.
type SandboxFaults struct {
	Registrar string `json:"registrar"`
}

// FaultsRequest asks the embedded registry to fail, so many times.
type FaultsRequest struct {
	Registrar string `json:"registrar"`
	Times     *int   `json:"times,omitzero"` // nil is until it is set again
}

// FaucetRequest asks for play USDC.
type FaucetRequest struct {
	WalletAddress string `json:"walletAddress"`
	Amount        string `json:"amount_usd,omitzero"`
}

// Faucet says what the faucet gave.
type Faucet struct {
	TxHash  string `json:"txHash"`
	Balance string `json:"balance_usd"`
}

// ClockRequest moves the clock of the registry and of expiry forward.
type ClockRequest struct {
	Advance string `json:"advance"` // "36h", "400d"
}

// Clock is what that clock now says.
type Clock struct {
	Now time.Time `json:"now"`
}

// ElsewhereRequest registers a name at another registrar, or moves one of ours
// there with its code.
type ElsewhereRequest struct {
	Domain   string `json:"domain"`
	AuthCode string `json:"authCode,omitzero"`
}

// Elsewhere is a name at another registrar.
type Elsewhere struct {
	Domain   string `json:"domain"`
	AuthCode string `json:"authCode,omitzero"`
	Message  string `json:"message"`
}

// DecisionRequest ends a transfer that is under way.
type DecisionRequest struct {
	Domain  string `json:"domain"`
	Approve bool   `json:"approve"`
}
