// Package e2e has the tests of the whole service through its HTTP interface, on
// both databases. app.Open builds the service, as it does in production; tests only
// set what an operator could set, and the hooks of app.Config: clocks, faults of the
// embedded registry, an open database, cache or chain.
//
// A service takes no payments; an env adds a chain, a registry and a name server.
// The worker does not run by itself: tests advance what is due. Tests that need one
// package only are in that package.
package e2e
