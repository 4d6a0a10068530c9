// Package epptest is an EPP registry for tests: a server over TLS with client
// certificates, in front of the embedded registry of package local, which has the
// names and their rules. It reads and writes XML by itself and shares no code with
// package epp, so that a misunderstanding does not cancel out.
//
// It has the habits that were met at registries: an internal error is a closed
// connection, a repeated clTRID too, one bad name fails a whole check, prices without
// a currency end the session. Break adds faults at the level of frames.
package epptest
