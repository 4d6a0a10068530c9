package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deed.example/deed"
	"deed.example/deed/internal/operator"
)

// Open is how many rows are in a state that they will leave.
type Open struct {
	Rows   string // "payments", "refunds", "jobs" or "webhooks"
	Kind   string // of a job
	State  string
	Count  int
	Sum    deed.USDC
	Oldest time.Time // zero if there is none
}

// Overview is what is under way on all nodes.
type Overview struct {
	Open    []Open
	Nonces  map[string]uint64 // by wallet
	Stopped []string          // activities
	Nodes   int
}

// SetOverview replaces the gauges of what is under way.
func (m *Metrics) SetOverview(o Overview, now time.Time) {
	w := &m.work
	w.open.Reset()
	w.openUSDC.Reset()
	oldest := map[string]float64{}
	for _, g := range o.Open {
		w.open.WithLabelValues(g.Rows, g.Kind, g.State).Set(float64(g.Count))
		if g.Sum > 0 {
			w.openUSDC.WithLabelValues(g.State).Set(dollars(g.Sum))
		}
		if g.Count > 0 && !g.Oldest.IsZero() {
			oldest[g.Rows] = max(oldest[g.Rows], now.Sub(g.Oldest).Seconds())
		}
	}
	for _, rows := range openRows {
		w.oldest.WithLabelValues(rows).Set(oldest[rows])
	}
	for wallet, nonce := range o.Nonces {
		w.nonces.WithLabelValues(wallet).Set(float64(nonce))
	}
	for _, activity := range operator.Activities {
		w.stopped.WithLabelValues(activity).Set(0)
	}
	for _, activity := range o.Stopped {
		w.stopped.WithLabelValues(activity).Set(1)
	}
	w.nodes.Set(float64(o.Nodes))
}

// Gauge exports a value that is read when metrics are.
func (m *Metrics) Gauge(name, help string, labels map[string]string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, value))
}

// Counter exports a count that is read when metrics are.
func (m *Metrics) Counter(name, help string, labels map[string]string, value func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, value))
}
