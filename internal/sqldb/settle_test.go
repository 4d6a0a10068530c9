package sqldb_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

const signer = deed.Wallet("0x00000000000000000000000000000000000000aa")

// signAs returns a signing function that records its arguments.
func signAs(hash string) func(uint64, []string) (settle.Transaction, error) {
	return func(nonce uint64, purposes []string) (settle.Transaction, error) {
		return settle.Transaction{From: signer, Nonce: nonce, Hash: hash, Raw: []byte(strings.Join(purposes, ",")), SignedAt: time.Unix(1_800_000_000, 0)}, nil
	}
}

func TestSettlements(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := sqldb.Settlements{DB: db, ChainID: 84532}
		sign := func(hash string, attempt int, purposes ...string) {
			t.Helper()
			in := settle.Intent{From: signer, First: 7, Purposes: purposes, Attempt: attempt}
			got, err := s.Sign(t.Context(), in, signAs(hash))
			if err != nil || got.Hash != hash && hash != "" {
				t.Fatalf("got %v, %v, want %q", got, err, hash)
			}
		}
		sign("one", 1, "a", "b")
		sign("", 1, "b", "a") // both are taken
		sign("two", 1, "b", "c")
		sign("three", 2, "a")
		unsigned := errors.New("no key")
		_, err := s.Sign(t.Context(), settle.Intent{From: signer, Purposes: []string{"d"}, Attempt: 1},
			func(uint64, []string) (settle.Transaction, error) { return settle.Transaction{}, unsigned })
		if !errors.Is(err, unsigned) {
			t.Errorf("got %v, want %v", err, unsigned)
		}
		replacement := settle.Transaction{From: signer, Nonce: 8, Hash: "dearer", Raw: []byte("c"), SignedAt: time.Unix(1_800_000_030, 0)}
		if err := errors.Join(s.StoreReplacement(t.Context(), replacement), s.StoreReplacement(t.Context(), replacement)); err != nil {
			t.Error(err)
		}

		sent, err := s.Sent(t.Context(), signer, []string{"a", "c", "d", "a"})
		if got, want := fmt.Sprint(sent.Next, brief(sent.For["a"]), brief(sent.For["c"]), brief(sent.For["d"])), "10 [7/1 one 9/2 three] [8/1 two 8/1 dearer] []"; err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
		all, err := s.Unmined(t.Context(), signer, 8)
		if got, want := fmt.Sprint(brief(all)), "[8/0 two 8/0 dearer 9/0 three]"; err != nil || got != want || string(all[0].Raw) != "c" {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
		if other, err := (sqldb.Settlements{DB: db, ChainID: 1}).Unmined(t.Context(), signer, 0); err != nil || len(other) != 0 {
			t.Errorf("another chain: got %v, %v", other, err)
		}
	})
}

// A next nonce that is no longer right, and a purpose that was taken meanwhile, are noticed.
func TestSignWithAStaleNonce(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := sqldb.Settlements{DB: db, ChainID: 84532}
		sign := func(hash string, first, next uint64, want string, purposes ...string) {
			t.Helper()
			in := settle.Intent{From: signer, First: first, Next: next, Purposes: purposes, Attempt: 1}
			got, err := s.Sign(t.Context(), in, signAs(hash))
			if said := fmt.Sprintf("%d %s %s", got.Nonce, got.Hash, got.Raw); err != nil || said != want {
				t.Errorf("%s: got %q, %v, want %q", hash, said, err, want)
			}
		}
		sign("one", 3, 0, "3 one a", "a")
		sign("two", 3, 4, "4 two b", "b")
		sign("stale", 3, 4, "5 stale c", "c")      // another process was faster
		sign("taken", 3, 6, "6 taken e", "a", "e") // and has signed for one of them
		sign("all taken", 3, 7, "0  ", "a", "e")   // or for all
		sign("ahead", 3, 9, "7 ahead f", "f")      // no process has said so
		sign("skips", 20, 8, "20 skips g", "g")    // the chain is ahead of both
		sign("after", 20, 21, "21 after h,i", "h", "i")
		sent, err := s.Sent(t.Context(), signer, []string{"a", "b", "c", "e", "f", "g", "h", "i"})
		if err != nil || sent.Next != 22 || len(sent.For) != 8 {
			t.Errorf("got %d, %v, %v", sent.Next, sent.For, err)
		}
		for purpose, all := range sent.For {
			if len(all) != 1 {
				t.Errorf("%s: got %v", purpose, brief(all))
			}
		}
		if other, err := s.Sent(t.Context(), "0x00000000000000000000000000000000000000bb", []string{"a"}); err != nil || other.Next != 0 {
			t.Errorf("an account that has signed nothing: got %d, %v", other.Next, err)
		}
	})
}

// While a signer signs, which may take long, others write.
func TestSignLetsOthersWrite(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := sqldb.Settlements{DB: db, ChainID: 84532}
		const other = deed.Wallet("0x00000000000000000000000000000000000000bb")
		intent := func(from deed.Wallet, purpose string) settle.Intent {
			return settle.Intent{From: from, First: 1, Purposes: []string{purpose}, Attempt: 1}
		}
		for _, from := range []deed.Wallet{signer, other} { // the first transaction stores the account
			if _, err := s.Sign(t.Context(), intent(from, "first of "+string(from)), signAs("first of "+string(from))); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.Sign(t.Context(), intent(signer, "a"), func(nonce uint64, purposes []string) (settle.Transaction, error) {
			if _, err := s.Sign(t.Context(), intent(other, "b"), signAs("meanwhile")); err != nil {
				return settle.Transaction{}, err
			}
			return signAs("slow")(nonce, purposes)
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func brief(all []settle.Transaction) (words []string) {
	for _, tx := range all {
		words = append(words, fmt.Sprintf("%d/%d %s", tx.Nonce, tx.Attempt, tx.Hash))
	}
	return words
}

// Concurrent signers get one nonce each, without gaps.
func TestSettlementsRaced(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		s := sqldb.Settlements{DB: db, ChainID: 84532}
		var wg sync.WaitGroup
		for i := range 40 { // twenty purposes, twice
			wg.Go(func() {
				in := settle.Intent{From: signer, First: 3, Purposes: []string{fmt.Sprint(i % 20)}, Attempt: 1}
				if _, err := s.Sign(t.Context(), in, signAs(fmt.Sprint(i))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		all, err := s.Unmined(t.Context(), signer, 0)
		if err != nil {
			t.Fatal(err)
		}
		var nonces []uint64
		for _, tx := range all {
			nonces = append(nonces, tx.Nonce)
		}
		var want []uint64
		for n := range uint64(20) {
			want = append(want, n+3)
		}
		if !slices.Equal(nonces, want) {
			t.Errorf("got nonces %v, want %v", nonces, want)
		}
	})
}
