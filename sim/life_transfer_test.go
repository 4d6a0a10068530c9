package sim

import (
	"testing"
	"time"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar/registry"
)

// elsewhereFor makes the name one of another registrar, where it has these servers, for so long
// that no cache has anything of ours, and no rule of the registry keeps it there.
func (s *scripted) elsewhereFor(d time.Duration, place string, ds ...dnssec.DS) {
	s.t.Helper()
	newLife(s.delegations)
	s.life.keep, s.forced = true, s.now.Add(forcedFor)
	e := &s.life.entry
	e.Account, e.Moved, e.Locked, e.AuthHash, e.Expires = them, s.now, false, code, s.now.AddDate(2, 0, 0)
	e.Nameservers, e.DS = places[place], ds
	s.life.publish()
	s.wait(d)
}

// The DS of a name that got our servers just before it was transferred to us waits until no
// cache has those that it had before: they do not have its key.
func TestTransferredWithOurServersWaits(t *testing.T) {
	s := openScripted(t)
	s.elsewhereFor(70*24*time.Hour, "a")
	s.life.buy(order.Purchase{Kind: order.PurchaseTransfer, Name: signedName, Years: 1, AuthCode: code})
	s.wait(registry.TransferDays*24*time.Hour - 10*time.Hour)
	s.life.entry.Nameservers = places["home"] // its owner prepares the transfer
	s.life.publish()
	s.wait(20 * time.Hour)
	s.is("transferred", "home", 0)
	m, err := s.moves.Move(t.Context(), signedName)
	if err != nil || m.Step != lifecycle.MoveSettling {
		t.Errorf("got %+v, %v", m, err)
	}
	s.wait(50 * time.Hour)
	s.is("settled", "home", 1)
}

// A hand-over of such a name, whose owner wanted others that the registry did not set, does not
// end the wait.
func TestTransferredWithOurServersWaitsAfterAHandOver(t *testing.T) {
	s := openScripted(t)
	s.elsewhereFor(70*24*time.Hour, "a")
	s.life.buy(order.Purchase{Kind: order.PurchaseTransfer, Name: signedName, Years: 1, AuthCode: code})
	s.wait(registry.TransferDays*24*time.Hour - 10*time.Hour)
	s.life.entry.Nameservers = places["home"]
	s.life.publish()
	s.wait(20 * time.Hour)
	s.is("transferred", "home", 0)
	s.failed(s.to("b", "SetNameservers", fate{notDone: true}))
	s.handOver()
	s.wait(20 * time.Hour)
	s.is("handed over", "home", 0)
	s.wait(40 * time.Hour)
	s.is("settled", "home", 1)
}
