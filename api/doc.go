// Package api holds the JSON bodies of the HTTP interface, one type per
// resource of the interface document, and openapi.yaml, which describes them.
// The server and the client share it. No other package defines JSON field names;
// those in mixed styles are kept for existing clients.
package api
