package opusdns

import (
	"context"
	"slices"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// A Verification is what a registry demands of the registrant of a name. The zero
// Verification demands nothing.
type Verification struct {
	Required  bool
	Claims    []string  // what must be verified: "name", "address", "email", "phone"
	Suspended time.Time // when the name is taken out of the DNS, unless it was verified; zero when the registry does not say
	Deleted   time.Time // when it is deleted; zero when the registry does not say
}

// Deadline returns the first deadline; zero when the registry has not set one.
func (v Verification) Deadline() time.Time {
	if v.Suspended.IsZero() || !v.Deleted.IsZero() && v.Deleted.Before(v.Suspended) {
		return v.Deleted
	}
	return v.Suspended
}

// demand returns the verification as the service stores it. One that does not say what
// must be verified is about the registrant.
func (v Verification) demand() (out lifecycle.Verification) {
	if !v.Required {
		return out
	}
	for _, claim := range v.Claims {
		if words := strings.Fields(claim); len(words) > 0 {
			out.Claims = append(out.Claims, strings.Join(words, "_"))
		}
	}
	if len(out.Claims) == 0 {
		out.Claims = []string{"registrant"}
	}
	out.Deadline = v.Deadline()
	return out
}

// Verification returns what the registry demands for the name. It fails with
// CodeNotFound when the name is not in the account, and without a code when the
// vendor does not respond.
func (b *Backend) Verification(ctx context.Context, name deed.Name) (Verification, error) {
	d, err := b.domain(ctx, readLane, name)
	if err != nil {
		return Verification{}, err
	}
	return d.verification, nil
}

type verificationData struct {
	Claims    []string `json:"claims"`
	Deadlines []struct {
		Type string `json:"type"`
		Date string `json:"date"`
	} `json:"deadlines"`
}

// maxClaims bounds the claims and the deadlines of one name.
const maxClaims = 20

// parseVerification checks a demand. Of several deadlines of a kind the first counts,
// and one of an unknown kind counts like a deletion.
func parseVerification(r *verificationData) (Verification, error) {
	if r == nil {
		return Verification{}, nil
	}
	v := Verification{Required: true}
	for _, claim := range r.Claims[:min(len(r.Claims), maxClaims)] {
		if claim = short(claim); !slices.Contains(v.Claims, claim) {
			v.Claims = append(v.Claims, claim)
		}
	}
	for _, d := range r.Deadlines[:min(len(r.Deadlines), maxClaims)] {
		at, err := parseTime(d.Date)
		if err != nil {
			return Verification{}, err
		}
		into := &v.Deleted
		if d.Type == "dedelegation" {
			into = &v.Suspended
		}
		if !at.IsZero() && (into.IsZero() || at.Before(*into)) {
			*into = at
		}
	}
	return v, nil
}
