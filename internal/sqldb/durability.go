package sqldb

import "context"

// LossySettings returns the settings with which PostgreSQL may lose what it has committed,
// when it or its machine crashes. SQLite has none: it waits for the disk.
func (db *DB) LossySettings(ctx context.Context) (names []string, err error) {
	if db.dialect != postgres {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, db.Timeout)
	defer cancel()
	rows, err := db.read.QueryContext(ctx, `
		SELECT name FROM pg_settings
		 WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off'
		 ORDER BY name`)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	return names, err
}
