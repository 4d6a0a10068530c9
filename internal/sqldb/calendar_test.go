package sqldb_test

import (
	"math"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

func still() time.Time { return noon }

// All nodes follow the calendar, however many advance it concurrently.
func TestCalendarMovesForAllNodes(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		one, two := sqldb.NewCalendar(db, still), sqldb.NewCalendar(db, still)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := one.Advance(t.Context(), 24*time.Hour); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		want := noon.AddDate(0, 0, 10)
		if err := two.Sync(t.Context()); err != nil || !one.Now().Equal(want) || !two.Now().Equal(want) {
			t.Errorf("got %s and %s, %v, want %s", one.Now(), two.Now(), err, want)
		}
		if now, err := two.Advance(t.Context(), time.Second); err != nil || !now.Equal(want.Add(time.Second)) {
			t.Errorf("got %s, %v", now, err)
		}
	})
}

func TestCalendarGoesForwardOnly(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		c := sqldb.NewCalendar(db, still)
		if err := c.Sync(t.Context()); err != nil || !c.Now().Equal(noon) {
			t.Errorf("never moved: got %s, %v", c.Now(), err)
		}
		const century = 36525 * 24 * time.Hour
		if now, err := c.Advance(t.Context(), century); err != nil || !now.Equal(noon.Add(century)) {
			t.Errorf("got %s, %v", now, err)
		}
		for _, d := range []time.Duration{0, -1, math.MinInt64, 1, math.MaxInt64, century + 1} {
			if now, err := c.Advance(t.Context(), d); deed.CodeOf(err) != deed.CodeValidation {
				t.Errorf("%s: got %s, %v", d, now, err)
			}
		}
		if err := c.Sync(t.Context()); err != nil || !c.Now().Equal(noon.Add(century)) {
			t.Errorf("after all refusals: got %s, %v", c.Now(), err)
		}
	})
}

func TestCalendarSurvivesRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deed.db")
	for day := 1; day <= 3; day++ {
		db, err := sqldb.OpenSQLite(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		c := sqldb.NewCalendar(db, still)
		if err := c.Sync(t.Context()); err != nil {
			t.Error(err)
		}
		if now, err := c.Advance(t.Context(), 24*time.Hour); err != nil || !now.Equal(noon.AddDate(0, 0, day)) {
			t.Errorf("day %d: got %s, %v", day, now, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
