package sqldb

// A Sealer encrypts secrets for temporary storage. About is authenticated: what was
// sealed for one subject cannot be opened for another.
type Sealer interface {
	Seal(about, plain string) (sealed string, err error)
	Open(about, sealed string) (plain string, err error)
}

// seal encrypts a text. Without a Sealer, which only tests leave out, it is stored as it
// is; so is no text at all.
func (db *DB) seal(about, plain string) (string, error) {
	if db.Sealer == nil || plain == "" {
		return plain, nil
	}
	return db.Sealer.Seal(about, plain)
}

// unseal decrypts what seal returned.
func (db *DB) unseal(about, sealed string) (string, error) {
	if db.Sealer == nil || sealed == "" {
		return sealed, nil
	}
	return db.Sealer.Open(about, sealed)
}
