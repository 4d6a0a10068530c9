// Package registry has the rules of a registry, for the embedded one and for those
// of simulations: who holds a name and until when, the effect of an order, and what
// the holder may change.
//
// An Entry is a name, a Placement is an order that was placed. Both are values, and
// the time is an argument.
package registry
