package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/internal/logtest"
	"deed.example/deed/internal/registrar/opusdns/opusdnstest"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// However many replies in a row break the vendor's own description of them, before or
// after the money moved, a name is either paid for and held, or neither; the operator is
// told once.
func TestRepliesThatBreakTheSchema(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var log logtest.Buffer
		s, vendor, _, outside := openWholesaler(t, db, logged(&log))
		sold, refused := 0, 0
		for i, broken := range []int{1000, 1, 2, 1, 2, 3, 4, 8} {
			name := deed.Name(fmt.Sprintf("broken%d.com", i))
			owner := s.buyer(t)
			if i < 3 {
				vendor.Break(opusdnstest.Broken, broken)
			}
			s.api.Registrations.Step = func(step string) {
				if i >= 3 && step == "job: about to order" {
					vendor.Break(opusdnstest.Broken, broken)
				}
			}
			s.register(t, string(name), s.promise(owner, comPrice).header(t))
			vendor.Break(opusdnstest.NoFault, 0)
			s.runWorker(t)
			paid := 1_000_000_000 - s.balance(t, common.HexToAddress(string(owner.wallet)))
			_, err := outside.Holding(t.Context(), name)
			held := err == nil
			switch stored := s.get(t, "/domains/"+string(name)).status == 200; {
			case held && stored && paid == comPrice:
				sold++
			case !held && !stored && paid == 0:
				refused++
			default:
				t.Errorf("%s: paid %s, held %t, stored %t", name, paid, held, stored)
			}
		}
		if sold == 0 || refused == 0 {
			t.Errorf("%d names were sold and %d refused: the replies were not broken before and after the money moved", sold, refused)
		}
		if n := strings.Count(log.String(), "not as documented"); n < 1 || strings.Count(log.String(), "needs attention") != 1 {
			t.Errorf("the operator was told %d times:\n%s", n, log.String())
		}
		s.audit(t)
	})
}

// A wholesaler that says that the account is full, and refuses orders because it is
// empty, costs nobody money: what was paid goes back, and the operator is told once.
func TestBalanceThatLies(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		var log logtest.Buffer
		s, vendor, _, outside := openWholesaler(t, db, logged(&log))
		vendor.Configure(func(a *opusdnstest.Account) { a.Balance = "1000000.00" })
		if err := s.app.ReadBalances(t.Context()); err != nil {
			t.Fatal(err)
		}
		vendor.Break(opusdnstest.NoFunds, 100_000)
		for i := range 2 {
			name := deed.Name(fmt.Sprintf("first%d.com", i))
			owner := s.buyer(t)
			s.register(t, string(name), s.promise(owner, comPrice).header(t)).expect(t, 202, "")
			s.runWorker(t)
			if got := s.balance(t, common.HexToAddress(string(owner.wallet))); got != 1_000_000_000 {
				t.Errorf("the payer has %s", got)
			}
			if _, err := outside.Holding(t.Context(), name); deed.CodeOf(err) != deed.CodeNotFound {
				t.Errorf("the vendor: got %v", err)
			}
		}
		if n := strings.Count(log.String(), "too little money"); n != 1 {
			t.Errorf("the operator was told %d times:\n%s", n, log.String())
		}
		vendor.Break(opusdnstest.NoFault, 0)
		s.bought(t, "second.com")
		s.audit(t)
	})
}
