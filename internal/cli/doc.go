// Package cli has the client commands of `deed`: they search, buy and manage names
// from a terminal or a script, through package client alone.
//
// For every command: stdout is data and stderr is the rest. On a terminal data is
// a table, in a pipe tab-separated columns, and with --json the object that the
// service sent. Without a terminal a command never prompts: it fails and names the
// flag. It pays nothing above --max-price, and on a terminal it asks first. A
// private key is read from a file, the environment or a prompt, never from an
// argument. The exit code is the kind of error (exit.go).
//
// The configuration folder stores wallets (encrypted), sign-ins and payments with
// an unknown outcome, readable by their owner only.
package cli
