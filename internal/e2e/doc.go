// Package e2e has the tests of the whole service through its HTTP interface, on
// both databases: the handlers, the services and the stores are the real ones, on
// the embedded chain and registry.
//
// A service is everything that needs no money; an env adds a chain, a registry and a
// name server. Tests that need one package only are in that package.
package e2e
