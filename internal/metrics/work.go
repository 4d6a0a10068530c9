package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"deed.example/deed"
	"deed.example/deed/internal/operator"
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

// openRows are the rows whose age is there from the start.
var openRows = []string{"payments", "refunds", "jobs", "webhooks"}

// slow are buckets for what takes from a fraction of a second to an hour.
var slow = []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}

func newWork(f factory) work {
	w := work{
		payments:   f.counters("deed_payment_moves_total", "Payments that reached a state on this node, by state and kind of purchase.", "state", "kind"),
		settlement: f.histogram("deed_settlement_seconds", "From the order to its settled payment.", slow),
		refund:     f.histogram("deed_refund_seconds", "From the moment a refund is sent to the chain until it is final.", slow),
		events:     f.counters("deed_events_total", "Events of owners that were written by this node, by type.", "type"),
		deliveries: f.counters("deed_webhook_deliveries_total", "Attempts to deliver a webhook, by outcome.", "outcome"),
		registrars: f.histograms("deed_registrar_call_seconds", "How long calls of a registrar took, by backend, call and outcome.", slow, "backend", "call", "outcome"),
		floats:     f.gauges("deed_registrar_float_usd", "Balance of our account at a registrar, as it reported last.", "backend"),
		due:        f.gauges("deed_rows_due", "Rows that the worker found to be due at its last poll, by kind; it takes a limited number at a time.", "rows"),
		failures:   f.counters("deed_work_failures_total", "Rows and tasks that failed, by kind; the log has the reasons.", "rows"),
		open:       f.gauges("deed_open", "Payments, jobs and webhook deliveries that have something left to do, by state.", "rows", "kind", "state"),
		openUSDC:   f.gauges("deed_open_usdc", "Sum of the open payments, by state.", "state"),
		oldest:     f.gauges("deed_oldest_open_seconds", "How long the oldest open one has been in its state.", "rows"),
		nonces:     f.gauges("deed_signer_nonce", "Next nonce of our wallets, as it is stored.", "wallet"),
		stopped:    f.gauges("deed_stopped", "1 while operators have stopped the activity.", "activity"),
		nodes:      f.gauge("deed_nodes", "Nodes that wrote to the database within the last minute."),
	}
	for _, activity := range operator.Activities {
		w.stopped.WithLabelValues(activity) // there from the start, at zero
	}
	for _, rows := range openRows {
		w.oldest.WithLabelValues(rows) // likewise
	}
	return w
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

// dollars is money as a float: Prometheus gauges are floats, so here, and nowhere else, money
// is one.
func dollars(u deed.USDC) float64 { return float64(u) / float64(100*deed.Cent) }
