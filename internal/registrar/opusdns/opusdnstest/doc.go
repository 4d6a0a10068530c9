// Package opusdnstest has a server that behaves like the wholesaler OpusDNS, for
// tests of package opusdns, and the rules of the vendor's API as far as they are
// used, written down as a table.
//
// The names are those of an embedded registry, so that they have its rules and its
// clock. What the vendor adds is here: domain objects with IDs, contacts, prices,
// events, and its faults (see Fault). A Checker between a client and the server
// compares every request and every reply with the table.
package opusdnstest
