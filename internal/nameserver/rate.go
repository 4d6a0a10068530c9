package nameserver

import (
	"encoding/binary"
	"hash/maphash"
	"net/netip"
	"sync/atomic"
)

// rateSlots is the number of networks that can be counted at once. Two networks
// with the same slot reset each other's count, which errs on the side of answering.
const rateSlots = 1 << 16

// rateLimit counts responses per network and second, so that the server cannot be
// used to flood a third party whose address is spoofed.
type rateLimit struct {
	limit  uint64 // 0 is unlimited
	slip   uint64
	exempt []netip.Prefix
	seed   maphash.Seed
	slots  []atomic.Uint64 // 24 bits of the network's hash, 16 of the second, 24 of the count
}

// A verdict says what may be sent.
type verdict int

const (
	send verdict = iota
	sendShort
	sendNothing
)

func newRateLimit(cfg Config) *rateLimit {
	l := &rateLimit{limit: uint64(max(0, cfg.RatePerSecond)), slip: uint64(max(0, cfg.Slip)), exempt: cfg.Exempt, seed: maphash.MakeSeed()}
	if l.limit > 0 {
		l.slots = make([]atomic.Uint64, rateSlots)
	}
	return l
}

// spend counts one response to the client in this second.
func (l *rateLimit) spend(client netip.Addr, second int64) verdict {
	if l.limit == 0 {
		return send
	}
	client = client.Unmap()
	for _, p := range l.exempt {
		if p.Contains(client) {
			return send
		}
	}
	h := maphash.Comparable(l.seed, network(client))
	slot := &l.slots[h%rateSlots]
	tag := h>>40<<40 | uint64(uint16(second))<<24
	for {
		old := slot.Load()
		n := uint64(1)
		if old&^(1<<24-1) == tag {
			n = min(old&(1<<24-1)+1, 1<<24-1)
		}
		if !slot.CompareAndSwap(old, tag|n) {
			continue
		}
		switch over := n - min(n, l.limit); {
		case over == 0:
			return send
		case l.slip > 0 && over%l.slip == 0:
			return sendShort
		}
		return sendNothing
	}
}

// network returns the /24 or /56 that the address is in.
func network(a netip.Addr) uint64 {
	if a.Is4() {
		b := a.As4()
		return uint64(binary.BigEndian.Uint32(b[:]) >> 8)
	}
	b := a.As16()
	return binary.BigEndian.Uint64(b[:8])>>8 | 1<<63
}
