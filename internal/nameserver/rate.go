package nameserver

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
)

// rateSlots is the number of responses that can be counted at once. Two with the
// same slot reset each other's count, which errs on the side of answering.
const rateSlots = 1 << 18

// Bits of a slot: 20 of the hash, 8 of the second, 18 of the carry, 18 of the count.
const (
	countBits = 18
	maxCount  = 1<<countBits - 1
	tagMask   = ^uint64(1<<44 - 1)

	// maxRate is the highest limit; the count of a higher one would overflow.
	maxRate = maxCount / 2
)

// rateLimit counts responses per client network and class of response, so that the
// server cannot be used to flood a third party whose address is spoofed.
//
// It counts as NSD does: the count of a second, and half of what was carried over
// from the seconds before, must stay below twice the limit. A client at the limit
// is answered, a burst may have twice as many responses, and a flood gets none
// until it ends.
type rateLimit struct {
	limit  uint64 // 0 is unlimited
	slip   uint64
	bits4  int // prefix lengths of networks
	bits6  int
	exempt []netip.Prefix
	seed   maphash.Seed
	secret uint64
	slots  func() *[rateSlots]atomic.Uint64 // made when the first response is counted
}

// A verdict says what may be sent.
type verdict int

const (
	send verdict = iota
	sendShort
	sendNothing
)

func newRateLimit(cfg Config) *rateLimit {
	l := &rateLimit{
		limit: uint64(min(max(0, cfg.RatePerSecond), maxRate)), slip: uint64(max(0, cfg.Slip)),
		bits4: min(max(cfg.IPv4Prefix, 1), 32), bits6: min(max(cfg.IPv6Prefix, 1), 64),
		exempt: cfg.Exempt, seed: maphash.MakeSeed(), secret: rand.Uint64(),
		slots: sync.OnceValue(func() *[rateSlots]atomic.Uint64 { return new([rateSlots]atomic.Uint64) }),
	}
	return l
}

// limits reports whether responses to the client are counted.
func (l *rateLimit) limits(client netip.Addr) bool {
	if l.limit == 0 {
		return false
	}
	client = client.Unmap()
	for _, p := range l.exempt {
		if p.Contains(client) {
			return false
		}
	}
	return true
}

// hash mixes network and class. Both are mixed with secrets, so that nobody can find
// two with the same slot.
func (l *rateLimit) hash(network, class uint64) uint64 {
	hi, lo := bits.Mul64(network^l.secret, 0x9e3779b97f4a7c15)
	hi, lo = bits.Mul64(hi^lo^class, l.secret|1)
	return hi ^ lo
}

// spend counts one response to the client in this second.
func (l *rateLimit) spend(client netip.Addr, class uint64, second int64) verdict {
	h := l.hash(l.network(client.Unmap()), class)
	slot := &l.slots()[h%rateSlots]
	for {
		old := slot.Load()
		carry, count := uint64(0), uint64(0)
		if old&tagMask == h&tagMask {
			carry, count = old>>countBits&maxCount, old&maxCount
			if elapsed := uint8(second) - uint8(old>>(2*countBits)); elapsed > 0 {
				carry, count = min(carry/2+count, maxCount)>>min(elapsed-1, 63), 0
			}
		}
		count = min(count+1, maxCount)
		if !slot.CompareAndSwap(old, h&tagMask|uint64(uint8(second))<<(2*countBits)|carry<<countBits|count) {
			continue
		}
		switch {
		case carry/2+count <= 2*l.limit:
			return send
		case l.slip > 0 && count%l.slip == 0:
			return sendShort
		}
		return sendNothing
	}
}

// network returns the network that the address is in.
func (l *rateLimit) network(a netip.Addr) uint64 {
	if a.Is4() {
		b := a.As4()
		return uint64(binary.BigEndian.Uint32(b[:]) >> (32 - l.bits4))
	}
	b := a.As16()
	return binary.BigEndian.Uint64(b[:8])>>(64-l.bits6) ^ 1<<63
}

// Classes of responses. Those that a client can vary without end by inventing names
// are one class per zone, wildcard, DNAME or delegation; others one class per name.
const (
	classError = iota
	classNoName
	classReferral
	classWildcard
	className
)

// class identifies the response that was just written.
func (w *worker) class(seed maphash.Seed, rcode int) uint64 {
	kind, node, name := className, 0, w.q.name[:w.q.nameLen]
	switch {
	case w.zone == nil:
		return classError<<8 | uint64(rcode)
	case w.found.cut >= 0:
		kind, node = classReferral, w.found.cut
	case w.found.dname >= 0:
		kind, node = classWildcard, w.found.dname+1
	case w.found.wildcard:
		kind, node = classWildcard, w.found.node+1
	case !w.found.exists:
		kind = classNoName
	}
	if kind != className {
		name = name[w.r.origin-headerSize:]
	}
	return maphash.Bytes(seed, name) ^ uint64(node)<<8 ^ uint64(kind)
}
