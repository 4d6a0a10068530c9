// Package dnssec makes of a zone what name servers give out: the records on the
// wire, the SOA and NS records of the apex, signatures (RFC 4034), proofs of
// absence (NSEC) and the DS for the parent.
//
// Compose adds what is ours to the records of an owner, Sign signs the result and
// keeps every signature of the zone before it that is still good. The keys of all
// zones are derived from one secret, so no private key is stored. What is served
// is a function of the zone, the secret and the time, and nothing else.
package dnssec
