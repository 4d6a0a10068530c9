package httpapi

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/zone"
)

const maxZoneFile = 1 << 20

func (s *Server) changeRecords(w http.ResponseWriter, r *http.Request, c dnsCall) error {
	var in api.BatchRequest
	if err := decode(w, r, maxBody, &in); err != nil {
		return err
	}
	change := c.change(dnszone.ChangeBatch)
	if in.IfRevision != nil {
		if *in.IfRevision == 0 {
			return deed.WithNext(deed.Invalid("ifRevision", "0 is not a revision: send the one that the zone is at"), listRecords(c.name))
		}
		change.IfRevision = *in.IfRevision
	}
	for i, ch := range in.Changes {
		op, err := toOp(ch, c.name)
		if err != nil {
			return s.ownershipErrorFirst(r, c, deed.Within("changes["+strconv.Itoa(i)+"]", err))
		}
		change.Ops = append(change.Ops, op)
	}
	if in.DryRun {
		if err := c.pay.counted(); err != nil {
			return err
		}
		z, err := s.Zones.Zone(r.Context(), c.who, c.name)
		if err != nil {
			return err
		}
		if len(change.Ops) == 0 { // an import and a rollback may change nothing, a batch may not
			return dnszone.ErrEmpty
		}
		return s.replyPlan(w, z, change)
	}
	out, err := s.buyChange(r, c, change)
	return s.replyChanged(w, r, c, out, err)
}

// listRecords is the next step after a request that names no record or revision.
func listRecords(name deed.Name) deed.Next {
	return deed.Next{Action: deed.ActionListRecords, Domain: name}
}

