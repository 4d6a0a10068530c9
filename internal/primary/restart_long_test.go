//go:build long && unix

package primary_test

import (
	"errors"
	"path/filepath"
	"testing"

	"deed.example/deed/internal/nameserver/peer"
)

// A secondary that is restarted while the primary cannot be reached serves the zones that
// it has transferred before.
func TestSecondariesKeepTheirZones(t *testing.T) {
	files := map[string]int{"Knot": 0, "BIND": 2} // that it writes soon after the transfer: the catalog and the zone
	for _, kind := range []serverKind{knot, bind} {
		t.Run(kind.name, func(t *testing.T) {
			h, dir := open(t), t.TempDir()
			z := h.add(t, "example.com", "a1", "www.example.com. 60 IN A 192.0.2.1")
			for range 2 {
				d, err := kind.run(t, h, dir, nil)
				if errors.Is(err, peer.ErrMissing) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				s := &secondary{serverKind: kind, addr: d.Addr.String()}
				served := until(t.Context(), func() bool {
					written, err := filepath.Glob(filepath.Join(dir, "*.db"))
					return err == nil && len(written) >= files[kind.name] && s.serves(t.Context(), z)
				})
				h.close(t)
				if err := d.Stop(); err != nil || !served {
					t.Fatalf("serves the zone: %v, %v\n%s", served, err, d.Log())
				}
			}
		})
	}
}
