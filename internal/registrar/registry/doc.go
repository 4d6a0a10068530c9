// Package registry has the rules of a registry, for the embedded one and for those
// of simulations: who has a name and until when, what an order does to it, and what
// its holder may change.
//
// An Entry is a name, a Placement is an order that was placed. Both are values, and
// the time is an argument.
package registry
