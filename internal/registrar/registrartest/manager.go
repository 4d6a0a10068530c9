package registrartest

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/registry"
)

// Manager runs the suite for names in the account.
func Manager(t *testing.T, kind Idempotency, open func(t *testing.T) Env) {
	open = recorded(kind, open)
	for title, f := range map[string]func(*testing.T, Env){
		"a new name":                       managerNew,
		"nameservers":                      managerNameservers,
		"nameservers of an order":          managerOrdered,
		"the name in its order":            managerInOrder,
		"glue":                             managerGlue,
		"registrant":                       managerRegistrant,
		"lock":                             managerLock,
		"codes":                            managerCodes,
		"keys":                             managerDS,
		"a name of another account":        managerOtherAccount,
		"every phase":                      managerPhases,
		"no reply":                         managerDown,
		"nothing is left for a new holder": managerNewHolder,
	} {
		t.Run(title, func(t *testing.T) { f(t, open(t)) })
	}
}

var (
	hosts = []string{"ns1.example.com", "ns2.example.net"}
	keys  = []dnssec.DS{
		{KeyTag: 12345, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("0a", 32)},
		{KeyTag: 65535, Algorithm: 8, DigestType: 4, Digest: strings.Repeat("f9", 48)},
	}
)

func managerNew(t *testing.T, b Env) {
	b.registered(t, ref, name)
	order := b.wantOrder(t, ref, name, registrar.OrderDone)
	h := b.holding(t, name)
	if h.Name != name || b.otherReference(h, ref) || !h.Created.Equal(order.Created) || !h.Expires.Equal(order.Expires) || h.Phase != lifecycle.PhaseActive || len(h.DS) > 0 {
		t.Errorf("got %+v after %+v", h, order)
	}
	if !slices.Contains(h.EPPStatus, "addPeriod") {
		t.Errorf("got %v, want addPeriod", h.EPPStatus)
	}
	b.Advance(registry.AddGraceDays * day)
	if h := b.holding(t, name); slices.Contains(h.EPPStatus, "addPeriod") {
		t.Errorf("got %v, want no addPeriod", h.EPPStatus)
	}
}

// otherReference reports whether the holding has another reference. Not every registry
// stores it.
func (b Env) otherReference(h lifecycle.Holding, reference string) bool {
	return h.Reference != reference && (b.kind == ByReference || h.Reference != "")
}

// managerInOrder compares the name that the lookup of its order returns, if it does, with
// the name itself.
func managerInOrder(t *testing.T, b Env) {
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: ref, Name: name, Years: 1, Nameservers: hosts}
	if err := b.Registrar.Place(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	st, err := b.Registrar.Order(t.Context(), b.order(ref, name))
	if err != nil || st.State != registrar.OrderDone {
		t.Fatalf("got %+v, %v", st, err)
	}
	if want := b.holding(t, name); st.Holding != nil && !reflect.DeepEqual(*st.Holding, want) {
		t.Errorf("got %+v, want %+v", *st.Holding, want)
	}
}

func managerNameservers(t *testing.T, b Env) {
	b.registered(t, ref, name)
	for range 2 {
		if err := b.Manager.SetNameservers(t.Context(), name, []string{"NS1.Example.com.", "ns2.example.net"}); err != nil {
			t.Fatal(err)
		}
	}
	long := strings.Repeat("a", 64)
	for _, bad := range [][]string{
		nil, hosts[:1], {hosts[0], hosts[0]}, {hosts[0], "NS1.example.com"}, {hosts[0], ""}, {hosts[0], "."}, {hosts[0], "localhost"},
		{hosts[0], "192.0.2.1"}, {hosts[0], "a..example.com"}, {hosts[0], "-a.example.com"}, {hosts[0], "a-.example.com"},
		{hosts[0], "a_b.example.com"}, {hosts[0], "a b.example.com"}, {hosts[0], long + ".example.com"}, {hosts[0], "ns1.exämple.com"},
		{hosts[0], strings.Repeat("a.", 126) + "com"}, slices.Repeat(hosts, 7),
	} {
		wantCode(t, b.Manager.SetNameservers(t.Context(), name, bad), deed.CodeValidation)
	}
	if got := b.holding(t, name).Nameservers; !slices.Equal(got, hosts) {
		t.Errorf("got %v, want %v", got, hosts)
	}
}

