package devchain

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/txpool"
	"github.com/ethereum/go-ethereum/core/types"
)

// A pool holds the pending transactions. It admits what go-ethereum's pool admits
// and refuses with the same messages, since clients parse them. It is not
// persistent: after a crash, clients send again, as with any node.
type pool struct {
	senders []common.Address // in the order of their first pending transaction
	waiting map[common.Address]map[uint64]*types.Transaction
	hashes  map[common.Hash]*types.Transaction
}

const (
	poolSize     = 16_384     // transactions
	perSender    = 2_048      // of them, of one sender
	txSize       = 128 * 1024 // bytes
	priceBumpPct = 10         // minimum fee increase of a replacement
)

func newPool() *pool {
	return &pool{
		waiting: map[common.Address]map[uint64]*types.Transaction{},
		hashes:  map[common.Hash]*types.Transaction{},
	}
}

// checkAlone checks a transaction independently of any state. It recovers the
// sender, which is slow and needs no lock.
func checkAlone(tx *types.Transaction, head *types.Header) error {
	if !tx.Protected() {
		return errors.New("only replay-protected (EIP-155) transactions allowed over RPC")
	}
	return txpool.ValidateTransaction(tx, head, signer, &txpool.ValidationOptions{
		Config: rules,
		Accept: 1<<types.LegacyTxType | 1<<types.AccessListTxType |
			1<<types.DynamicFeeTxType | 1<<types.SetCodeTxType,
		MaxSize: txSize,
		MinTip:  new(big.Int),
	})
}

// add adds a transaction, given its sender's account.
func (p *pool) add(tx *types.Transaction, from common.Address, acc account) error {
	if p.hashes[tx.Hash()] != nil {
		return txpool.ErrAlreadyKnown
	}
	if tx.Nonce() < acc.Nonce {
		return fmt.Errorf("%w: next nonce %v, tx nonce %v", core.ErrNonceTooLow, acc.Nonce, tx.Nonce())
	}
	old := p.waiting[from][tx.Nonce()]
	if old != nil && !outbids(tx, old) {
		return txpool.ErrReplaceUnderpriced
	}
	if err := p.checkFunds(tx, old, from, acc); err != nil {
		return err
	}
	if old == nil && len(p.hashes) >= poolSize {
		return errors.New("txpool is full")
	}
	if old == nil && len(p.waiting[from]) >= perSender {
		return fmt.Errorf("%w: pooled %d txs", txpool.ErrAccountLimitExceeded, len(p.waiting[from]))
	}
	p.put(tx, old, from)
	return nil
}

func (p *pool) put(tx, old *types.Transaction, from common.Address) {
	if old != nil {
		delete(p.hashes, old.Hash())
	}
	if p.waiting[from] == nil {
		p.waiting[from] = map[uint64]*types.Transaction{}
		p.senders = append(p.senders, from)
	}
	p.waiting[from][tx.Nonce()] = tx
	p.hashes[tx.Hash()] = tx
}

// outbids reports whether both fees of tx exceed those of old by priceBumpPct.
func outbids(tx, old *types.Transaction) bool {
	above := func(fee, old *big.Int) bool {
		minFee := new(big.Int).Mul(old, big.NewInt(100+priceBumpPct))
		return new(big.Int).Mul(fee, big.NewInt(100)).Cmp(minFee) >= 0 && fee.Cmp(old) > 0
	}
	return above(tx.GasFeeCap(), old.GasFeeCap()) && above(tx.GasTipCap(), old.GasTipCap())
}

// checkFunds checks that the sender can pay for tx and all its pending
// transactions.
func (p *pool) checkFunds(tx, old *types.Transaction, from common.Address, acc account) error {
	spent := new(big.Int)
	for _, other := range p.waiting[from] {
		if other != old {
			spent.Add(spent, other.Cost())
		}
	}
	balance, cost := acc.Balance.ToBig(), tx.Cost()
	over := new(big.Int).Add(spent, cost)
	if over.Sub(over, balance).Sign() <= 0 {
		return nil
	}
	if spent.Sign() == 0 {
		return fmt.Errorf("%w: balance %v, tx cost %v, overshot %v", core.ErrInsufficientFunds, balance, cost, over)
	}
	return fmt.Errorf("%w: balance %v, queued cost %v, tx cost %v, overshot %v", core.ErrInsufficientFunds, balance, spent, cost, over)
}

// next returns the transactions of one sender that can follow nonce, in order.
func (p *pool) next(from common.Address, nonce uint64) []*types.Transaction {
	var txs []*types.Transaction
	for tx := p.waiting[from][nonce]; tx != nil; tx = p.waiting[from][nonce] {
		txs = append(txs, tx)
		nonce++
	}
	return txs
}

// ready returns what can be executed on top of v, sender by sender.
func (p *pool) ready(v view) [][]*types.Transaction {
	var all [][]*types.Transaction
	for _, from := range p.senders {
		if txs := p.next(from, accountOf(v, from).Nonce); len(txs) > 0 {
			all = append(all, txs)
		}
	}
	return all
}

// forget removes the transactions of from with a nonce below nonce.
func (p *pool) forget(from common.Address, nonce uint64) {
	for n, tx := range p.waiting[from] {
		if n < nonce {
			delete(p.waiting[from], n)
			delete(p.hashes, tx.Hash())
		}
	}
	if len(p.waiting[from]) == 0 {
		delete(p.waiting, from)
		p.senders = slices.DeleteFunc(p.senders, func(a common.Address) bool { return a == from })
	}
}

// drop removes one transaction.
func (p *pool) drop(tx *types.Transaction, from common.Address) {
	delete(p.waiting[from], tx.Nonce())
	delete(p.hashes, tx.Hash())
	p.forget(from, 0)
}

// accountOf returns the account at a, or an empty one.
func accountOf(v view, a common.Address) account {
	if acc := v.account(a); acc != nil {
		return *acc
	}
	return account{}
}
