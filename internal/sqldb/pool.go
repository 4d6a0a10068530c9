package sqldb

import "database/sql"

// PoolStats are the connections of one pool.
type PoolStats struct {
	Open, Used, Max int
	Waits           int64 // times that a connection was waited for
}

// Pools returns functions that read the statistics of the pools "write" and "read".
func (db *DB) Pools() map[string]func() PoolStats {
	if db.poolStats != nil {
		return db.poolStats
	}
	return map[string]func() PoolStats{"write": statsOf(db.write), "read": statsOf(db.read)}
}

func statsOf(pool *sql.DB) func() PoolStats {
	return func() PoolStats {
		s := pool.Stats()
		return PoolStats{Open: s.OpenConnections, Used: s.InUse, Max: s.MaxOpenConnections, Waits: s.WaitCount}
	}
}
