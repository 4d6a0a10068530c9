package api

import "time"

// Sandbox says what the embedded parts are and where they listen.
type Sandbox struct {
	ChainID uint64    `json:"chainId"`
	RPCURL  string    `json:"rpcUrl"`
	USDC    string    `json:"usdc"`
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
	Times     int    `json:"times"`
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
