// Package opusdns sells names through the wholesaler OpusDNS, with its HTTP API:
// new names, renewals, transfers, and everything that can be changed afterwards.
//
// The vendor has no references: whether an order was executed is found out from its
// domain object. A registration is done when the account has a domain object with the
// auth code of the order, or, if the registry has made another code, one that was
// created after the order was submitted. The same time decides about a transfer. A
// renewal is done when the expiry is that of the order. The claim on the name in the
// service's database makes this safe, since nobody else of the service orders the name
// meanwhile.
//
// Every reply is checked before it is used. One that cannot be read, is about another
// name, or breaks the vendor's own rules leaves the outcome unknown: the error has no
// code. Only a problem document (RFC 9457) with a status of the 400s is a refusal.
package opusdns
