package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deed.example/deed"
	"deed.example/deed/internal/order"
)

// work are the metrics of orders, money and what they wait for.
type work struct {
	payments   *prometheus.CounterVec // by state that they reached
	settlement prometheus.Histogram
	refund     prometheus.Histogram
	events     *prometheus.CounterVec
	deliveries *prometheus.CounterVec
	registrars *prometheus.HistogramVec
	floats     *prometheus.GaugeVec
	due        *prometheus.GaugeVec
	failures   *prometheus.CounterVec
	open       *prometheus.GaugeVec
	openUSDC   *prometheus.GaugeVec
	oldest     *prometheus.GaugeVec
	nonces     *prometheus.GaugeVec
	stopped    *prometheus.GaugeVec
	nodes      prometheus.Gauge
}

// slow are buckets for what takes from a fraction of a second to an hour.
var slow = []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}

func newWork() work {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{Name: name, Help: help, Buckets: slow}
	}
	w := work{
		payments:   counter("deed_payment_moves_total", "Payments that reached a state on this node, by state and kind of purchase.", "state", "kind"),
		settlement: prometheus.NewHistogram(histogram("deed_settlement_seconds", "From the order to its settled payment.")),
		refund:     prometheus.NewHistogram(histogram("deed_refund_seconds", "From the moment a refund is sent to the chain until it is final.")),
		events:     counter("deed_events_total", "Events of owners that were written by this node, by type.", "type"),
		deliveries: counter("deed_webhook_deliveries_total", "Attempts to deliver a webhook, by outcome.", "outcome"),
		registrars: prometheus.NewHistogramVec(histogram("deed_registrar_call_seconds", "How long calls of a registrar took, by backend, call and outcome."), []string{"backend", "call", "outcome"}),
		floats:     gauge("deed_registrar_float_usd", "Balance of our account at a registrar, as it reported last.", "backend"),
		due:        gauge("deed_rows_due", "Rows that the worker found to be due at its last poll, by kind; it takes a limited number at a time.", "rows"),
		failures:   counter("deed_work_failures_total", "Rows and tasks that failed, by kind; the log has the reasons.", "rows"),
		open:       gauge("deed_open", "Payments, jobs and webhook deliveries that have something left to do, by state.", "rows", "kind", "state"),
		openUSDC:   gauge("deed_open_usdc", "Sum of the open payments, by state.", "state"),
		oldest:     gauge("deed_oldest_open_seconds", "How long the oldest open one has been in its state.", "rows"),
		nonces:     gauge("deed_signer_nonce", "Next nonce of our wallets, as it is stored.", "wallet"),
		stopped:    gauge("deed_stopped", "1 while operators have stopped the activity.", "activity"),
		nodes:      prometheus.NewGauge(prometheus.GaugeOpts{Name: "deed_nodes", Help: "Nodes that wrote to the database within the last minute."}),
	}
	for _, activity := range []string{"purchases", "refunds", "publishing"} {
		w.stopped.WithLabelValues(activity) // there from the start, at zero
	}
	for _, rows := range []string{"payments", "refunds", "jobs", "webhooks"} {
		w.oldest.WithLabelValues(rows) // likewise
	}
	return w
}

func (w work) register(r *prometheus.Registry) {
	r.MustRegister(w.payments, w.settlement, w.refund, w.events, w.deliveries, w.registrars, w.floats, w.due, w.failures,
		w.open, w.openUSDC, w.oldest, w.nonces, w.stopped, w.nodes)
}

// PaymentMoved counts a payment that reached a state, since is when it got the one
// before.
func (m *Metrics) PaymentMoved(p order.Payment, from order.PaymentState, since, at time.Time) {
	m.work.payments.WithLabelValues(string(p.State), string(p.Purchase.Kind)).Inc()
	switch {
	case p.State == order.PaymentSettled && from != "":
		m.work.settlement.Observe(at.Sub(p.Created).Seconds())
	case p.State == order.PaymentRefunded && !since.IsZero():
		m.work.refund.Observe(at.Sub(since).Seconds())
	}
}

// Event counts an event of an owner.
func (m *Metrics) Event(kind string) { m.work.events.WithLabelValues(kind).Inc() }

// WebhookSent counts an attempt to deliver a webhook.
func (m *Metrics) WebhookSent(outcome string) { m.work.deliveries.WithLabelValues(outcome).Inc() }

// RegistrarCalled records a call of a registrar.
func (m *Metrics) RegistrarCalled(backend, call string, took time.Duration, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "error"
		if code := deed.CodeOf(err); code != "" {
			outcome = string(code) // one of 16
		}
	}
	m.work.registrars.WithLabelValues(backend, call, outcome).Observe(took.Seconds())
}

// RegistrarFloat sets the balance at a registrar.
func (m *Metrics) RegistrarFloat(backend string, left deed.USDC) {
	m.work.floats.WithLabelValues(backend).Set(dollars(left))
}

// Due sets how many rows of a kind are due.
func (m *Metrics) Due(rows string, n int) { m.work.due.WithLabelValues(rows).Set(float64(n)) }

// WorkFailed counts a row or a task that failed.
func (m *Metrics) WorkFailed(rows string) { m.work.failures.WithLabelValues(rows).Inc() }

// dollars is money as a float, for a gauge only.
func dollars(u deed.USDC) float64 { return float64(u) / float64(100*deed.Cent) }
