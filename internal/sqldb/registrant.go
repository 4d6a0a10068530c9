package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// Registrants implements registration.Registrants. What owners gave is encrypted with
// the Sealer of the database. Fill every field.
type Registrants struct {
	DB          *DB
	Now         func() time.Time // the clock of all nodes
	RegistryNow func() time.Time // for events
}

// storedContact is a contact as it is encrypted. Its names are stored, so they must not
// change.
type storedContact struct {
	Name         string   `json:"name"`
	Organization string   `json:"organization,omitzero"`
	Street       []string `json:"street"`
	City         string   `json:"city"`
	Region       string   `json:"region,omitzero"`
	PostalCode   string   `json:"postalCode,omitzero"`
	Country      string   `json:"country"`
	Phone        string   `json:"phone"`
	Email        string   `json:"email"`
}

// registrantContext binds a ciphertext to its row and column.
func registrantContext(reference, column string) string {
	return "registrant " + column + " " + reference
}

const selectRegistrant = `
	SELECT reference, domain, backend, wallet, contact, handle, state, reason, version, tries, updated_at, lease_until FROM registrants `

// Registrant implements registration.Registrants.
func (s Registrants) Registrant(ctx context.Context, reference string) (g lifecycle.Registrant, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	var contact string
	var updated, lease int64
	err = s.DB.read.QueryRowContext(ctx, selectRegistrant+`WHERE reference = $1`, reference).Scan(&g.Reference, &g.Name, &g.Backend, &g.Wallet,
		&contact, &g.Handle, &g.State, &g.Reason, &g.Version, &g.Tries, &updated, &lease)
	if errors.Is(err, sql.ErrNoRows) {
		return g, deed.Errorf(deed.CodeNotFound, "no contact data was given for the name")
	}
	if err != nil {
		return g, err
	}
	g.Updated, g.Lease = timeOrZero(updated), timeOrZero(lease)
	if contact, err = s.DB.unseal(registrantContext(reference, "contact"), contact); err == nil {
		g.Reason, err = s.DB.unseal(registrantContext(reference, "reason"), g.Reason)
	}
	if err != nil {
		return lifecycle.Registrant{}, fmt.Errorf("open the registrant of %s: %w", g.Name, err)
	}
	if contact == "" {
		return g, nil
	}
	var stored storedContact
	if json.Unmarshal([]byte(contact), &stored) != nil {
		return lifecycle.Registrant{}, fmt.Errorf("the registrant of %s cannot be read", g.Name) // without the text that cannot
	}
	g.Contact = lifecycle.Contact(stored)
	return g, nil
}

// PutRegistrant implements registration.Registrants.
func (s Registrants) PutRegistrant(ctx context.Context, g lifecycle.Registrant) error {
	text, err := json.Marshal(storedContact(g.Contact))
	if err != nil {
		return err
	}
	sealed, err := s.DB.seal(registrantContext(g.Reference, "contact"), string(text))
	if err != nil {
		return fmt.Errorf("seal the registrant of %s: %w", g.Name, err)
	}
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if err := lockOwned(ctx, tx, g.Name, g.Reference, g.Wallet); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `
			INSERT INTO registrants (reference, domain, backend, wallet, contact, state, version, updated_at, next_at)
			VALUES ($1, $2, $3, $4, $5, 'pending', 1, $6, 0)
			ON CONFLICT (reference) DO UPDATE SET wallet = excluded.wallet, contact = excluded.contact, state = 'pending', reason = '',
			       version = registrants.version + 1, tries = 0, updated_at = excluded.updated_at, next_at = registrants.lease_until`,
			g.Reference, g.Name, g.Backend, g.Wallet, sealed, s.Now().Unix())
		return err
	})
}

// ResetRegistrant implements registration.Registrants.
func (s Registrants) ResetRegistrant(ctx context.Context, r lifecycle.Registration, who deed.Wallet) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		if err := lockOwned(ctx, tx, r.Name, r.Reference, who); err != nil {
			return err
		}
		return eraseRegistrant(ctx, tx, r.Reference, lifecycle.RegistrantResetting)
	})
}

