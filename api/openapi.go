package api

import _ "embed"

// OpenAPIYAML is the description of the HTTP interface, OpenAPI 3.1. Every
// exchange of our tests is held against it (internal/apitest).
//
//go:embed openapi.yaml
var OpenAPIYAML []byte
