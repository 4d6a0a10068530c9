// Package dnssec turns a zone into what name servers serve: the records in wire
// format, the SOA and NS records of the apex, signatures (RFC 4034), proofs of
// nonexistence (NSEC) and the DS for the parent.
//
// Compose adds the records of the service to those of the owner; Sign signs the
// result and reuses every signature of the previous zone that is still valid. The
// keys of all zones are derived from one secret, so no private key is stored. The
// served zone is a function of the zone, the secret and the time, and nothing else.
package dnssec
