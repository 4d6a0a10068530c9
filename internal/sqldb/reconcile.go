package sqldb

import (
	"context"
	"fmt"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// Page implements registration.NameLister.
func (s Registrations) Page(ctx context.Context, after deed.Name, limit int) (page []lifecycle.Registration, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	name, err := s.byteOrder(ctx)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, s.DB.read, scanRegistration, selectRegistration+fmt.Sprintf(` WHERE %s > $1 ORDER BY %[1]s LIMIT $2`, name), after, limit)
}

// CountAfter implements registration.NameLister.
func (s Registrations) CountAfter(ctx context.Context, after deed.Name) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	name, err := s.byteOrder(ctx)
	if err != nil {
		return 0, err
	}
	err = s.DB.read.QueryRowContext(ctx, fmt.Sprintf(`SELECT count(*) FROM registrations WHERE %s > $1`, name), after).Scan(&n)
	return n, err
}

// Refunded implements registration.NameLister.
func (s Registrations) Refunded(ctx context.Context, after deed.Name, limit int) (names []deed.Name, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	name, err := s.byteOrder(ctx)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, s.DB.read, scanName, fmt.Sprintf(`
		SELECT domain FROM (SELECT DISTINCT domain FROM late_orders WHERE state IN ('watching', 'held', 'deleting')) d
		 WHERE %s > $1 ORDER BY %[1]s LIMIT $2`, name), after, limit)
}

// byteOrder returns the name of a domain as it is sorted by its bytes. SQLite does that,
// and so does a PostgreSQL database without a locale; in others no index helps.
func (s Registrations) byteOrder(ctx context.Context) (string, error) {
	if s.DB.dialect != postgres {
		return "domain", nil
	}
	var bytes bool
	if err := s.DB.read.QueryRowContext(ctx, `SELECT 'a-b' < 'aa' AND 'a.b' < 'a0' AND 'a-b' < 'a.a'`).Scan(&bytes); err != nil || bytes {
		return "domain", err
	}
	return `domain COLLATE "C"`, nil
}
