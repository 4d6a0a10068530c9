package devchain

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"deed.example/deed/contracts"
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
	key, err := crypto.LoadECDSA(path)
	if err == nil {
		return key, nil
	}
	if !errors.Is(err, fs.ErrNotExist) || !fresh {
		return nil, fmt.Errorf("read the faucet's key: %w", err)
	}
	if key, err = crypto.GenerateKey(); err != nil {
		return nil, fmt.Errorf("make the faucet's key: %w", err)
	}
	if err := writeKey(path, key); err != nil {
		return nil, fmt.Errorf("write the faucet's key: %w", err)
	}
	return key, nil
}

// writeKey writes the whole key or nothing, and returns when it is on the disk.
func writeKey(path string, key *ecdsa.PrivateKey) error {
	f, err := os.CreateTemp(filepath.Dir(path), "key") // readable by its owner alone
	if err != nil {
		return err
	}
	_, err = f.WriteString(common.Bytes2Hex(crypto.FromECDSA(key)))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
