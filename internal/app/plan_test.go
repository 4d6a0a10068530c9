package app

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"

	"deed.example/deed"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// grows are the tables with rows for each name or payment.
var grows = []string{
	"aliases", "attempts", "cancellations", "events", "event_counters", "former_registrations", "jobs", "late_orders", "ledger", "mandates",
	"offers", "outbox", "owner_events", "payments", "records", "refresh_tokens", "registrations", "registry_names", "registry_orders", "revisions", "served",
	"transactions", "used_nonces", "wallets", "webhook_deliveries", "webhooks", "zones",
}

// current are indexes of a part of a table that is most of it.
var current = []string{"records_live", "records_zone", "served_live", "served_removed"}

// wholeReads are parts of statements that may read a whole table, and why.
var wholeReads = map[string]string{
	"FROM registry_names WHERE nameservers <> ''": "a sandbox reads up to local.MaxDelegated names",
	"SELECT DISTINCT master FROM zones":           "once, at the start",
	"SELECT coalesce(sum(CASE WHEN state":         "the account has the sum of the wallet's payments",
	"OR EXISTS (SELECT 1 FROM payments WHERE":     "it ends with the first payment that was made",
	"SELECT (SELECT count(*) FROM payments":       "the first page of the wallet's payments has their number",
}

func mayReadAll(sql string) bool {
	for part := range wholeReads {
		if strings.Contains(strings.Join(strings.Fields(sql), " "), part) {
			return true
		}
	}
	return false
}

// No statement of a node that sells, changes and lists names reads a whole table that
// grows with the names: each finds its rows by an index, or reads an index of few rows.
func TestStatementsUseIndexes(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		c := sandbox(t)
		statements := statementsOf(t, c)
		newFilePlanner(t, c.databaseFile()).check(t, statements)
	})
	t.Run("postgres", func(t *testing.T) {
		if os.Getenv("TEST_POSTGRES_URL") == "" {
			t.Skip("TEST_POSTGRES_URL is not set; make test sets it")
		}
		url := sqldbtest.MigratedPostgresURL(t)
		c := sandbox(t)
		c.DatabaseURL = deed.Secret(url)
		statements := statementsOf(t, c)
		newPlanner(t, url).check(t, statements)
	})
}

// statementsOf returns the statements of a node that sells, changes and lists names.
func statementsOf(t *testing.T, c Config) []string {
	t.Helper()
	var mu sync.Mutex
	statements := map[string]bool{}
	c.Database.Timeout, c.WebhooksAllowLocal = time.Minute, true
	c.Registrars = []RegistrarConfig{{Name: "local", Type: "local", TLDs: []string{"*"}, Values: map[string]string{"cancel_monthly": "0", "cancel_percent": "100"}}}
	c.Database.Trace = sqldb.EachStatement(func(sql string) {
		mu.Lock()
		defer mu.Unlock()
		statements[sql] = true
	})
	sent := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Sorted(maps.Keys(statements))
	}
	service, buyer := serveSandbox(t, c)
	parts := []string{"INSERT INTO payments", "FROM owner_events", "FROM late_orders", "expires_at = $3 AND cancelling_at IS NULL"} // of a purchase, a list, loops, and the end of a name
	if c.DatabaseURL != "" {
		// With another node due rows are divided by other statements.
		later := func() time.Time { return time.Now().Add(time.Minute * 30) } // it runs until the test ends
		if err := (sqldb.Nodes{DB: service.DB, Now: later}).Write(t.Context(), sqldb.NewNode("another", "test", time.Now())); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, "(SELECT job_id FROM late_orders")
	}
	useEverything(t, buyer)
	for _, part := range parts {
		waitFor(t, func() bool {
			return slices.ContainsFunc(sent(), func(sql string) bool { return strings.Contains(sql, part) })
		})
	}
	return sent()
}

// What an audit reads besides the invariants, which make growth measures, is found by
// indexes, too.
func TestAuditUsesIndexes(t *testing.T) {
	url, db, statements := tracedPostgres(t)
	books, lately := sqldb.Audit{DB: db}, time.Now().Add(-time.Hour)
	var err error
	for _, read := range []func() error{
		func() error { _, err := books.Newest(t.Context()); return err },
		func() error { _, err := books.Moved(t.Context(), lately); return err },
		func() error { _, err := books.Refunds(t.Context(), lately); return err },
		func() error { _, err := books.Notices(t.Context()); return err },
		func() error { _, err := books.Open(t.Context()); return err },
	} {
		err = errors.Join(err, read())
	}
	if err != nil {
		t.Fatal(err)
	}
	// Few rows are joined with many, which an empty database does not show.
	newPlanner(t, url, "SET enable_hashjoin = off", "SET enable_mergejoin = off").check(t, *statements)
	if findings, err := books.RunSince(t.Context(), lately); err != nil || len(findings) == 0 {
		t.Errorf("got %v, %v", findings, err)
	}
}

