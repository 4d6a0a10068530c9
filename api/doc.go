// Package api holds the JSON bodies of the HTTP interface, one type per
// resource of the interface document, and openapi.yaml, which describes them.
// The server and the client share it. It is the only place where JSON spelling
// lives; field names that mix cases are those of clients that already exist.
package api
