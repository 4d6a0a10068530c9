package dnszone

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
)

// FileRecords are the records of a zone file.
type FileRecords struct {
	Records []Record

	places []string          // line and column of each
	hosts  map[string]string // of the last record of each host
}

func (f *FileRecords) add(r Record, place string) {
	f.places = append(f.places, place)
	f.hosts[r.Host] = place
}

// CheckImport returns all rules that z would break after the ops of c, which import the
// file, each with the line and column of a record that breaks it. It returns nil when
// there are none, or when the ops themselves cannot be applied.
func (f FileRecords) CheckImport(c Change, z Zone) error {
	d := newDraft(z)
	for _, op := range c.Ops {
		if d.do(op, time.Time{}) != nil {
			return nil
		}
	}
	_, found := d.zone()
	var errs zoneFileErrors
	for _, v := range found[:min(len(found), maxZoneFileErrors)] {
		errs.add(f.place(c.Ops[v.op], v.host), v.err)
	}
	return errs.join()
}

// place returns where the record of the op is, or else the last one of the host.
func (f FileRecords) place(op RecordOp, host string) string {
	if host == "" {
		return "body"
	}
	if op.Op == OpAdd && op.Record.Host == host {
		key := op.Record.dataKey()
		if i := slices.IndexFunc(f.Records, func(r Record) bool { return r.dataKey() == key }); i >= 0 {
			return f.places[i]
		}
	}
	if place, ok := f.hosts[host]; ok {
		return place
	}
	return "body"
}

// zoneFileErrors collects what is wrong with a file.
type zoneFileErrors struct{ list []deed.Detail }

func (e *zoneFileErrors) add(field string, err error) {
	reason := err.Error()
	if coded, ok := errors.AsType[*deed.Error](err); ok {
		reason = coded.Message
		if coded.Hint != "" {
			reason += ": " + coded.Hint
		}
	}
	e.list = append(e.list, deed.Detail{Field: field, Reason: reason})
}

// join returns the error of the whole file, or nil.
func (e *zoneFileErrors) join() error {
	switch n := len(e.list); n {
	case 0:
		return nil
	case 1:
		return &deed.Error{Code: deed.CodeValidation, Message: e.list[0].Field + ": " + e.list[0].Reason, Details: e.list}
	default:
		return &deed.Error{
			Code: deed.CodeValidation, Details: e.list,
			Message: fmt.Sprintf("%s: %s (the first of %d errors, which details lists)", e.list[0].Field, e.list[0].Reason, n),
		}
	}
}
