package sqldb_test

import (
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// Whatever a registry writes can be stored, once.
func TestStoreMessage(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		at := time.Now()
		store := sqldb.Messages{DB: db, Now: time.Now}
		for _, m := range []registrar.Message{
			{ID: "1", Kind: registrar.MessageName, Name: "first.com", Text: "deleted", At: at},
			{ID: "1", Kind: registrar.MessageName, Name: "first.com", Text: "deleted", At: at},
			{ID: "\xff\x00", Kind: registrar.MessageOther, Name: deed.Name("\x00.com"), Status: "\xfe", Text: strings.Repeat("é", 5000), Raw: []byte{0, 255}},
			{},
		} {
			if err := store.StoreMessage(t.Context(), "outside", m); err != nil {
				t.Errorf("%+v: %v", m, err)
			}
		}
		if n, err := db.Text(t.Context(), `SELECT count(*) FROM registry_messages`); err != nil || n != "3" {
			t.Errorf("got %s messages, %v", n, err)
		}
	})
}