func toOp(in api.RecordChange, name deed.Name) (dnszone.RecordOp, error) {
	op := dnszone.RecordOp{Op: dnszone.OpKind(in.Op), ID: dnszone.RecordID(in.ID)}
	switch op.Op {
	case dnszone.OpAdd:
		rec, err := toRecordInput(api.RecordRequest{
			Type: deref(in.Type), Host: deref(in.Host), Value: deref(in.Value), TTL: in.TTL, Distance: in.Distance, Priority: in.Priority,
		}).Record(name)
		if err == nil && in.ID != "" {
			err = deed.Invalid("id", "is given to a new record by us: leave it out")
		}
		op.Record, op.ID = rec, ""
		return op, err
	case dnszone.OpUpdate:
		op.Patch = toPatch(in.RecordUpdate)
	case dnszone.OpDelete:
		if in.RecordUpdate != (api.RecordUpdate{}) {
			return op, deed.Invalid("op", "a deletion has an id and nothing else")
		}
	default:
		return op, deed.Invalid("op", "is one of add, update, delete")
	}
	if in.ID == "" {
		return op, deed.WithNext(deed.Invalid("id", "is missing: send the id of the record"), listRecords(name))
	}
	return op, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// replyPlan sends the result of a dry run: what would change, and the price.
func (s *Server) replyPlan(w http.ResponseWriter, z dnszone.Zone, c dnszone.Change) error {
	next := z
	if len(c.Ops) > 0 {
		var err error
		if next, err = c.Apply(z, s.Now()); err != nil {
			return err
		}
	}
	s.reply(w, http.StatusOK, s.changed(z, next, c, true))
	return nil
}

// changed returns the difference of two states of a zone.
func (s *Server) changed(was, is dnszone.Zone, c dnszone.Change, dryRun bool) api.ZoneChanged {
	out := api.ZoneChanged{
		Domain: string(is.Name), DryRun: dryRun, Revision: is.Revision, Changes: []api.RecordDifference{},
		Count: c.Count(), Price: (deed.USDC(c.Count()) * zone.Price).String(), Currency: currency,
	}
	if dryRun {
		out.Revision = was.Revision
	}
	for _, op := range c.Ops {
		d := api.RecordDifference{Op: string(op.Op)}
		if before, err := was.Record(op.ID); err == nil {
			shown := fromRecord(before)
			d.Before = &shown
		}
		after, err := is.Record(op.ID)
		if op.Op == dnszone.OpAdd && (op.ID == "" || err != nil) { // a planned record has no ID yet
			after, err = op.Record, nil
		}
		if err == nil {
			shown := fromRecord(after)
			d.After = &shown
		}
		out.Changes = append(out.Changes, d)
	}
	return out
}

// replyChanged sends the result of a change of several records.
func (s *Server) replyChanged(w http.ResponseWriter, r *http.Request, c dnsCall, out order.Outcome, err error) error {
	if err != nil {
		return s.failChange(w, r, c, out, err)
	}
	was, is, err := s.Zones.Around(r.Context(), c.name, out.Job.Revision)
	if err != nil {
		return err
	}
	if err := s.setChangeReceipt(w, r, c, out); err != nil {
		return err
	}
	s.reply(w, http.StatusOK, s.changed(was, is, out.Job.Purchase.Change, false))
	return nil
}

func (s *Server) exportZone(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	z, err := s.Zones.Zone(r.Context(), who, name)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/dns; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="`+string(name)+`.zone"`)
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, dnszone.FormatZone(z, s.Registrations.Nameservers)) // the client is gone if this fails
	return nil
}

func (s *Server) importZone(w http.ResponseWriter, r *http.Request, c dnsCall) error {
	in := zone.Import{Name: c.name, By: c.who}
	q, err := query(r, "mode", "ttl", "dryRun")
	if err != nil {
		return err
	}
	if in.Replace, err = choice(q, "mode", "merge", "replace"); err != nil {
		return err
	}
	if in.Clamp, err = choice(q, "ttl", "strict", "clamp"); err != nil {
		return err
	}
	dryRun, err := choice(q, "dryRun", "false", "true")
	if err != nil {
		return err
	}
	if noBody(r) {
		return deed.Errorf(deed.CodeValidation, "the body is empty: send a zone file; one with nothing but a comment is an empty zone")
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "text/dns" && media != "text/plain" {
		return refuse(http.StatusUnsupportedMediaType, "send the zone file as Content-Type: text/dns")
	}
	if in.File, err = readBody(w, r, maxZoneFile); err != nil {
		return unread(err)
	}
	plan := func(ctx context.Context) (dnszone.Change, dnszone.Zone, error) { return s.Zones.PlanImport(ctx, in) }
	return s.sellPlan(w, r, c, plannedChange{plan, in.Request(), dryRun})
}

// A plannedChange is a change that follows from the zone as it is: an import or a rollback.
type plannedChange struct {
	plan    func(ctx context.Context) (dnszone.Change, dnszone.Zone, error)
	request order.Request
	dryRun  bool
}

// sellPlan sells a planned change, or shows it. One that leaves the zone as it is is free.
func (s *Server) sellPlan(w http.ResponseWriter, r *http.Request, c dnsCall, p plannedChange) error {
	if p.dryRun {
		if err := c.pay.counted(); err != nil {
			return err
		}
	}
	if p.dryRun || c.pay.auth == nil && c.pay.err == nil {
		change, z, err := p.plan(r.Context())
		switch {
		case err != nil:
			return err
		case p.dryRun:
			return s.replyPlan(w, z, change)
		case change.Count() == 0:
			s.reply(w, http.StatusOK, s.changed(z, z, change, false))
			return nil
		}
	}
	out, err := s.Payments.Buy(r.Context(), p.request, s.checkout(c.pay))
	if errors.Is(err, zone.ErrUnchanged) { // because of somebody else's change meanwhile
		change, z, err := p.plan(r.Context())
		if err != nil {
			return err
		}
		s.reply(w, http.StatusOK, s.changed(z, z, change, false))
		return nil
	}
	return s.replyChanged(w, r, c, out, err)
}

// choice reports whether a parameter has the second of its two values; the first is the
// default.
func choice(q url.Values, name, first, second string) (bool, error) {
	switch q.Get(name) {
	case "", first:
		return false, nil
	case second:
		return true, nil
	}
	return false, deed.Invalid(name, "is %s or %s", first, second)
}

func (s *Server) listRevisions(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	list, err := s.Zones.Revisions(r.Context(), who, name)
	if err != nil {
		return err
	}
	out := api.Revisions{Domain: string(name), Revisions: make([]api.Revision, 0, len(list))}
	for _, v := range list {
		out.Revisions = append(out.Revisions, api.Revision{Revision: v.Serial, At: v.At, Added: v.Added, Deleted: v.Deleted, Records: v.Records})
	}
	s.reply(w, http.StatusOK, out)
	return nil
}

func (s *Server) rollBack(w http.ResponseWriter, r *http.Request, c dnsCall) error {
	revision, err := strconv.ParseUint(r.PathValue("revision"), 10, 32)
	if err != nil || revision == 0 {
		return deed.WithNext(deed.Invalid("revision", "must be a number"), deed.Next{Action: deed.ActionListRevisions, Domain: c.name})
	}
	back := zone.Rollback{Name: c.name, By: c.who, Revision: uint32(revision)}
	q, err := query(r, "dryRun")
	if err != nil {
		return err
	}
	dryRun, err := choice(q, "dryRun", "false", "true")
	if err != nil {
		return err
	}
	plan := func(ctx context.Context) (dnszone.Change, dnszone.Zone, error) {
		return s.Zones.PlanRollback(ctx, back)
	}
	return s.sellPlan(w, r, c, plannedChange{plan, back.Request(), dryRun})
}

func (s *Server) propagation(w http.ResponseWriter, r *http.Request, who deed.Wallet, name deed.Name) error {
	z, err := s.Zones.Zone(r.Context(), who, name)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.Propagation{Domain: string(name), Serial: z.Serial, Servers: s.Propagation(r.Context(), name, z.Serial)})
	return nil
}
