// Package lifecycle defines the lifecycle of a registered name: its phases from
// active to deleted (RFC 3915), the events that its owner is notified of, and how
// our records are compared with the registry, which is authoritative.
//
// A Registration is our record of a name, a Holding is the registry's. All
// functions are pure: the time is an argument.
package lifecycle
