package sim

import (
	"context"
	"errors"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

// payments are the rows of payments, as one process meets them.
type payments struct {
	p *process
	s sqldb.Payments
}

func (s payments) OpenNonces(ctx context.Context, w deed.Wallet) ([]string, error) {
	return call(s.p, "OpenNonces", func() ([]string, error) { return s.s.OpenNonces(ctx, w) })
}

func (s payments) AuthorizePayment(ctx context.Context, a order.Payment, admit func(order.Payer) error) (order.Payment, error) {
	return call(s.p, "AuthorizePayment", func() (order.Payment, error) {
		_, err := s.s.Payment(ctx, a.ID)
		is, failed := s.s.AuthorizePayment(ctx, a, admit)
		if deed.CodeOf(err) == deed.CodeNotFound && failed == nil && s.p.w.broken == nil {
			s.p.w.broken = s.p.w.admitted(is, s.p.seen[a.ID])
			if s.p.w.broken == nil && is.Source == order.SourceMandate {
				s.p.w.broken = s.p.w.mandates.taken(is)
			}
		}
		return is, failed
	})
}

func (s payments) Payment(ctx context.Context, id string) (order.Payment, error) {
	return call(s.p, "Payment", func() (order.Payment, error) { return s.s.Payment(ctx, id) })
}

func (s payments) MovePayment(ctx context.Context, a order.Payment, to order.PaymentState, hash string) (order.Payment, error) {
	return call(s.p, "MovePayment "+string(to), func() (order.Payment, error) { return s.s.MovePayment(ctx, a, to, hash) })
}

func (s payments) DelayPayment(ctx context.Context, id string, d order.Delay) error {
	return act(s.p, "DelayPayment", func() error { return s.s.DelayPayment(ctx, id, d) })
}

func (s payments) ClaimPayment(ctx context.Context, a order.Payment, placed order.Placed) (order.Payment, error) {
	return call(s.p, "ClaimPayment", func() (order.Payment, error) {
		is, err := s.s.ClaimPayment(ctx, a, placed)
		if err == nil && is.State == order.PaymentSettled {
			s.p.w.ends["claimed"]++
		}
		return is, err
	})
}

func (s payments) RecordRevert(ctx context.Context, a order.Payment) error {
	return act(s.p, "RecordRevert", func() error { return s.s.RecordRevert(ctx, a) })
}

func (s payments) DuePayments(ctx context.Context, limit int) ([]string, error) {
	return call(s.p, "DuePayments", func() ([]string, error) { return s.s.DuePayments(ctx, limit) })
}

func (s payments) DueRefunds(ctx context.Context, limit int) ([]string, error) {
	return call(s.p, "DueRefunds", func() ([]string, error) { return s.s.DueRefunds(ctx, limit) })
}

func (s payments) Stalled(ctx context.Context, since time.Time) (order.Stalled, error) {
	return s.s.Stalled(ctx, since)
}

func (s payments) Lost(ctx context.Context) ([]order.Payment, error) {
	return call(s.p, "Lost", func() ([]order.Payment, error) { return s.s.Lost(ctx) })
}

func (s payments) ParkLost(ctx context.Context) ([]order.Payment, error) {
	return call(s.p, "ParkLost", func() ([]order.Payment, error) { return s.s.ParkLost(ctx) })
}

func (s payments) Cancellable(ctx context.Context, after string, limit int) ([]order.Payment, error) {
	return call(s.p, "Cancellable", func() ([]order.Payment, error) { return s.s.Cancellable(ctx, after, limit) })
}

func (s payments) RecordUndone(ctx context.Context, a order.Payment, amount deed.USDC) error {
	return act(s.p, "RecordUndone", func() error { return s.s.RecordUndone(ctx, a, amount) })
}

func (s payments) FailPlaced(ctx context.Context, a order.Payment, placed order.Placed) error {
	return act(s.p, "FailPlaced", func() error { return s.s.FailPlaced(ctx, a, placed) })
}

// watch is how far the chain was read, as one process meets it.
type watch struct {
	p *process
	s sqldb.Payments
}

var errPoison = errors.New("the row breaks a rule")

func (s watch) Watched(ctx context.Context) (uint64, error) {
	return call(s.p, "Watched", func() (uint64, error) { return s.s.Watched(ctx) })
}

func (s watch) SetWatched(ctx context.Context, next uint64, unread []settle.UnreadBlock) error {
	return act(s.p, "SetWatched", func() error { return s.s.SetWatched(ctx, next, unread) })
}

func (s watch) Received(ctx context.Context, ids []string) (map[string]bool, error) {
	return call(s.p, "Received", func() (map[string]bool, error) { return s.s.Received(ctx, ids) })
}

// Adopt fails for a transfer that is poison, until somebody sees to it.
func (s watch) Adopt(ctx context.Context, t settle.Transfer, u order.Unsolicited) error {
	return act(s.p, "Adopt "+t.TxHash, func() error {
		w := s.p.w
		if _, known := w.poison[t.TxHash]; !known {
			w.poison[t.TxHash] = w.fault(12)
		}
		if w.faulty && w.poison[t.TxHash] && !s.p.pay.Restoring {
			return errPoison
		}
		return s.s.Adopt(ctx, t, u)
	})
}

func (s watch) PutAside(ctx context.Context, t settle.Transfer, reason string, next time.Time) error {
	return act(s.p, "PutAside "+t.TxHash, func() error {
		s.p.w.ends["put aside"]++
		return s.s.PutAside(ctx, t, reason, next)
	})
}

func (s watch) DueAside(ctx context.Context, limit int) ([]settle.Transfer, error) {
	return call(s.p, "DueAside", func() ([]settle.Transfer, error) { return s.s.DueAside(ctx, limit) })
}

// outside is the chain, as one process meets it.
type outside struct {
	p *process
	s settler
}

func (o outside) Check(ctx context.Context, a settle.Authorization, open []string) (settle.Funds, error) {
	return call(o.p, "Check", func() (settle.Funds, error) {
		o.p.seen[id(a)] = append(o.p.seen[id(a)], o.s.c.head())
		return o.s.Check(ctx, a, open)
	})
}

func (o outside) CheckSigned(ctx context.Context, a settle.Authorization) error {
	return act(o.p, "CheckSigned", func() error { return o.s.CheckSigned(ctx, a) })
}

func (o outside) CheckDue(ctx context.Context, a settle.Authorization, open []string) (settle.Funds, error) {
	return call(o.p, "CheckDue", func() (settle.Funds, error) {
		o.p.seen[id(a)] = append(o.p.seen[id(a)], o.s.c.head())
		return o.s.CheckDue(ctx, a, open)
	})
}

func (o outside) Settle(ctx context.Context, a settle.Authorization) (string, error) {
	return call(o.p, "Settle", func() (string, error) {
		hash, err := o.s.Settle(ctx, a)
		if errors.Is(err, settle.ErrUnsettleable) {
			o.p.w.refill(o.p, a)
		}
		return hash, err
	})
}

func (o outside) Abandon(ctx context.Context, a settle.Authorization) error {
	return act(o.p, "Abandon", func() error {
		err := o.s.Abandon(ctx, a)
		if err == nil {
			o.p.w.refill(o.p, a)
		}
		return err
	})
}

func (o outside) Refund(ctx context.Context, r settle.Refund) (string, error) {
	return call(o.p, "Refund", func() (string, error) { return o.s.Refund(ctx, r) })
}

func (o outside) Refunded(ctx context.Context, r settle.Refund) (bool, error) {
	return call(o.p, "Refunded", func() (bool, error) { return o.s.Refunded(ctx, r) })
}

func (o outside) RefundedAll(ctx context.Context, all []settle.Refund) ([]bool, error) {
	return call(o.p, "RefundedAll", func() ([]bool, error) { return o.s.RefundedAll(ctx, all) })
}

func (o outside) RefundedAmount(ctx context.Context, r settle.Refund) (deed.USDC, error) {
	return call(o.p, "RefundedAmount", func() (deed.USDC, error) { return o.s.RefundedAmount(ctx, r) })
}

func (o outside) Incoming(ctx context.Context, from uint64) (settle.Arrivals, error) {
	return call(o.p, "Incoming", func() (settle.Arrivals, error) { return o.s.Incoming(ctx, from) })
}

func (o outside) SentByUs(ctx context.Context, txHash string) (bool, error) {
	return call(o.p, "SentByUs", func() (bool, error) { return o.s.SentByUs(ctx, txHash) })
}
