package local_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// callers is the number of concurrent callers per core.
const callers = 16

func BenchmarkOrders(b *testing.B) {
	r := &local.Registry{Store: sqldb.Registry{DB: sqldbtest.SQLite(b)}, Now: time.Now}
	measure(b, func(i int64) error {
		return r.Place(b.Context(), registrar.Order{Kind: registrar.OrderRegister, Reference: fmt.Sprint("order-", i), Name: deed.Name(fmt.Sprintf("name-%d.com", i)), Years: 1})
	})
}

// Half of the names are taken.
func BenchmarkAvailable(b *testing.B) {
	db := sqldbtest.SQLite(b)
	r := &local.Registry{Store: sqldb.Registry{DB: db}, Now: time.Now, Faults: &local.Faults{Store: sqldb.Faults{DB: db}}}
	const names = 1000
	for i := range names {
		o := registrar.Order{Kind: registrar.OrderRegister, Reference: fmt.Sprint("order-", i), Name: deed.Name(fmt.Sprintf("name-%d.com", 2*i)), Years: 1}
		if err := r.Place(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
	measure(b, func(i int64) error {
		_, err := r.Available(b.Context(), deed.Name(fmt.Sprintf("name-%d.com", i%(2*names))))
		return err
	})
}

func measure(b *testing.B, f func(i int64) error) {
	var next atomic.Int64
	b.SetParallelism(callers)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := f(next.Add(1)); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "/s")
}
