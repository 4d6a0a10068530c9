// Package cli is the client commands of `deed`: they search, buy and look after
// names from a terminal or a script, through package client alone.
//
// What stays true of every command: stdout is data and stderr is the rest. On a
// terminal data is a table, in a pipe it is plain columns with a tab between
// them, and with --json it is the object that the service sent. Nothing is asked
// where nobody sits: the command fails and names the flag. Nothing is paid above
// --max-price, and on a terminal a person says yes first. A private key is read
// from a file, the environment or a prompt, never from an argument. The exit
// code says what kind of thing went wrong (exit.go).
//
// Between runs three things are kept in the configuration folder, readable by
// their owner only: wallets (encrypted), sign-ins, and payments whose outcome is
// not known yet.
package cli
