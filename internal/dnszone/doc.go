// Package dnszone has the rules of DNS records and zones: what a record may say,
// which records can be at one host together, how a zone changes, and how it is
// written as a zone file (RFC 1035, 5).
//
// Everything here is a value: a change takes a zone and returns another one, or
// says with CodeValidation what is wrong. The types of records stand in one table
// (recordtype.go). A value that a caller sent is checked by us first, then parsed,
// packed and unpacked by the DNS library, and the form that comes out is the one
// that is stored and compared. How a zone is served and signed is the business of
// package dnssec, which this one does not know.
package dnszone
