package email

import (
	"fmt"
	"strings"
	"time"

	"deed.example/deed"
)

// A Notice is an event that an owner is notified of by e-mail.
type Notice struct {
	Type     string // of the event
	Domain   deed.Name
	Expires  time.Time
	DaysLeft int
	Reason   string
	Price    string
	NewOwner deed.Wallet
}

// sentences has the types of event that are sent, and the sentence for each.
var sentences = map[string]func(Notice) string{
	"domain.expiring": func(n Notice) string {
		return fmt.Sprintf("%s expires on %s, in %d days.", n.Domain, date(n.Expires), n.DaysLeft)
	},
	"domain.expired": func(n Notice) string {
		return fmt.Sprintf("%s has expired. Renew it now: it will be deleted.", n.Domain)
	},
	"domain.redemption": func(n Notice) string {
		return fmt.Sprintf("%s can only be restored now, at a higher price.", n.Domain)
	},
	"domain.pending_delete":       func(n Notice) string { return fmt.Sprintf("%s will be deleted within days.", n.Domain) },
	"domain.deleted":              func(n Notice) string { return fmt.Sprintf("%s was deleted.", n.Domain) },
	"domain.suspended":            func(n Notice) string { return fmt.Sprintf("%s was suspended.", n.Domain) },
	"domain.transfer_out_started": func(n Notice) string { return fmt.Sprintf("%s is being transferred to another registrar.", n.Domain) },
	"domain.transferred":          func(n Notice) string { return fmt.Sprintf("%s was transferred to another registrar.", n.Domain) },
	"domain.handed_over":          handedOver,
	"mandate.at_risk":             func(n Notice) string { return mandateText(n, "may fail") },
	"mandate.failed":              func(n Notice) string { return mandateText(n, "failed") },
	"mandate.used": func(n Notice) string {
		return fmt.Sprintf("%s was renewed by your mandate for %s USDC.", n.Domain, n.Price)
	},
}

func handedOver(n Notice) string {
	if n.NewOwner == "" {
		return fmt.Sprintf("%s was handed over to your wallet.", n.Domain)
	}
	return fmt.Sprintf("%s was handed over to %s.", n.Domain, n.NewOwner)
}

func mandateText(n Notice, what string) string {
	return fmt.Sprintf("The renewal of %s on %s by your mandate %s: %s", n.Domain, date(n.Expires), what, n.Reason)
}

func date(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// Sends reports whether events of the type are sent.
func Sends(eventType string) bool { return sentences[eventType] != nil }

// A Message is one e-mail. Its texts are ASCII without control characters other than
// line breaks.
type Message struct {
	To          Address
	Subject     string
	Body        string
	Unsubscribe string // URL that ends the subscription
}

// codeMessage returns the message with the code of a new subscription.
func codeMessage(to Address, owner deed.Wallet, code, unsubscribe string) Message {
	return Message{To: to, Subject: "Confirm your e-mail address", Unsubscribe: unsubscribe, Body: strings.Join([]string{
		"The wallet " + string(owner) + " asks to be told at this address",
		"when its domain names expire. To agree, sign in with the wallet and enter this code",
		"within a day:", "", "    " + code, "",
		"If this is not your wallet, ignore this message, or make sure that you are never",
		"asked again:", unsubscribe,
	}, "\n")}
}

// noticeMessage returns the message about what happened.
func noticeMessage(to Address, list []Notice, unsubscribe string) Message {
	m := Message{To: to, Unsubscribe: unsubscribe, Subject: fmt.Sprintf("%d notices about your domain names", len(list))}
	var lines []string
	for _, n := range list {
		lines = append(lines, plain(sentences[n.Type](n)))
	}
	if len(list) == 1 {
		m.Subject = fmt.Sprintf("Your domain name %s", list[0].Domain)
	}
	m.Body = strings.Join(append(lines, "", "To get no more of these messages:", unsubscribe), "\n")
	return m
}

// maxLine is how long a line of a message may be (RFC 5322, 2.1.1: 998).
const maxLine = 900

// plain returns the text as one line of printable ASCII: a reason may have passed
// through other systems.
func plain(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	return text[:min(len(text), maxLine)]
}
