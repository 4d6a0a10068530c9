// Package email sends notices about a wallet's names to an e-mail address, if the
// operator has configured a mail server.
//
// An owner of a name gives an address, and is sent a code; with the code, the wallet
// confirms it. From then on, events that need the owner's attention are sent, several of
// them in one message and at most one message an hour. Every message has a link that
// ends the subscription without a wallet.
//
// It must not become a relay for spam: only a wallet with a name can request a code;
// the codes per day are limited for each wallet and for each address; messages have no
// text of the caller except the name; and an address that is unsubscribed before it was
// confirmed never gets another code. Addresses are stored encrypted.
package email

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"deed.example/deed"
)

// Limits of what is sent to addresses that are not confirmed.
const (
	MaxPerOwner   = 3   // codes that a wallet can ask for in a day
	MaxPerName    = 3   // codes that are sent in a day for a name, whoever owns it
	MaxPerAddress = 3   // codes that an address is sent in a day, whoever asks
	MaxPerDay     = 500 // codes that are sent in a day
	MaxTries      = 5   // of a code

	CodeTTL = 24 * time.Hour
)

// A State is the state of a subscription:
//
//	pending ─► confirmed ─► off
//	   └──────────────────► off
//
// Off: the mail server refused the address, or could not be reached for days.
type State string

// The states of a subscription.
const (
	Pending   State = "pending"
	Confirmed State = "confirmed"
	Off       State = "off"
)

// A Subscription is the address of a wallet.
type Subscription struct {
	Owner     deed.Wallet
	Address   Address
	State     State
	Failure   string // of the last attempt; empty after a success
	Created   time.Time
	Confirmed time.Time // zero before
}

// A Request is a new subscription. Code and token are compared by their hashes; their
// texts are needed for the messages.
type Request struct {
	Subscription
	AddressHash, Code, CodeHash, Token, TokenHash string
}

// Store stores subscriptions.
type Store interface {
	// Request stores a pending subscription, which replaces the wallet's previous one.
	// It fails with CodeValidation when the wallet has no name or the address is
	// blocked, and with CodeRateLimited above the limits.
	Request(ctx context.Context, r Request) error

	// Subscription returns the subscription of a wallet, or CodeNotFound.
	Subscription(ctx context.Context, owner deed.Wallet) (Subscription, error)

	// Confirm confirms a pending subscription, or fails with CodeValidation when the
	// code is wrong or too old. It counts the attempts.
	Confirm(ctx context.Context, owner deed.Wallet, codeHash string) error

	// Delete deletes the subscription of a wallet, or fails with CodeNotFound.
	Delete(ctx context.Context, owner deed.Wallet) error

	// Unsubscribe deletes the subscription with the token, if there is one, and blocks
	// its address permanently if it was not confirmed.
	Unsubscribe(ctx context.Context, tokenHash string) error
}

// Service manages subscriptions. Fill every field.
type Service struct {
	Store Store
	On    bool // a mail server is configured
	Now   func() time.Time
}

var errOff = deed.Errorf(deed.CodeNotFound, "this service sends no e-mail: use webhooks, the calendar feed, or the list of events")

// Subscribe stores the address and has a code sent to it.
func (s *Service) Subscribe(ctx context.Context, owner deed.Wallet, text string) (Subscription, error) {
	if !s.On {
		return Subscription{}, errOff
	}
	a, err := ParseAddress(text)
	if err != nil {
		return Subscription{}, err
	}
	r := Request{Subscription: Subscription{Owner: owner, Address: a, State: Pending, Created: s.Now().Truncate(time.Second)}, AddressHash: hashOf(a.key())}
	r.Code, r.Token = random(10), random(32)
	r.CodeHash, r.TokenHash = hashOf(r.Code), hashOf(r.Token)
	if err := s.Store.Request(ctx, r); err != nil {
		return Subscription{}, fmt.Errorf("store the e-mail address of %s: %w", owner, err)
	}
	return r.Subscription, nil
}

// Subscription returns the subscription of a wallet, or CodeNotFound.
func (s *Service) Subscription(ctx context.Context, owner deed.Wallet) (Subscription, error) {
	if !s.On {
		return Subscription{}, errOff
	}
	return s.Store.Subscription(ctx, owner)
}

// Confirm confirms the address of a wallet with the code that was sent to it.
func (s *Service) Confirm(ctx context.Context, owner deed.Wallet, code string) (Subscription, error) {
	if !s.On {
		return Subscription{}, errOff
	}
	code = strings.ToLower(strings.TrimSpace(code))
	if err := s.Store.Confirm(ctx, owner, hashOf(code)); err != nil {
		return Subscription{}, err
	}
	return s.Store.Subscription(ctx, owner)
}

// Delete ends the subscription of a wallet.
func (s *Service) Delete(ctx context.Context, owner deed.Wallet) error {
	return s.Store.Delete(ctx, owner)
}

// Unsubscribe ends the subscription with the token of a message. It is not an error if
// the subscription has ended already.
func (s *Service) Unsubscribe(ctx context.Context, token string) error {
	return s.Store.Unsubscribe(ctx, hashOf(token))
}

// random returns a text of random letters and digits.
func random(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails (crypto/rand)
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))[:n]
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
