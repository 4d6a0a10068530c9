package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/health"
	"deed.example/deed/internal/operatorapi"
	"deed.example/deed/internal/secretfile"
	"deed.example/deed/internal/sqldb"
)

// OperatorTokenFile returns the file of the token that operators act with.
func (c *Config) OperatorTokenFile() string { return filepath.Join(c.Data, "operator.token") }

// newOperatorAPI returns what operators reach on their listener.
func (a *App) newOperatorAPI() (*operatorapi.Server, error) {
	token, _, err := secretfile.ReadOrCreate(a.config.OperatorTokenFile(), func() ([]byte, error) { return []byte(rand.Text() + rand.Text() + "\n"), nil })
	if err != nil {
		return nil, fmt.Errorf("operator.token: %w", err)
	}
	secret := deed.Secret(strings.TrimSpace(string(token)))
	if secret == "" {
		return nil, fmt.Errorf("operator.token: %s is empty: remove it, and a new token is made", a.config.OperatorTokenFile())
	}
	return &operatorapi.Server{
		Operator: a.newOperator(), Token: secret, Float: a.float, Overview: a.operatorPage, Log: a.log,
	}, nil
}

// float returns the balances of our wallets and of our accounts at registrars.
func (a *App) float(ctx context.Context) (lines []string, err error) {
	if a.money != nil {
		r, err := a.money.settler.Reserves(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the balances of our wallets: %w", err)
		}
		lines = append(lines, fmt.Sprintf("gas wallet\t%s wei\tpays for %d payments", r.Gas, r.Settlements),
			fmt.Sprintf("refund wallet\t%s USDC\thas gas for %d refunds", r.USDC, r.Refunds))
	}
	if err := a.ReadBalances(ctx); err != nil {
		lines = append(lines, "warning\t"+err.Error())
	}
	balances := a.registrar.Balances()
	for _, b := range a.registrar.Backends() {
		left, known := balances[b.Name]
		line := "registrar " + b.Name + "\tsays nothing of its balance"
		if known {
			line = fmt.Sprintf("registrar %s\t%s USD\treserve %s", b.Name, left, b.Reserve)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// operatorPage returns what the operators' page shows.
func (a *App) operatorPage(ctx context.Context) (operatorapi.Page, error) {
	o, err := a.DB.Overview(ctx, a.config.ChainID)
	if err != nil {
		return operatorapi.Page{}, err
	}
	now := a.now()
	p := operatorapi.Page{At: now, Version: a.config.Version, Health: healthRows(a.API.Health.Report(ctx)), Open: openRows(o, now), Money: a.moneyRows(o)}
	for _, activity := range slices.Sorted(maps.Keys(o.Stopped)) {
		p.Stopped = append(p.Stopped, operatorapi.Row{Name: activity, Value: "stopped", Note: o.Stopped[activity], Bad: true})
	}
	balances := a.registrar.Balances()
	for _, b := range a.registrar.Backends() {
		row := operatorapi.Row{Name: b.Name, Value: "balance unknown"}
		if left, known := balances[b.Name]; known {
			row.Value, row.Bad = left.String()+" USD", left < b.Reserve
		}
		p.Backends = append(p.Backends, row)
	}
	for _, s := range o.Signers {
		p.Signers = append(p.Signers, operatorapi.Row{Name: string(s.Wallet), Value: fmt.Sprintf("next nonce %d", s.Nonce)})
	}
	for _, n := range o.Nodes {
		age := now.Sub(n.Seen)
		p.Nodes = append(p.Nodes, operatorapi.Row{Name: n.Host + " " + n.ID[:6], Value: n.Version, Note: "seen " + age.Round(time.Second).String() + " ago", Bad: age > time.Minute})
	}
	return p, nil
}

func healthRows(r health.Report) (rows []operatorapi.Row) {
	for _, name := range slices.Sorted(maps.Keys(r.Parts)) {
		part := r.Parts[name]
		row := operatorapi.Row{Name: name, Value: string(part.Status), Bad: part.Status == health.Down}
		if part.Err != nil {
			row.Note = part.Err.Error()
		}
		rows = append(rows, row)
	}
	return rows
}

func openRows(o sqldb.Overview, now time.Time) (rows []operatorapi.Row) {
	add := func(what string, g sqldb.Group) {
		if g.Count > 0 {
			age := now.Sub(g.Oldest).Round(time.Second)
			rows = append(rows, operatorapi.Row{Name: what + " " + g.Kind + " " + g.State, Value: fmt.Sprint(g.Count), Note: "the oldest for " + age.String(), Bad: age > time.Hour})
		}
	}
	for _, g := range o.Payments {
		add("payments", g)
	}
	for _, g := range o.Jobs {
		add("jobs", g)
	}
	add("webhook deliveries", o.Webhooks)
	return rows
}

func (a *App) moneyRows(o sqldb.Overview) (rows []operatorapi.Row) {
	for _, g := range o.Payments {
		rows = append(rows, operatorapi.Row{Name: "in flight, " + g.State, Value: g.Sum.String() + " USDC"})
	}
	if a.money == nil {
		return rows
	}
	if err := a.money.warning(); err != nil {
		rows = append(rows, operatorapi.Row{Name: "our wallets", Value: err.Error(), Bad: true})
	} else {
		rows = append(rows, operatorapi.Row{Name: "our wallets", Value: "enough"})
	}
	return rows
}
