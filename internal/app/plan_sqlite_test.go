package app

import (
	"database/sql"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// largePartialIndexes are indexes of some rows of the tables that grow which are large all
// the same.
var largePartialIndexes = []string{
	"mandates_next", "mandates_open", "mandates_owner", "mandates_payment", "records_live", "records_zone", "refresh_tokens_active", "refresh_tokens_done",
	"refresh_tokens_wallet", "registrations_unsigned", "served_live", "served_removed", "webhook_deliveries_done", "zones_domain", "zones_renew",
}

// A filePlanner asks SQLite how it would execute statements.
type filePlanner struct {
	db    *sql.DB
	large map[string]bool // names of large indexes of tables that grow
}

func newFilePlanner(t *testing.T, path string) *filePlanner {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) // the file is removed
	rows, err := db.QueryContext(t.Context(), `SELECT name, tbl_name, coalesce(sql, '') LIKE '% WHERE %' FROM sqlite_master WHERE type = 'index'`)
	if err != nil {
		t.Fatal(err)
	}
	p := &filePlanner{db: db, large: map[string]bool{}}
	for rows.Next() {
		var index, table string
		var partial bool
		if err := rows.Scan(&index, &table, &partial); err != nil {
			t.Fatal(err)
		}
		p.large[index] = slices.Contains(grows, table) && (!partial || slices.Contains(largePartialIndexes, index))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *filePlanner) check(t *testing.T, statements []string) {
	t.Helper()
	checkPlans(t, statements, p.wholeReads)
}

// A plan has lines like "SCAN z", "SCAN z USING INDEX name" and "SEARCH z USING INDEX name
// (changed_at<?)". Nearly all rows changed before some time, and many may have the same payer
// or name servers.
var (
	wholeRead = regexp.MustCompile(`^(?:SCAN|SEARCH) (\w+)(?: EXISTS)?(?: USING (?:COVERING )?INDEX (\w+)(?: \((?:(?:changed|created|updated)_at<|payer=|nameservers=)\?\))?)?(?: LEFT-JOIN)?$`)
	aliased   = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|,)\s+(\w+)(?:\s+AS)?\s+(\w+)`)
)

// wholeReads returns the lines of the statement's plan that read a whole table.
func (p *filePlanner) wholeReads(t *testing.T, statement string) (found []string) {
	t.Helper()
	names := slices.Clone(grows) // and their aliases
	for _, m := range aliased.FindAllStringSubmatch(statement, -1) {
		if slices.Contains(grows, m[1]) {
			names = append(names, m[2])
		}
	}
	args := make([]any, strings.Count(statement, "$")+strings.Count(statement, "?")) // as many at least
	rows, err := p.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	for rows.Next() {
		var id, parent, unused int
		var line string
		if err := rows.Scan(&id, &parent, &unused, &line); err != nil {
			t.Fatal(err)
		}
		m := wholeRead.FindStringSubmatch(line)
		if m != nil && slices.Contains(names, m[1]) && (m[2] == "" || p.large[m[2]]) {
			found = append(found, line)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}
