package fulfil_test

import (
	"context"
	"testing"

	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

// growing is a chain that has a new block at each call.
type growing struct {
	t    *testing.T
	head uint64
}

func (g *growing) grow() uint64 {
	if g.head++; g.head > 100 {
		g.t.Fatal("every new block is read")
	}
	return g.head
}

func (g *growing) Incoming(context.Context, uint64) (settle.Arrivals, error) {
	head := g.grow()
	return settle.Arrivals{Next: head + 1, Final: head}, nil
}

func (g *growing) Outgoing(context.Context, uint64) ([]settle.Payout, []settle.UnreadBlock, uint64, error) {
	return nil, nil, g.grow() + 1, nil
}

func (g *growing) Since(context.Context, string, uint64) (bool, error) { return false, nil }

// Neither the comparison with the chain nor the reader of transfers follows a chain that
// grows faster than it is read.
func TestReadingEndsWhileTheChainGrows(t *testing.T) {
	e := newEnv(t)
	chain := &growing{t: t}
	e.Watcher = chain
	c, err := e.Compare(t.Context(), sqldb.Audit{DB: e.rows.DB}, chain, fulfil.Checkpoint{})
	if err != nil || c.Next.Block != 2 {
		t.Errorf("the next block is %d, %v", c.Next.Block, err)
	}
	if more, err := e.ReadChain(t.Context()); more || err != nil {
		t.Errorf("got %t, %v", more, err)
	}
}

// unreadable is a chain of which two blocks cannot be read.
type unreadable struct{ growing }

func (u *unreadable) Incoming(context.Context, uint64) (settle.Arrivals, error) {
	return settle.Arrivals{Next: 10, Final: 9, Unread: []settle.UnreadBlock{{Number: 3, Reason: "too large"}}}, nil
}

func (u *unreadable) Outgoing(context.Context, uint64) ([]settle.Payout, []settle.UnreadBlock, uint64, error) {
	return nil, []settle.UnreadBlock{{Number: 4, Reason: "too large"}}, 10, nil
}

// A comparison without blocks that could not be read is not complete, although nothing
// differs.
func TestComparisonWithUnreadBlocks(t *testing.T) {
	e := newEnv(t)
	chain := &unreadable{}
	e.Watcher = chain
	c, err := e.Compare(t.Context(), sqldb.Audit{DB: e.rows.DB}, chain, fulfil.Checkpoint{})
	if err != nil || !c.Sound() || c.Complete() || len(c.Unread) != 2 {
		t.Errorf("got %+v, %v", c, err)
	}
}
