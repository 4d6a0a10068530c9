// Package failover causes the faults that a real installation meets, one after the
// other, while callers buy names and change zones, and prints a table: the fault, what
// callers saw, how long nothing was sold, what was lost, and which alert an operator
// gets. `make failover` runs it.
//
// Each case has two nodes as processes behind HAProxy, on a PostgreSQL with a
// synchronous standby, a Redis and two RPC endpoints. A case passes if callers are
// served again without a restart of a node, every name and every record that a caller
// was told about is there, the books agree with the chain, and nothing stays open.
package failover