// lockOwned locks the row of a registration that the owner may change.
func lockOwned(ctx context.Context, tx *Tx, name deed.Name, reference string, owner deed.Wallet) error {
	locked, err := rowsAffected(tx.ExecContext(ctx, `
		UPDATE registrations SET next_at = next_at WHERE domain = $1 AND reference = $2 AND owner = $3 AND cancelling_at IS NULL`,
		name, reference, owner))
	if err == nil && !locked {
		err = notChanged(ctx, tx, name, owner)
	}
	return err
}

// eraseRegistrant deletes what an owner gave. The registry is asked to forget it as soon
// as no earlier call can be executed any more.
func eraseRegistrant(ctx context.Context, tx *Tx, reference string, to lifecycle.RegistrantState) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE registrants SET contact = '', reason = '', state = $1, version = version + 1, tries = 0, next_at = lease_until
		 WHERE reference = $2 AND state <> $1`, to, reference)
	return err
}

// DueRegistrants implements registration.Registrants.
func (s Registrants) DueRegistrants(ctx context.Context, limit int) ([]string, error) {
	return due(ctx, s.DB, dueQuery{id: "reference", from: "registrants", at: "next_at"}, s.Now(), limit)
}

// LeaseRegistrant implements registration.RegistrantSteps.
func (s Registrants) LeaseRegistrant(ctx context.Context, g lifecycle.Registrant, until time.Time) (leased bool, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		leased, err = rowsAffected(tx.ExecContext(ctx, `
			UPDATE registrants SET tries = tries + 1, lease_until = $1, next_at = $1
			 WHERE reference = $2 AND version = $3 AND tries = $4 AND next_at IS NOT NULL`,
			until.Unix(), g.Reference, g.Version, g.Tries))
		return err
	})
	return leased, err
}

// DelayRegistrant implements registration.RegistrantSteps.
func (s Registrants) DelayRegistrant(ctx context.Context, g lifecycle.Registrant, next time.Time) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE registrants SET lease_until = $1, next_at = $2 WHERE reference = $3 AND version = $4 AND tries = $5`,
			g.Lease.Unix(), next.Unix(), g.Reference, g.Version, g.Tries)
		return err
	})
}

// AnswerRegistrant implements registration.RegistrantSteps.
func (s Registrants) AnswerRegistrant(ctx context.Context, g lifecycle.Registrant, event lifecycle.EventType) error {
	reason, err := s.DB.seal(registrantContext(g.Reference, "reason"), g.Reason)
	if err != nil {
		return fmt.Errorf("seal why the registrant of %s is refused: %w", g.Name, err)
	}
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		current, err := rowsAffected(tx.ExecContext(ctx, `
			UPDATE registrants SET state = $1, reason = $2, handle = $3, lease_until = 0, next_at = NULL
			 WHERE reference = $4 AND version = $5 AND state = 'pending'`,
			g.State, reason, g.Handle, g.Reference, g.Version))
		if err != nil {
			return err
		}
		if !current { // it was changed meanwhile: the next step replaces or deletes this contact
			_, err = tx.ExecContext(ctx, `
				UPDATE registrants SET handle = $1, lease_until = 0, next_at = 0 WHERE reference = $2 AND version > $3 AND next_at IS NOT NULL AND tries = 0`,
				g.Handle, g.Reference, g.Version)
			return err
		}
		now := s.RegistryNow()
		return addEvent(ctx, tx, lifecycle.Event{Name: g.Name, Reference: g.Reference, Type: event, At: now, About: now}, g.Wallet)
	})
}

// ForgetRegistrant implements registration.RegistrantSteps.
func (s Registrants) ForgetRegistrant(ctx context.Context, g lifecycle.Registrant) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM registrants WHERE reference = $1 AND version = $2 AND contact = ''`, g.Reference, g.Version)
		return err
	})
}
