package lifecycle

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
)

// A Holding is the registry's record of a name in our account.
type Holding struct {
	Name        deed.Name
	Reference   string // of the order that registered it
	Created     time.Time
	Expires     time.Time
	Phase       Phase
	EPPStatus   []string // RFC 5731 and 3915: "ok", "clientTransferProhibited", …
	Locked      bool
	Nameservers []string
	Glue        Glue // of the name servers below the name, as far as the registry reports it
	DS          []dnssec.DS

	ROID         string       // the registry's identifier of the name; "" if it does not say
	Verification Verification // that the registry demands

	// Unpaid means that the registry has renewed the name automatically, for time
	// that its owner has not paid for. It is deleted at the end of the grace period,
	// otherwise the operator pays.
	Unpaid bool
}

// eppPendingTransfer is the status of a name that another registrar has asked for (RFC
// 5731, 2.3).
const eppPendingTransfer = "pendingTransfer"

// PendingTransfer reports whether another registrar has asked for the name.
func (h Holding) PendingTransfer() bool { return slices.Contains(h.EPPStatus, eppPendingTransfer) }

// RenewalProhibited returns the status by which the registry forbids to renew the name now (RFC
// 5731, 2.3), or to restore it before that; "" if there is none. A year that the registry has
// added itself needs no renewal there.
func (h Holding) RenewalProhibited(years int, restore bool) string {
	if h.Unpaid && years == 1 && !restore {
		return ""
	}
	i := slices.IndexFunc(h.EPPStatus, func(s string) bool {
		return s == "clientRenewProhibited" || s == "serverRenewProhibited" || restore && s == "serverRestoreProhibited"
	})
	if i < 0 {
		return ""
	}
	return h.EPPStatus[i]
}

// roid is the form of a registry's identifiers (RFC 5730, 4: roidType).
var roid = regexp.MustCompile(`^[A-Za-z0-9_]{1,80}-[A-Za-z0-9_]{1,8}$`)

// ParseROID returns the identifier of a name at its registry, "" if it is not one.
func ParseROID(text string) string {
	if text = strings.TrimSpace(text); !roid.MatchString(text) {
		return ""
	}
	return text
}
