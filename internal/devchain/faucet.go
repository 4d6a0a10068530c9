package devchain

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"deed.example/deed"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// faucetGas is the gas limit of the faucet's transactions. Unused gas is refunded.
const faucetGas = 10_000_000

// gift is the test ETH, in wei, that is sent with test USDC to a wallet that has
// less.
var gift = big.NewInt(1e18)

// Faucet mints amount millionths of test USDC to wallet, and sends some test ETH
// for gas. It returns when both are mined, with the hash of the mint and the
// wallet's new balance.
func (c *Chain) Faucet(ctx context.Context, wallet string, amount int64) (txHash string, balance int64, err error) {
	if !common.IsHexAddress(wallet) {
		return "", 0, deed.Invalid("walletAddress", "%q is not a wallet address", wallet)
	}
	if amount <= 0 {
		return "", 0, deed.Invalid("amount_usd", "must be above zero")
	}
	to := common.HexToAddress(wallet)
	if c.ethOf(to).Cmp(gift) < 0 {
		// Not awaited: the mint's nonce is higher, so the mint is mined later.
		if _, err := c.sendFaucetTx(ctx, &to, gift, nil); err != nil {
			return "", 0, fmt.Errorf("send test ETH to %s: %w", wallet, err)
		}
	}
	mint := encodeCall("mint(address,uint256)", to[:], big.NewInt(amount).Bytes())
	if txHash, _, err = c.SendFromFaucet(ctx, USDC, mint); err != nil {
		return "", 0, fmt.Errorf("mint test USDC to %s: %w", wallet, err)
	}
	if balance, err = c.usdcOf(ctx, to); err != nil {
		return "", 0, fmt.Errorf("read the balance of %s: %w", wallet, err)
	}
	return txHash, balance, nil
}

// SendFromFaucet sends data to a contract from the faucet's account, which owns the
// token, and returns when it is mined. Without a contract, data is creation code,
// and the address of the created contract is returned. A transaction that would
// revert is refused with its reason.
func (c *Chain) SendFromFaucet(ctx context.Context, contract string, data []byte) (txHash, created string, err error) {
	var to *common.Address
	if contract != "" {
		a := common.HexToAddress(contract)
		to = &a
	}
	args := callArgs{From: c.faucetAccount(), To: to, Input: data}
	res, err := c.call(ctx, args, faucetGas, blockRef{})
	if err != nil {
		return "", "", err
	}
	if res.Err != nil {
		return "", "", revertError(res)
	}
	tx, err := c.sendFaucetTx(ctx, to, new(big.Int), data)
	if err != nil {
		return "", "", err
	}
	m, err := c.await(ctx, tx.Hash())
	if err != nil {
		return "", "", err
	}
	r := m.receipt()
	if r.Status != types.ReceiptStatusSuccessful {
		return "", "", fmt.Errorf("transaction %s reverted", tx.Hash())
	}
	if to == nil {
		created = hexutil.Encode(r.ContractAddress[:])
	}
	return tx.Hash().Hex(), created, nil
}

// Blacklist adds a wallet to the token's blacklist, or removes it.
func (c *Chain) Blacklist(ctx context.Context, wallet string, barred bool) error {
	signature := "unBlacklist(address)"
	if barred {
		signature = "blacklist(address)"
	}
	if _, _, err := c.SendFromFaucet(ctx, USDC, encodeCall(signature, common.HexToAddress(wallet).Bytes())); err != nil {
		return fmt.Errorf("%s %s: %w", signature, wallet, err)
	}
	return nil
}

func (c *Chain) faucetAccount() common.Address { return crypto.PubkeyToAddress(c.key.PublicKey) }

// sendFaucetTx signs and sends a transaction of the faucet. It does not wait for the block,
// since block production may be paused.
func (c *Chain) sendFaucetTx(ctx context.Context, to *common.Address, value *big.Int, data []byte) (*types.Transaction, error) {
	c.nonceMu.Lock()
	tx, p, err := c.sendNext(to, value, data)
	c.nonceMu.Unlock()
	if err != nil {
		return nil, err
	}
	return tx, c.waitRound(ctx, tx, p)
}

func (c *Chain) sendNext(to *common.Address, value *big.Int, data []byte) (*types.Transaction, *miningRound, error) {
	tx, err := types.SignNewTx(c.key, signer, &types.DynamicFeeTx{
		ChainID:   rules.ChainID,
		Nonce:     c.nextNonce(c.faucetAccount()),
		GasTipCap: tip,
		GasFeeCap: new(big.Int).Add(baseFee, tip),
		Gas:       faucetGas,
		To:        to,
		Value:     value,
		Data:      data,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("sign the faucet's transaction: %w", err)
	}
	p, err := c.admit(tx, c.faucetAccount())
	return tx, p, err
}

// nextNonce returns the nonce after all mined and pending transactions of from.
func (c *Chain) nextNonce(from common.Address) uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	c.poolMu.Lock()
	defer c.poolMu.Unlock()
	mined := accountOf(c.state, from).Nonce
	return mined + uint64(len(c.pool.next(from, mined)))
}

func (c *Chain) ethOf(a common.Address) *big.Int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	acc := accountOf(c.state, a)
	return acc.Balance.ToBig()
}

func (c *Chain) usdcOf(ctx context.Context, a common.Address) (int64, error) {
	token := common.HexToAddress(USDC)
	res, err := c.call(ctx, callArgs{To: &token, Input: encodeCall("balanceOf(address)", a[:])}, callGas, blockRef{})
	if err != nil {
		return 0, err
	}
	if res.Err != nil {
		return 0, revertError(res)
	}
	balance := new(big.Int).SetBytes(res.ReturnData)
	if !balance.IsInt64() {
		return 0, errors.New("the balance does not fit into 64 bits")
	}
	return balance.Int64(), nil
}

// encodeCall encodes a call whose arguments are single words.
func encodeCall(signature string, words ...[]byte) []byte {
	data := crypto.Keccak256([]byte(signature))[:4]
	for _, w := range words {
		data = append(data, common.LeftPadBytes(w, 32)...)
	}
	return data
}
