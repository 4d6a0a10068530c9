package sqldb_test

import (
	"testing"
	"time"

	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// Nodes whose own clocks differ by minutes agree on the time of their database.
func TestNodesAgreeOnTheTime(t *testing.T) {
	db := sqldbtest.Postgres(t)
	for _, skew := range []time.Duration{0, -10 * time.Minute, 10 * time.Minute} {
		c := sqldb.NewClock(db, func() time.Time { return time.Now().Add(skew) })
		before := time.Now()
		if err := c.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := c.Now()
		// The server is this machine, so its clock is ours; the query takes
		// part of the time between before and now.
		if got.Before(before.Add(-time.Minute)) || got.After(time.Now().Add(time.Minute)) {
			t.Errorf("%s off: got %s, want about %s", skew, got, before)
		}
	}
}

func TestSQLiteUsesTheLocalClock(t *testing.T) {
	c := sqldb.NewClock(sqldbtest.SQLite(t), func() time.Time { return noon })
	if err := c.Sync(t.Context()); err != nil || !c.Now().Equal(noon) {
		t.Errorf("got %s, %v", c.Now(), err)
	}
}
