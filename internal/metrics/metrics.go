// Package metrics exports Prometheus metrics and pprof profiles of the running
// process. Both are served on a separate listener that only operators can reach.
package metrics

import (
	"math/big"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"deed.example/deed/internal/settle"
)

// Metrics are the metrics of one process. Make them with New.
type Metrics struct {
	registry        *prometheus.Registry
	requests        *prometheus.HistogramVec
	cacheErrors     prometheus.Counter
	registrarErrors prometheus.Counter
	wallets         wallets
	behind          prometheus.Gauge
	waiting         *prometheus.CounterVec
	stalled         prometheus.Gauge
	dependencies    *prometheus.GaugeVec
	orphans         prometheus.Gauge
	missing         prometheus.Gauge
	comparing       *prometheus.GaugeVec
	compareLag      *prometheus.GaugeVec
	comparedAll     *prometheus.GaugeVec
	compared        *prometheus.CounterVec
	differences     *prometheus.CounterVec
	work            work
}

// wallets are the balance gauges of our own wallets.
type wallets struct{ gas, settlements, refunds, usdc, reverts prometheus.Gauge }

// New returns metrics that are all zero.
func New(version string) *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	f := factory{promauto.With(registry)}
	m := &Metrics{
		registry: registry,
		requests: f.histograms("deed_http_request_seconds", "How long requests took, by route and status.",
			[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 8, 20}, "route", "status"),
		cacheErrors:     f.counter("deed_cache_missed_total", "Calls that were counted in this process because the shared cache did not answer."),
		registrarErrors: f.counter("deed_registrar_missed_total", "Search queries that the registrar did not answer."),
		behind:          f.gauge("deed_dns_zones_behind", "Zones whose last change is older than a minute and not on every name server."),
		waiting:         f.counters("deed_waiting_total", "Attempts to advance a row that had to wait for the chain or a registry, by kind of row; the log has the reasons.", "rows"),
		stalled:         f.gauge("deed_payments_stalled", "Payments and refunds without progress for a minute."),
		dependencies:    f.gauges("deed_dependency_up", "1 if the last check of /health found the dependency to work, 0 if not.", "name"),
		orphans:         f.gauge("deed_names_orphaned", "Names that a registry holds for nobody: their orders were executed after the refund."),
		missing:         f.gauge("deed_names_missing", "Names of ours that their registry does not hold."),
		comparing:       f.gauges("deed_names_to_compare", "Names that wait to be compared with their registrar.", "registrar"),
		compareLag:      f.gauges("deed_names_compare_lag_seconds", "How long the name that waits longest is overdue to be compared with its registrar.", "registrar"),
		comparedAll:     f.gauges("deed_names_compared_age_seconds", "Within this time every name of the registrar was compared with it; an attempt without an answer does not count.", "registrar"),
		compared:        f.counters("deed_names_compared_total", "Names that this node compared with their registrar.", "registrar"),
		differences:     f.counters("deed_names_differing_total", "Names that differed from their registrar, which is right: they were corrected, or are missing there.", "registrar"),
		wallets: wallets{
			gas:         f.gauge("deed_gas_wallet_ether", "Balance of the gas wallet."),
			settlements: f.gauge("deed_gas_wallet_settlements", "Payments that the gas wallet can settle at the highest fee it would offer now."),
			refunds:     f.gauge("deed_refund_wallet_refunds", "Refunds that the refund wallet can pay the gas for."),
			usdc:        f.gauge("deed_refund_wallet_usdc", "Balance of the refund wallet, from which refunds are paid."),
			reverts:     f.gauge("deed_payments_reverted", "Payments that failed on the chain within a day, at the cost of the gas wallet."),
		},
		work: newWork(f),
	}
	for _, rows := range []string{"payments", "refunds", "jobs"} {
		m.waiting.WithLabelValues(rows) // there from the start, at zero
	}
	f.gauges("deed_build_info", "Always 1; the label is the running version.", "version").WithLabelValues(version).Set(1)
	return m
}

// A factory makes metrics and registers them.
type factory struct{ registering promauto.Factory }

func (f factory) counter(name, help string) prometheus.Counter {
	return f.registering.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func (f factory) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return f.registering.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func (f factory) gauge(name, help string) prometheus.Gauge {
	return f.registering.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

func (f factory) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return f.registering.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func (f factory) histogram(name, help string, buckets []float64) prometheus.Histogram {
	return f.registering.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
}

func (f factory) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return f.registering.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// ZonesBehind sets the number of zones that have not propagated.
func (m *Metrics) ZonesBehind(n int) { m.behind.Set(float64(n)) }

// Waiting counts a row that waits for an external system.
func (m *Metrics) Waiting(rows, _ string) { m.waiting.WithLabelValues(rows).Inc() }

// Stalled sets the number of payments and refunds without progress.
func (m *Metrics) Stalled(n int) { m.stalled.Set(float64(n)) }

// Dependency sets whether a dependency works.
func (m *Metrics) Dependency(name string, up bool) {
	value := 0.0
	if up {
		value = 1
	}
	m.dependencies.WithLabelValues(name).Set(value)
}

// Comparisons sets how many names wait to be compared with a registrar, and how long
// already.
func (m *Metrics) Comparisons(registrar string, names int, longest time.Duration) {
	m.comparing.WithLabelValues(registrar).Set(float64(names))
	m.compareLag.WithLabelValues(registrar).Set(longest.Seconds())
}

// ComparedAll sets within which time every name of a registrar was compared with it.
func (m *Metrics) ComparedAll(registrar string, age time.Duration) {
	m.comparedAll.WithLabelValues(registrar).Set(age.Seconds())
}

// Compared counts a name that was compared with its registrar, and whether it differed.
func (m *Metrics) Compared(registrar string, differs bool) {
	m.compared.WithLabelValues(registrar).Inc()
	if differs {
		m.differences.WithLabelValues(registrar).Inc()
	}
}

// Names sets the number of names that need an operator.
func (m *Metrics) Names(orphans, missing int) {
	m.orphans.Set(float64(orphans))
	m.missing.Set(float64(missing))
}

// Observe records one response. The route is a pattern, so that the number of series
// does not depend on request paths; "" means that no route matched.
func (m *Metrics) Observe(route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

// CacheMissed counts one call that the shared cache did not answer.
func (m *Metrics) CacheMissed(error) { m.cacheErrors.Inc() }

// RegistrarMissed counts one query that the registrar did not answer.
func (m *Metrics) RegistrarMissed(error) { m.registrarErrors.Inc() }

// Reserves sets the balances of our own wallets.
func (m *Metrics) Reserves(r settle.Reserves) {
	ether, _ := new(big.Float).Quo(new(big.Float).SetInt(r.Gas), big.NewFloat(1e18)).Float64()
	m.wallets.gas.Set(ether)
	m.wallets.settlements.Set(float64(r.Settlements))
	m.wallets.refunds.Set(float64(r.Refunds))
	m.wallets.usdc.Set(dollars(r.USDC))
}

// Reverts sets how many payments failed on the chain within a day.
func (m *Metrics) Reverts(n int) { m.wallets.reverts.Set(float64(n)) }

// Handler serves /metrics and the profiles under /debug/pprof/.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