func managerOrdered(t *testing.T, b Env) {
	o := registrar.Order{Kind: registrar.OrderRegister, Reference: ref, Name: name, Years: 1, Nameservers: hosts}
	if err := b.Registrar.Place(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if got := b.holding(t, name).Nameservers; !slices.Equal(got, hosts) {
		t.Errorf("got %v, want %v", got, hosts)
	}
}

func managerLock(t *testing.T, b Env) {
	b.registered(t, ref, name)
	for _, locked := range []bool{true, true, false, false, true} {
		if err := b.Manager.SetLock(t.Context(), name, locked); err != nil {
			t.Fatal(err)
		}
		h := b.holding(t, name)
		if h.Locked != locked || slices.Contains(h.EPPStatus, "clientTransferProhibited") != locked {
			t.Errorf("got %+v, want locked %t", h, locked)
		}
	}
}

func managerCodes(t *testing.T, b Env) {
	b.registered(t, ref, name)
	seen := map[deed.Secret]bool{}
	for range 3 {
		code, err := b.Manager.AuthCode(t.Context(), name)
		if err != nil || len(code) < 8 || seen[code] {
			t.Errorf("got a code of %d characters, seen before %t, %v", len(code), seen[code], err)
		}
		seen[code] = true
	}
}

func managerDS(t *testing.T, b Env) {
	b.registered(t, ref, name)
	for _, ds := range [][]dnssec.DS{keys, keys, keys[:1], nil, keys} {
		if err := b.Manager.SetDS(t.Context(), name, ds); err != nil {
			t.Fatal(err)
		}
		if got := b.holding(t, name).DS; !slices.Equal(got, ds) {
			t.Errorf("got %v, want %v", got, ds)
		}
	}
	for _, bad := range []dnssec.DS{
		{KeyTag: 1, Algorithm: 0, DigestType: 2, Digest: keys[0].Digest},
		{KeyTag: 1, Algorithm: 1, DigestType: 2, Digest: keys[0].Digest},
		{KeyTag: 1, Algorithm: 13, DigestType: 1, Digest: strings.Repeat("0", 40)},
		{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: keys[1].Digest},
		{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: ""},
		{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: strings.Repeat("0g", 32)},
		keys[0],
	} {
		wantCode(t, b.Manager.SetDS(t.Context(), name, []dnssec.DS{keys[0], bad}), deed.CodeValidation)
	}
	if got := b.holding(t, name).DS; !slices.Equal(got, keys) {
		t.Errorf("got %v, want %v", got, keys)
	}
}

// change calls every method that changes a name, and returns their errors.
func (b Env) change(t *testing.T, n deed.Name) []error {
	_, err := b.Manager.AuthCode(t.Context(), n)
	return []error{
		err,
		b.Manager.SetNameservers(t.Context(), n, hosts),
		b.Manager.SetLock(t.Context(), n, false),
		b.Manager.SetDS(t.Context(), n, keys),
	}
}

func managerOtherAccount(t *testing.T, b Env) {
	names := []deed.Name{other}
	if b.Elsewhere != nil {
		b.Elsewhere(t, name)
		names = append(names, name)
	}
	for _, n := range names {
		b.wantNotInAccount(t, n)
		for _, err := range b.change(t, n) {
			wantCode(t, err, deed.CodeNotFound)
		}
	}
	b.wantAvailable(t, other, true, "")
}

// In redemption and after it nothing can be changed, until the name is restored.
func managerPhases(t *testing.T, b Env) {
	b.registered(t, ref, name)
	expires := b.holding(t, name).Expires
	for _, p := range []struct {
		from  time.Time
		phase lifecycle.Phase
		want  deed.Code
		shows string
	}{
		{b.Now(), lifecycle.PhaseActive, "", "addPeriod"},
		{expires, lifecycle.PhaseGrace, "", "autoRenewPeriod"},
		{expires.AddDate(0, 0, b.GraceDays), lifecycle.PhaseRedemption, deed.CodeValidation, "redemptionPeriod"},
		{expires.AddDate(0, 0, b.GraceDays+lifecycle.RedemptionDays), lifecycle.PhasePendingDelete, deed.CodeValidation, "pendingDelete"},
	} {
		b.until(p.from.Add(time.Second))
		h := b.holding(t, name)
		if h.Phase != p.phase || !slices.Contains(h.EPPStatus, p.shows) || slices.Contains(h.EPPStatus, "serverHold") != (p.want != "") {
			t.Errorf("got %s %v, want %s with %s", h.Phase, h.EPPStatus, p.phase, p.shows)
		}
		for _, err := range b.change(t, name) {
			wantCode(t, err, p.want)
		}
	}
	b.until(expires.AddDate(0, 0, b.GraceDays+lifecycle.RedemptionDays+lifecycle.PendingDeleteDays).Add(time.Second))
	b.wantNotInAccount(t, name)
}

func managerDown(t *testing.T, b Env) {
	b.registered(t, ref, name)
	before := b.holding(t, name)
	b.Break(t, Down, 5)
	_, err := b.Manager.Holding(t.Context(), name)
	for _, err := range append(b.change(t, name), err) {
		wantUnknown(t, err)
	}
	if after := b.holding(t, name); after.Locked != before.Locked || len(after.Nameservers) != len(before.Nameservers) || len(after.DS) > 0 {
		t.Errorf("got %+v after %+v, want no change", after, before)
	}
}

func managerNewHolder(t *testing.T, b Env) {
	b.registered(t, ref, name)
	for _, err := range b.change(t, name) {
		wantCode(t, err, "")
	}
	b.until(b.holding(t, name).Expires.AddDate(0, 0, b.GraceDays+lifecycle.RedemptionDays+lifecycle.PendingDeleteDays).Add(time.Second))
	b.registered(t, rival, name)
	if h := b.holding(t, name); b.otherReference(h, rival) || len(h.DS) > 0 || slices.Equal(h.Nameservers, hosts) {
		t.Errorf("got %+v, want no data of the last holder", h)
	}
}
