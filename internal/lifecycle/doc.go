// Package lifecycle says what happens to a registered name and when: the phases
// from active to free again (RFC 3915), what its owner is told, and what differs
// between our books and the registry, whose word counts.
//
// A Registration is our side, a Holding is the registry's. Everything here is
// pure: the time is an argument.
package lifecycle
