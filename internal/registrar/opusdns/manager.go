package opusdns

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// maxTransfer is how long a transfer to us may take.
const maxTransfer = 14 * 24 * time.Hour

// transferLock is the status that forbids a transfer to another registrar.
const transferLock = "clientTransferProhibited"

// An updateRequest changes a name. What is missing stays as it is.
type updateRequest struct {
	Nameservers []nameserver      `json:"nameservers,omitempty"`
	Statuses    *statusChange     `json:"status_changes,omitempty"`
	Contacts    map[string]string `json:"contacts,omitempty"` // by role
	Code        string            `json:"auth_code,omitempty"`
}

type statusChange struct {
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

// held returns the domain of a name that is in the account. It fails with
// CodeNotFound for one that is only ordered.
func (b *Backend) held(ctx context.Context, l lane, name deed.Name) (domain, error) {
	d, err := b.domain(ctx, l, name)
	if err == nil && (!d.inAccount() || b.waitsForTransfer(d)) {
		return d, notInAccount(name)
	}
	return d, err
}

// waitsForTransfer reports whether the object is that of a transfer to us, which the
// losing registrar has not approved. A transfer away is one of a name that we have
// had for longer than any transfer takes.
func (b *Backend) waitsForTransfer(d domain) bool {
	return d.has("pendingTransfer") && d.created.After(d.registered.Add(b.config.ClockSkew)) && b.config.Now().Sub(d.created) < maxTransfer
}

// Holding implements registrar.Manager.
func (b *Backend) Holding(ctx context.Context, name deed.Name) (lifecycle.Holding, error) {
	d, err := b.held(ctx, orderLane, name)
	if err != nil {
		return lifecycle.Holding{}, err
	}
	h := d.holding(b.config.Now())
	h.DS, err = b.ds(ctx, orderLane, name)
	return h, err
}

// SetNameservers implements registrar.Manager.
func (b *Backend) SetNameservers(ctx context.Context, name deed.Name, hosts []string) error {
	hosts, err := deed.ParseNameservers(hosts)
	if err != nil {
		return err
	}
	_, err = b.update(ctx, name, updateRequest{Nameservers: nameservers(hosts)})
	return err
}

// SetLock implements registrar.Manager.
func (b *Backend) SetLock(ctx context.Context, name deed.Name, locked bool) error {
	d, err := b.held(ctx, orderLane, name)
	switch {
	case err != nil:
		return err
	case d.ending():
		return deed.Invalid("domain", "%s was deleted: restore it first", name)
	case d.locked == locked:
		return nil // a second change would be refused
	}
	return b.setStatus(ctx, name, transferLock, locked)
}

func (b *Backend) setStatus(ctx context.Context, name deed.Name, status string, set bool) error {
	change := &statusChange{Remove: []string{status}}
	if set {
		change = &statusChange{Add: []string{status}}
	}
	_, err := b.update(ctx, name, updateRequest{Statuses: change})
	return err
}

// update changes the name, and returns it as the vendor replies.
func (b *Backend) update(ctx context.Context, name deed.Name, in updateRequest) (domain, error) {
	var reply domainReply
	err := b.api.do(ctx, request{lane: orderLane, method: http.MethodPatch, path: domainPath(name), in: in}, &reply)
	if err != nil {
		return domain{}, b.notChanged(ctx, "change", name, err)
	}
	d, err := parseDomain(reply)
	if err == nil && d.name != name {
		err = fmt.Errorf("%w: it is about %s", errUndocumented, d.name)
	}
	if err != nil {
		return d, b.unknown("change "+string(name), err)
	}
	if d.has(pendingUpdate) {
		return d, errPending(name)
	}
	return d, nil
}

// pendingUpdate is the status of a name with a change that the registry has not decided yet.
const pendingUpdate = "pendingUpdate"

func errPending(name deed.Name) error {
	return fmt.Errorf("change %s: the registry has not decided about the change yet", name)
}

// notChanged returns the error of a change of a name. While the registry has not decided about
// another one, the vendor refuses it, but not for good.
func (b *Backend) notChanged(ctx context.Context, doing string, name deed.Name, err error) error {
	if refusal(err) != nil {
		if d, lookupErr := b.domain(ctx, orderLane, name); lookupErr == nil && d.has(pendingUpdate) {
			return errPending(name)
		}
	}
	return b.changeError(doing, name, err)
}

// changeError returns the error of a change of a name.
func (b *Backend) changeError(doing string, name deed.Name, err error) error {
	switch p := refusal(err); {
	case p == nil:
		return b.unknown(doing+" "+string(name), err)
	case p.is(codeDomainNotFound):
		return notInAccount(name)
	case p.status == http.StatusNotFound:
		return b.unknown(doing+" "+string(name), err)
	default:
		return &deed.Error{
			Code: deed.CodeValidation, Message: string(name) + " cannot be changed like this now", Err: p,
			Details: []deed.Detail{{Field: "domain", Reason: "the registry does not allow the change"}},
		}
	}
}

// Delete implements registrar.Deleter. Some registries delete a name only when it
// expires: the state of the name tells whether it is deleted.
func (b *Backend) Delete(ctx context.Context, name deed.Name) error {
	err := b.api.do(ctx, request{lane: orderLane, method: http.MethodDelete, path: domainPath(name)}, nil)
	if err != nil {
		return b.changeError("delete", name, err)
	}
	d, err := b.domain(ctx, orderLane, name)
	switch {
	case deed.CodeOf(err) == deed.CodeNotFound:
		return nil
	case err == nil && !d.ending():
		return fmt.Errorf("delete %s: the registry has not deleted it yet", name)
	}
	return err
}

// A dsData is a DS record, or a key that the registry publishes the DS of, as the vendor has it.
type dsData struct {
	Type       string `json:"record_type"`
	KeyTag     *int   `json:"key_tag,omitempty"`
	Algorithm  int    `json:"algorithm"`
	DigestType *int   `json:"digest_type,omitempty"`
	Digest     string `json:"digest,omitempty"`
	Flags      *int   `json:"flags,omitempty"`
	Protocol   *int   `json:"protocol,omitempty"`
	PublicKey  string `json:"public_key,omitempty"`
}

const (
	dsRecord  = "ds_data"
	keyRecord = "key_data"
)

// SetDS implements registrar.Manager.
func (b *Backend) SetDS(ctx context.Context, name deed.Name, keys []dnssec.DS) error {
	keys, err := dnssec.ParseDS(keys)
	if err != nil {
		return err
	}
	r := request{lane: orderLane, method: http.MethodDelete, path: domainPath(name) + "/dnssec"}
	if len(keys) > 0 {
		var all []dsData
		for _, k := range keys {
			all = append(all, dsData{Type: dsRecord, KeyTag: new(int(k.KeyTag)), Algorithm: int(k.Algorithm), DigestType: new(int(k.DigestType)), Digest: k.Digest})
		}
		r.method, r.in = http.MethodPut, all
	}
	if err := b.api.do(ctx, r, nil); err != nil {
		return b.notChanged(ctx, "set the DS records of", name, err)
	}
	return nil
}
