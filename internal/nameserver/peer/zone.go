package peer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"deed.example/deed/internal/dnssec"
)

// A Zone is a zone in zone file format.
type Zone struct {
	Origin string // without the trailing dot
	File   string
}

// NewZone returns a zone in zone file format, with every record as its octets, as any
// type can be written (RFC 3597, 5).
func NewZone(z dnssec.ServedZone) Zone {
	var file strings.Builder
	for _, rr := range z.RRs {
		fmt.Fprintf(&file, "%s. %d IN TYPE%d \\# %d %x\n", rr.Owner, rr.TTL, rr.Type, len(rr.Data), rr.Data)
	}
	return Zone{Origin: z.Origin, File: file.String()}
}

// Write writes the file of the zone into the directory, as all servers find it.
func (z Zone) Write(dir string) error {
	return os.WriteFile(filepath.Join(dir, z.Origin+".zone"), []byte(z.File), 0o644)
}
