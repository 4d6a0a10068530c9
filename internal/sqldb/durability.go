package sqldb

import "context"

// LossySettings returns the settings with which PostgreSQL may lose what it has committed,
// when it or its machine crashes. SQLite has none: it waits for the disk.
func (db *DB) LossySettings(ctx context.Context) (names []string, err error) {
	if db.dialect != postgres {
		return nil, nil
	}
	return db.readColumn(ctx, `
		SELECT name FROM pg_settings
		 WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off'
		 ORDER BY name`)
}
