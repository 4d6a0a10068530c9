// Package dnszone has the rules of DNS records and zones: the values of records,
// which records can coexist at one host, how a zone changes, and its zone file
// format (RFC 1035, 5).
//
// Everything here is a value: a change takes a zone and returns another one, or
// fails with CodeValidation. The record types are in one table (recordtype.go). A
// value from a caller is first checked by this package, then parsed, packed and
// unpacked by the DNS library; the result is the canonical form that is stored and
// compared. How a zone is served and signed is in package dnssec, on which this
// package does not depend.
//
// The scanner of zone files (zonefilescan.go) is not that of the DNS library, because
// an import is checked by the same rules as a single record: they need the words of
// an entry with their quotes and escapes, and the library returns parsed records
// only.
package dnszone
