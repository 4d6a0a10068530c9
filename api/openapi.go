package api

import _ "embed"

// OpenAPIYAML is the OpenAPI 3.1 description of the HTTP interface. The tests
// validate every request and response against it (internal/apitest).
//
//go:embed openapi.yaml
var OpenAPIYAML []byte
