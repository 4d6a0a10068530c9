package chain

import (
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// A finalCount says which nonces of an account are mined and final: those below next.
// After a while it is read again, because transactions that an endpoint has counted by
// mistake are not sent in the meantime.
type finalCount struct {
	next uint64
	read time.Time // when it was raised from 0
}

const finalCountTTL = 5 * time.Minute

// finalNonceOf returns the final nonces of an account as they were read last, or 0.
func (l *lane) finalNonceOf(from common.Address) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.finalNonce[from]
	if !l.s.Now().Before(f.read.Add(finalCountTTL)) {
		return 0
	}
	return f.next
}

func (l *lane) setFinalNonce(from common.Address, next uint64) {
	known := l.finalNonceOf(from)
	l.mu.Lock()
	defer l.mu.Unlock()
	if known == 0 {
		l.finalNonce[from] = finalCount{next, l.s.Now()}
		return
	}
	f := l.finalNonce[from]
	f.next = max(f.next, next)
	l.finalNonce[from] = f
}
