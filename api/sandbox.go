package api

import "time"

// Sandbox describes the embedded chain, registry and name server.
type Sandbox struct {
	ChainID uint64    `json:"chainId"`
	RPCURL  string    `json:"rpcUrl"`
	USDC    string    `json:"usdc"`
	DNS     string    `json:"dns,omitzero"` // address of the embedded name server
	Now     time.Time `json:"now"`

	ChainNow time.Time `json:"chainNow"`
	Note     string    `json:"note,omitzero"`

	Faults SandboxFaults `json:"faults"`
}

// SandboxFaults are the injected faults.
type SandboxFaults struct {
	Registrar string `json:"registrar"`
}

// FaultsRequest injects a fault into the embedded registry.
type FaultsRequest struct {
	Registrar string `json:"registrar"`
	Times     *int   `json:"times,omitzero"` // nil means until the next request
}

// LimitsReset is the response to a reset of all limits.
type LimitsReset struct {
	Message string `json:"message"`
}

// FaucetRequest asks for test USDC.
type FaucetRequest struct {
	WalletAddress string `json:"walletAddress"`
	Amount        string `json:"amount_usd,omitzero"`
}

// Faucet is the response of the faucet.
type Faucet struct {
	TxHash  string `json:"txHash"`
	Balance string `json:"balance_usd"`
}

// ClockRequest moves the clock of the registry and of expiry forward.
type ClockRequest struct {
	Advance string `json:"advance"`        // "36h", "400d"
	Chain   bool   `json:"chain,omitzero"` // also the chain's clock
}

// Clock is the new time of that clock.
type Clock struct {
	Now      time.Time `json:"now"`
	ChainNow time.Time `json:"chainNow,omitzero"`
}

// ElsewhereRequest registers a name at another registrar or, with an auth code,
// starts the transfer of a name to another registrar.
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

// DecisionRequest approves or rejects a pending transfer.
type DecisionRequest struct {
	Domain  string `json:"domain"`
	Approve *bool  `json:"approve"` // required: an omitted field must not reject a transfer
}