// What the name server and the secondaries ask for a zone reads that zone only.
func TestZonesAreReadByIndexes(t *testing.T) {
	url, db, statements := tracedPostgres(t)
	served := sqldb.Served{DB: db, Now: time.Now}
	for what, read := range map[string]func() error{
		"zone":    func() error { _, err := served.Zone(t.Context(), "plan-one.com"); return err },
		"SOA":     func() error { _, err := served.SOA(t.Context(), "plan-one.com"); return err },
		"changes": func() error { _, _, _, err := served.Changes(t.Context(), "plan-one.com", 1); return err },
	} {
		if err := read(); deed.CodeOf(err) != deed.CodeNotFound {
			t.Errorf("%s: got %v", what, err)
		}
	}
	newPlanner(t, url).check(t, *statements)
}

// tracedPostgres opens a new database to read, and returns the statements that it gets.
func tracedPostgres(t *testing.T) (url string, db *sqldb.DB, statements *[]string) {
	t.Helper()
	if os.Getenv("TEST_POSTGRES_URL") == "" {
		t.Skip("TEST_POSTGRES_URL is not set; make test sets it")
	}
	url, statements = sqldbtest.MigratedPostgresURL(t), new([]string)
	c := sandbox(t)
	c.DatabaseURL = deed.Secret(url)
	c.Database.Trace = sqldb.EachStatement(func(sql string) { *statements = append(*statements, sql) })
	db, err := openReadOnly(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // it was only read
	return url, db, statements
}

// A planner asks PostgreSQL how it would execute statements if no table were small.
type planner struct {
	conn  *pgx.Conn
	large map[string]bool // names of indexes of all rows of a table that grows
	n     int
}

func newPlanner(t *testing.T, url string, settings ...string) *planner {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) }) // the database is dropped
	for _, setting := range append(settings, "SET enable_seqscan = off", "SET plan_cache_mode = force_generic_plan") {
		if _, err := conn.Exec(t.Context(), setting); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := conn.Query(t.Context(), `
		SELECT indexrelid::regclass::text FROM pg_index
		 WHERE indrelid::regclass::text = ANY($1) AND (indpred IS NULL OR indexrelid::regclass::text = ANY($2))`, grows, current)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(names) < len(current) {
		t.Fatalf("got %v, %v", names, err)
	}
	p := &planner{conn: conn, large: map[string]bool{}}
	for _, name := range names {
		p.large[name] = true
	}
	return p
}

// A plan is a node of what EXPLAIN returns.
type plan struct {
	Kind  string `json:"Node Type"`
	Table string `json:"Relation Name"`
	Index string `json:"Index Name"`
	Cond  string `json:"Index Cond"`
	Plans []plan `json:"Plans"`
}

// check fails the test for every statement that reads a whole table.
func (p *planner) check(t *testing.T, statements []string) {
	t.Helper()
	checkPlans(t, statements, p.wholeReads)
}

// checkPlans fails the test for every statement of which explain returns a whole read.
func checkPlans(t *testing.T, statements []string, explain func(*testing.T, string) []string) {
	t.Helper()
	checked := 0
	for _, sql := range statements {
		words := strings.Fields(sql)
		if len(words) < 2 || !slices.Contains([]string{"SELECT", "UPDATE", "DELETE", "INSERT", "WITH"}, words[0]) {
			continue
		}
		checked++
		if mayReadAll(sql) {
			continue
		}
		for _, whole := range explain(t, sql) {
			t.Errorf("%s\n  of %s", whole, strings.Join(words, " "))
		}
	}
	if t.Logf("%d statements", checked); checked == 0 {
		t.Error("no statement was checked")
	}
}

// wholeReads returns the nodes of the statement's plan that read a whole table.
func (p *planner) wholeReads(t *testing.T, sql string) []string {
	t.Helper()
	p.n++
	name := fmt.Sprint("plan", p.n)
	prepared, err := p.conn.Prepare(t.Context(), name, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	args := ""
	if n := len(prepared.ParamOIDs); n > 0 {
		args = "(" + strings.Repeat("NULL, ", n-1) + "NULL)"
	}
	var text string
	if err := p.conn.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) EXECUTE "+name+args, pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var explained []struct {
		Plan plan
	}
	if err := json.Unmarshal([]byte(text), &explained); err != nil {
		t.Fatal(err)
	}
	return p.whole(explained[0].Plan)
}

// nearlyAll matches a condition that is true for nearly all rows.
var nearlyAll = regexp.MustCompile(`^\((?:changed|created|updated)_at <=? \$\d+\)$`)

func (p *planner) whole(n plan) (found []string) {
	switch {
	case n.Kind == "Seq Scan" && slices.Contains(grows, n.Table):
		found = append(found, "all of "+n.Table+" is read")
	case (n.Cond == "" || nearlyAll.MatchString(n.Cond)) && p.large[n.Index]:
		found = append(found, "all of the index "+n.Index+" is read")
	}
	for _, child := range n.Plans {
		found = append(found, p.whole(child)...)
	}
	return found
}
