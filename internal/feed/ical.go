package feed

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// reminders are when calendar programs show a reminder of an expiry: at the same times
// as the events.
var reminders = []string{"-P30D", "-P7D", "-P1D"}

// render returns the calendar of the names (RFC 5545). An expiry is an event of one
// day, whose UID stays the same when the name is renewed, so that programs move the
// event.
func render(names []Domain, now time.Time) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fold(&b, fmt.Sprintf(format, args...)) }
	line("BEGIN:VCALENDAR")
	line("VERSION:2.0")
	line("PRODID:-//Deed//Expiry feed//EN")
	line("CALSCALE:GREGORIAN")
	line("METHOD:PUBLISH")
	line("X-WR-CALNAME:%s", text("Domain expiries"))
	line("REFRESH-INTERVAL;VALUE=DURATION:PT12H")
	line("X-PUBLISHED-TTL:PT12H")
	for _, d := range names {
		at := d.Expires.UTC()
		line("BEGIN:VEVENT")
		line("UID:%s", text("expiry-"+string(d.Name)+"@deed"))
		line("DTSTAMP:%s", now.UTC().Format("20060102T150405Z"))
		line("DTSTART;VALUE=DATE:%s", at.Format("20060102"))
		line("DTEND;VALUE=DATE:%s", at.AddDate(0, 0, 1).Format("20060102"))
		line("SUMMARY:%s", text(string(d.Name)+" expires"))
		line("DESCRIPTION:%s", text(fmt.Sprintf("%s expires at %s. Renew it before, or it stops working and is lost later.", d.Name, at.Format(time.RFC3339))))
		line("TRANSP:TRANSPARENT")
		for _, trigger := range reminders {
			line("BEGIN:VALARM")
			line("ACTION:DISPLAY")
			line("TRIGGER:%s", trigger)
			line("DESCRIPTION:%s", text(string(d.Name)+" expires soon"))
			line("END:VALARM")
		}
		line("END:VEVENT")
	}
	line("END:VCALENDAR")
	return []byte(b.String())
}

// text escapes a value of type TEXT (RFC 5545, 3.3.11).
func text(s string) string {
	return strings.NewReplacer(`\`, `\\`, ";", `\;`, ",", `\,`, "\n", `\n`, "\r", "").Replace(s)
}

// fold writes a line, in pieces of at most 75 bytes (RFC 5545, 3.1), without breaking a
// character.
func fold(b *strings.Builder, line string) {
	for limit := 75; len(line) > limit; limit = 74 { // later pieces begin with a space
		cut := limit
		for !utf8.RuneStart(line[cut]) {
			cut--
		}
		b.WriteString(line[:cut] + "\r\n ")
		line = line[cut:]
	}
	b.WriteString(line + "\r\n")
}
