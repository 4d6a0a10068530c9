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

// faucetETH is the initial balance of the faucet: a billion test ETH, in wei.
var faucetETH = new(uint256.Int).Mul(uint256.NewInt(1e9), uint256.NewInt(1e18))

// writeGenesis creates the genesis block. Like any other it goes through the log,
// so a chain keeps the contracts it was created with.
func (c *Chain) writeGenesis() error {
	b := newBlockDraft(c.state, headerAfter(nil, c.now()), c.environment())
	defer b.evm.Release()
	owner := crypto.PubkeyToAddress(c.key.PublicKey)
	b.draft.AddBalance(owner, faucetETH, 0)
	for at, name := range map[string]string{USDC: "USDC", Multicall: "Multicall", WalletFactory: "WalletFactory"} {
		code := contracts.Compiled(name).Code
		b.draft.SetNonce(common.HexToAddress(at), 1, 0) // as a deployed contract has (EIP-161)
		b.draft.SetCode(common.HexToAddress(at), code, 0)
	}
	b.draft.SetState(common.HexToAddress(USDC), common.Hash{}, common.BytesToHash(owner[:])) // slot 0 is the owner
	if err := c.write(b); err != nil {
		return fmt.Errorf("write the genesis block: %w", err)
	}
	return nil
}

// loadKey reads the faucet's key, or generates it for a new chain.
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
		return nil, fmt.Errorf("%s holds no private key in hex", path) // without its content
	}
	return key, nil
}

// newKey returns a new key in its file format.
func newKey() ([]byte, error) {
	key, err := crypto.GenerateKey()
	if err != nil {
		return nil, fmt.Errorf("generate a key: %w", err)
	}
	return []byte(common.Bytes2Hex(crypto.FromECDSA(key))), nil
}
