package app

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"deed.example/deed/internal/event"
	"deed.example/deed/internal/metrics"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/tracing"
	"deed.example/deed/internal/webhook"
)

var _ sqldb.Observer = (*observer)(nil)

// An observer logs and counts what was committed: a line for each order, payment,
// refund and act of an owner, whether a request or the worker made it.
type observer struct {
	log     *slog.Logger
	metrics *metrics.Metrics
}

// Event implements sqldb.Observer.
func (o *observer) Event(e event.Event) {
	o.metrics.Event(string(e.Type))
	d := e.Data
	o.log.Info(string(e.Type), present("owner", string(e.Owner), "domain", string(d.Domain), "kind", string(d.Kind), "jobId", d.JobID, "paymentId", d.PaymentID,
		"refundId", d.RefundID, "amountUsd", d.Amount, "txHash", d.TxHash, "newOwner", string(d.NewOwner), "webhookId", d.WebhookID, "reason", d.Reason)...)
}

// paymentLines are the lines of states that no event is about.
var paymentLines = map[order.PaymentState]string{
	order.PaymentAuthorized: "order.accepted",
	order.PaymentSettling:   "payment.sent",
	order.PaymentVoid:       "payment.void",
	order.PaymentReleased:   "payment.released",
	order.PaymentUnclaimed:  "payment.unclaimed",
	order.PaymentDust:       "payment.dust",
	order.PaymentConsumed:   "order.fulfilled",
	order.PaymentRefunding:  "refund.sending",
}

// PaymentMoved implements sqldb.Observer.
func (o *observer) PaymentMoved(m sqldb.PaymentMove) {
	p := m.Payment
	o.metrics.PaymentMoved(p, m.From, m.Since, m.At)
	if line := paymentLines[p.State]; line != "" {
		o.log.Info(line, present("owner", string(p.Auth.Payer), "domain", string(p.Purchase.Name), "kind", string(p.Purchase.Kind), "paymentId", p.PublicID,
			"amountUsd", p.Auth.Amount.String(), "txHash", p.TxHash)...)
	}
}

// present returns the names and values of a log line without the empty ones.
func present(pairs ...string) (out []any) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, pairs[i], pairs[i+1])
		}
	}
	return out
}

// overviewInterval is how often the gauges of what is under way are read.
const overviewInterval = 10 * time.Second

// readOverview sets the gauges of what is under way.
func (a *App) readOverview(ctx context.Context) error {
	o, err := a.DB.Overview(ctx, a.config.ChainID)
	if err != nil {
		return err
	}
	now := a.now()
	out := metrics.Overview{Nonces: map[string]uint64{}}
	add := func(rows string, g sqldb.Group) {
		out.Open = append(out.Open, metrics.Open{Rows: rows, Kind: g.Kind, State: g.State, Count: g.Count, Sum: g.Sum, Oldest: g.Oldest})
	}
	for _, g := range o.Payments {
		rows := "payments"
		if order.PaymentState(g.State).Refunds() {
			rows = "refunds"
		}
		add(rows, g)
	}
	for _, g := range o.Jobs {
		add("jobs", g)
	}
	add("webhooks", o.Webhooks)
	for _, s := range o.Signers {
		out.Nonces[string(s.Wallet)] = s.Nonce
	}
	for activity := range o.Stopped {
		out.Stopped = append(out.Stopped, activity)
	}
	out.Nodes = len(slices.DeleteFunc(o.Nodes, func(n sqldb.Node) bool { return now.Sub(n.Seen) > time.Minute }))
	a.metrics.SetOverview(out, now)
	for backend, left := range a.registrar.Balances() {
		a.metrics.RegistrarFloat(backend, left)
	}
	return nil
}

// observeRegistrar traces and counts a call of a registrar.
func (a *App) observeRegistrar(ctx context.Context, backend, call string) (context.Context, func(error)) {
	began := time.Now()
	ctx, end := tracing.Start(ctx, "registrar "+call, attribute.String("deed.registrar", backend))
	return ctx, func(err error) {
		a.metrics.RegistrarCalled(backend, call, time.Since(began), err)
		end(err)
	}
}

