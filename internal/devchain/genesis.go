package devchain

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"deed.example/deed/contracts"
	"deed.example/deed/internal/secretfile"
)

// faucetETH is what the faucet has to give: a billion play ETH, in wei.
var faucetETH = new(uint256.Int).Mul(uint256.NewInt(1e9), uint256.NewInt(1e18))

// writeGenesis makes the first block. Like any other it goes through the log,
// so a chain keeps the contracts it began with.
func (c *Chain) writeGenesis() error {
	b := newBlockDraft(c.state, headerAfter(nil, c.now()), c.history.hashOf)
	owner := crypto.PubkeyToAddress(c.key.PublicKey)
	b.draft.AddBalance(owner, faucetETH, 0)
	for at, name := range map[string]string{USDC: "USDC", Multicall: "Multicall", WalletFactory: "WalletFactory"} {
		code := contracts.Compiled(name).Code
		b.draft.SetNonce(common.HexToAddress(at), 1, 0) // as a deployed contract has (EIP-161)
		b.draft.SetCode(common.HexToAddress(at), code, 0)
	}
	b.draft.SetState(common.HexToAddress(USDC), common.Hash{}, common.BytesToHash(owner[:])) // slot 0 is the owner
	if err := c.write(b); err != nil {
		return fmt.Errorf("write the first block: %w", err)
	}
	return nil
}

// loadKey reads the faucet's key, or makes it for a new chain.
func loadKey(path string, fresh bool) (*ecdsa.PrivateKey, error) {
	raw, err := secretfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) && fresh {
		raw, _, err = secretfile.ReadOrCreate(path, newKey)
	}
	if err != nil {
		return nil, fmt.Errorf("read the faucet's key: %w", err)
	}
	key, err := crypto.HexToECDSA(strings.TrimSpace(string(raw)))
	if err != nil {
		return nil, fmt.Errorf("%s holds no private key in hex", path) // not a word of what it holds
	}
	return key, nil
}

// newKey returns a new key as its file has it.
func newKey() ([]byte, error) {
	key, err := crypto.GenerateKey()
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return []byte(common.Bytes2Hex(crypto.FromECDSA(key))), nil
}
