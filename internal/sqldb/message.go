package sqldb

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"deed.example/deed/internal/registrar"
)

// Messages implements registration.MessageStore. Fill every field.
type Messages struct {
	DB  *DB
	Now func() time.Time
}

// maxMessageText bounds the readable part of a message; raw has all of it.
const maxMessageText = 2000 // bytes

// maxHostNames bounds the names that a message about a host makes due. Many may use it, such as
// one of our own name servers; each of them is compared within a day in any case.
const maxHostNames = 1000

// StoreMessage implements registration.MessageStore. Which names use a host is looked up when
// its message is stored: if that fails, it does not stop the messages behind it.
func (s Messages) StoreMessage(ctx context.Context, backend string, m registrar.Message) error {
	var isNew bool
	err := s.DB.tx(ctx, func(ctx context.Context, tx *Tx) (err error) {
		isNew, err = rowsAffected(tx.ExecContext(ctx, `
			INSERT INTO registry_messages (backend, id, kind, domain, status, text, raw, sent_at, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT DO NOTHING`,
			backend, storable(m.ID), m.Kind, storable(string(m.Name)), storable(m.Status), storable(m.Text),
			base64.StdEncoding.EncodeToString(m.Raw), unixOrZero(m.At), s.Now().Unix()))
		if err != nil || !isNew || m.Host != "" || m.Name == "" {
			return err
		}
		return s.makeDue(ctx, tx, storable(string(m.Name)))
	})
	if err != nil || !isNew || m.Host == "" {
		return err
	}
	return s.makeUsersDue(ctx, m.Host)
}

// makeDue makes a name due, with its open order.
func (s Messages) makeDue(ctx context.Context, tx *Tx, name string) error {
	if _, err := tx.ExecContext(ctx, `UPDATE registrations SET next_at = 0 WHERE domain = $1`, name); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `UPDATE jobs SET next_at = $1 WHERE domain = $2 AND state = 'verifying'`, s.Now().Unix(), name)
	return err
}

// makeUsersDue makes names due that use a host. It may have been renamed: they have others now.
func (s Messages) makeUsersDue(ctx context.Context, host string) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			UPDATE registrations SET next_at = 0 WHERE domain IN (
			       SELECT domain FROM registrations WHERE next_at > 0 AND ' ' || nameservers || ' ' LIKE $1 ESCAPE '\' LIMIT $2)`,
			"% "+likeEscaper.Replace(storable(host))+" %", maxHostNames)
		return err
	})
}

// likeEscaper makes LIKE ... ESCAPE '\' compare text as it is.
var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// storable returns text from outside as both databases can store it: PostgreSQL takes
// neither invalid UTF-8 nor zero bytes.
func storable(text string) string {
	if len(text) > maxMessageText {
		text = text[:maxMessageText]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}
