package client

import (
	"context"
	"mime"
	"net/url"
	"strconv"

	"deed.example/deed/api"
)

// A RecordFilter selects records. Empty fields match all.
type RecordFilter struct{ Type, Host string }

// Records lists the DNS records of a name of the wallet. It is free.
func (c *Client) Records(ctx context.Context, domain string, f RecordFilter) (api.RecordList, error) {
	q := url.Values{}
	if f.Type != "" {
		q.Set("type", f.Type)
	}
	if f.Host != "" {
		q.Set("host", f.Host)
	}
	return call[api.RecordList](ctx, c, request{method: "GET", path: path("dns", domain), query: q, bearer: true}, nil)
}

// AddRecord adds a record. It costs 0.10 USDC, as every change of a record does.
func (c *Client) AddRecord(ctx context.Context, domain string, in api.RecordRequest) (api.Record, error) {
	return call[api.Record](ctx, c, change("POST", path("dns", domain)), in)
}

// UpdateRecord changes the given fields of a record.
func (c *Client) UpdateRecord(ctx context.Context, domain, id string, in api.RecordUpdate) (api.RecordUpdated, error) {
	return call[api.RecordUpdated](ctx, c, change("PUT", path("dns", domain, id)), in)
}

// DeleteRecord deletes a record.
func (c *Client) DeleteRecord(ctx context.Context, domain, id string) (api.RecordDeleted, error) {
	return call[api.RecordDeleted](ctx, c, change("DELETE", path("dns", domain, id)), nil)
}

// ChangeRecords makes all changes or none, for one payment.
func (c *Client) ChangeRecords(ctx context.Context, domain string, in api.BatchRequest) (api.ZoneChanged, error) {
	return call[api.ZoneChanged](ctx, c, change("POST", path("dns", domain, "batch")), in)
}

// ExportZone returns the zone as a zone file (RFC 1035, 5).
func (c *Client) ExportZone(ctx context.Context, domain string) ([]byte, error) {
	a, err := c.do(ctx, request{method: "GET", path: path("dns", domain, "export"), accept: "text/dns, */*;q=0.1", bearer: true})
	if err != nil {
		return nil, err
	}
	if media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type")); media != "text/dns" { // it may be kept as a backup
		return nil, &Error{Status: a.status, Message: "the body is not a zone file"}
	}
	return a.body, nil
}

// An Import has the options of ImportZone.
type Import struct {
	Replace bool // delete records that are not in the file
	DryRun  bool // only return the difference, for free
	Clamp   bool // change TTLs that are not allowed to the nearest allowed ones
}

// ImportZone imports a zone file and returns the difference. Each changed
// record has a price.
func (c *Client) ImportZone(ctx context.Context, domain string, file []byte, how Import) (api.ZoneChanged, error) {
	r := change("POST", path("dns", domain, "import"))
	r.body, r.contentType = file, "text/dns"
	r.query = url.Values{"mode": {"merge"}}
	if how.Replace {
		r.query.Set("mode", "replace")
	}
	if how.Clamp {
		r.query.Set("ttl", "clamp")
	}
	if how.DryRun {
		r.query.Set("dryRun", "true")
	}
	return call[api.ZoneChanged](ctx, c, r, nil)
}

// Revisions lists the history of a zone, newest first.
func (c *Client) Revisions(ctx context.Context, domain string) (api.Revisions, error) {
	return call[api.Revisions](ctx, c, request{method: "GET", path: path("dns", domain, "revisions"), bearer: true}, nil)
}

// Rollback restores the zone of a revision, or only returns the difference.
func (c *Client) Rollback(ctx context.Context, domain string, revision uint32, dryRun bool) (api.ZoneChanged, error) {
	r := change("POST", path("dns", domain, "rollback", strconv.FormatUint(uint64(revision), 10)))
	if dryRun {
		r.query = url.Values{"dryRun": {"true"}}
	}
	return call[api.ZoneChanged](ctx, c, r, nil)
}

// Propagation returns the state of a zone on every name server.
func (c *Client) Propagation(ctx context.Context, domain string) (api.Propagation, error) {
	return call[api.Propagation](ctx, c, request{method: "GET", path: path("dns", domain, "propagation"), bearer: true}, nil)
}

// change returns a paid request of an owner.
func change(method, path string) request {
	return request{method: method, path: path, bearer: true, paid: true}
}
