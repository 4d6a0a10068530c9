// Package deed holds the words, rules and contracts of the service: names,
// zones, records, money, payments, jobs, limits, and the errors a caller may
// see.
//
// It is the ground floor. It imports the standard library and a short list of
// modules that know rules without doing I/O (floors_test.go has the list), and
// it keeps no state, so every rule in it can be tested with plain values. The
// floors above it order the steps (internal/catalog, internal/ratelimit, …) and
// translate (internal/httpapi, internal/sqldb, …); docs/architecture.md draws
// the house.
package deed