// exportBackends exports what backends count themselves.
func (a *App) exportBackends() {
	m := a.metrics
	a.registrar.Observe = a.observeRegistrar
	m.Counter("deed_rpc_calls_total", "Calls of RPC endpoints.", nil, func() float64 { return float64(a.chain.Calls()) })
	m.Counter("deed_rpc_failures_total", "Calls of RPC endpoints without a usable response.", nil, func() float64 { return float64(a.chain.Failures()) })
	m.Gauge("deed_chain_head_block", "The newest block that was read; 0 before the first.", nil, func() float64 {
		head, _ := a.chain.Head()
		return float64(head.Number)
	})
	m.Gauge("deed_chain_head_age_seconds", "Age of the newest block that was read, by the clock of this node.", nil, func() float64 {
		head, ok := a.chain.Head()
		if !ok {
			return 0
		}
		return time.Since(head.Time).Seconds()
	})
	for i := range a.chain.EndpointsUp() {
		m.Gauge("deed_rpc_endpoint_up", "1 while the RPC endpoint is used, by its place in the configuration.", map[string]string{"endpoint": strconv.Itoa(i + 1)}, func() float64 {
			if a.chain.EndpointsUp()[i] {
				return 1
			}
			return 0
		})
	}
	a.exportDatabase()
	a.exportDNS()
}

func (a *App) exportDatabase() {
	for name, pool := range a.DB.Pools() {
		labels := map[string]string{"pool": name}
		a.metrics.Gauge("deed_database_connections", "Open connections of the database, by pool.", labels, func() float64 { return float64(pool().Open) })
		a.metrics.Gauge("deed_database_connections_used", "Connections of the database that are in use, by pool.", labels, func() float64 { return float64(pool().Used) })
		a.metrics.Gauge("deed_database_connections_max", "Limit of the connections of the database, by pool.", labels, func() float64 { return float64(pool().Max) })
		a.metrics.Counter("deed_database_waits_total", "Times that a transaction waited for a connection, by pool.", labels, func() float64 { return float64(pool().Waits) })
	}
}

// rcodes are the response codes of RFC 1035 that the name server sends.
var rcodes = []string{"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"}

func (a *App) exportDNS() {
	server := a.dns.server
	if server == nil {
		return
	}
	m := a.metrics
	m.Counter("deed_dns_queries_total", "Queries of the name server, by transport.", map[string]string{"transport": "udp"}, func() float64 { return float64(server.Counts().UDP) })
	m.Counter("deed_dns_queries_total", "Queries of the name server, by transport.", map[string]string{"transport": "tcp"}, func() float64 { return float64(server.Counts().TCP) })
	for code, name := range rcodes {
		m.Counter("deed_dns_answers_total", "Answers of the name server, by response code.", map[string]string{"rcode": name}, func() float64 { return float64(server.Counts().Answers[code]) })
	}
	m.Counter("deed_dns_dropped_total", "Messages to the name server that were no queries.", nil, func() float64 { return float64(server.Counts().Dropped) })
	m.Counter("deed_dns_truncated_total", "Answers over UDP that did not fit.", nil, func() float64 { return float64(server.Counts().Truncated) })
	m.Counter("deed_dns_limited_total", "Answers over UDP that the rate limit dropped or truncated.", nil, func() float64 { return float64(server.Counts().Limited) })
	m.Counter("deed_dns_refused_connections_total", "TCP connections to the name server above its limits.", nil, func() float64 { return float64(server.Counts().Refused) })
	m.Gauge("deed_dns_zones", "Zones that the name server of this node serves.", nil, func() float64 { return float64(server.Counts().Zones) })
}

// A countingSender counts the deliveries of webhooks.
type countingSender struct {
	webhook.Sender
	count func(outcome string)
}

// Send implements webhook.Sender.
func (s countingSender) Send(ctx context.Context, url string, h http.Header, body []byte) webhook.Outcome {
	o := s.Sender.Send(ctx, url, h, body)
	switch {
	case o.Status >= 200 && o.Status < 300:
		s.count("delivered")
	case o.Status > 0:
		s.count("refused")
	default:
		s.count("unreachable")
	}
	return o
}
