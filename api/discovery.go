package api

// The discovery documents. Each uses the field names of its specification.

// Linkset is /.well-known/api-catalog (RFC 9727, RFC 9264).
type Linkset struct {
	Linkset []LinkContext `json:"linkset"`
}

// LinkContext has the links of one API, by the relations of RFC 8631.
type LinkContext struct {
	Anchor      string `json:"anchor"`
	ServiceDesc []Link `json:"service-desc"`
	ServiceDoc  []Link `json:"service-doc"`
	ServiceMeta []Link `json:"service-meta"`
	Status      []Link `json:"status"`
}

// Link is a link target.
type Link struct {
	Href string `json:"href"`
	Type string `json:"type"`
}

// AICatalog is /.well-known/ai-catalog.json.
type AICatalog struct {
	SpecVersion string           `json:"specVersion"`
	Host        AICatalogHost    `json:"host"`
	Entries     []AICatalogEntry `json:"entries"`
}

// AICatalogHost is the publisher of the catalogue.
type AICatalogHost struct {
	DisplayName      string `json:"displayName"`
	DocumentationURL string `json:"documentationUrl"`
}

// AICatalogEntry is an interface that agents can use.
type AICatalogEntry struct {
	Identifier  string   `json:"identifier"` // urn:air:<host>:<name>
	DisplayName string   `json:"displayName"`
	Type        string   `json:"type"` // a media type
	URL         string   `json:"url"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
}

// AgentRegistration is /.well-known/agent-registration.json (ERC-8004).
type AgentRegistration struct {
	Type          string          `json:"type"`
	Name          string          `json:"name"`
	Description   string          `json:"description"`
	Image         string          `json:"image"`
	Services      []AgentService  `json:"services"`
	X402Support   bool            `json:"x402Support"`
	Active        bool            `json:"active"`
	Registrations []AgentIdentity `json:"registrations"`
}

// AgentService is an endpoint of an agent.
type AgentService struct {
	Name     string `json:"name"`
	Endpoint string `json:"endpoint"`
	Version  string `json:"version,omitzero"`
}

// AgentIdentity is an agent's id in an on-chain registry.
type AgentIdentity struct {
	AgentID       int64  `json:"agentId"`
	AgentRegistry string `json:"agentRegistry"`
}

// ServerCard is /mcp/server-card, which describes the MCP server to clients
// before they connect (SEP-2127).
type ServerCard struct {
	Schema      string         `json:"$schema"`
	Name        string         `json:"name"` // reverse DNS, a slash, the server
	Version     string         `json:"version"`
	Title       string         `json:"title"`
	Description string         `json:"description"` // at most 100 characters
	WebsiteURL  string         `json:"websiteUrl"`
	Remotes     []ServerRemote `json:"remotes"`
}

// ServerRemote is the URL of an MCP server.
type ServerRemote struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// JWKS is /.well-known/jwks.json, the keys that sign the agent card (RFC 7517).
type JWKS struct {
	Keys []JWK `json:"keys"`
}

// JWK is a public key on P-256.
type JWK struct {
	KeyType   string `json:"kty"`
	Curve     string `json:"crv"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
	KeyID     string `json:"kid"`
	X         string `json:"x"`
	Y         string `json:"y"`
}

// AgentCard is /.well-known/agent-card.json (A2A 1.0). Fields without a value are
// omitted, because the signature covers the card without them.
type AgentCard struct {
	Name                string                         `json:"name"`
	Description         string                         `json:"description"`
	SupportedInterfaces []AgentInterface               `json:"supportedInterfaces"`
	Provider            AgentProvider                  `json:"provider"`
	Version             string                         `json:"version"`
	DocumentationURL    string                         `json:"documentationUrl"`
	Capabilities        AgentCapabilities              `json:"capabilities"`
	SecuritySchemes     map[string]AgentSecurityScheme `json:"securitySchemes"`
	DefaultInputModes   []string                       `json:"defaultInputModes"`
	DefaultOutputModes  []string                       `json:"defaultOutputModes"`
	Skills              []AgentSkill                   `json:"skills"`
	Signatures          []AgentCardSignature           `json:"signatures,omitempty"`
}

// AgentInterface is the URL and the protocol of an agent.
type AgentInterface struct {
	URL             string `json:"url"`
	ProtocolBinding string `json:"protocolBinding"`
	ProtocolVersion string `json:"protocolVersion"`
}

// AgentProvider is the operator of an agent.
type AgentProvider struct {
	Organization string `json:"organization"`
	URL          string `json:"url"`
}

// AgentCapabilities are the optional features of A2A that the agent supports.
type AgentCapabilities struct {
	Streaming  bool             `json:"streaming"`
	Extensions []AgentExtension `json:"extensions"`
}

// AgentExtension is an extension of A2A that the agent supports.
type AgentExtension struct {
	URI         string `json:"uri"`
	Description string `json:"description"`
}

// AgentSecurityScheme is a method of authentication.
type AgentSecurityScheme struct {
	HTTPAuth AgentHTTPAuth `json:"httpAuthSecurityScheme"`
}

// AgentHTTPAuth is a token in the header Authorization.
type AgentHTTPAuth struct {
	Scheme       string `json:"scheme"`
	BearerFormat string `json:"bearerFormat"`
	Description  string `json:"description"`
}

// AgentSkill is a skill of an agent.
type AgentSkill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples,omitempty"`
}

// AgentCardSignature is a JWS over the card without its signatures, in the
// canonical form of RFC 8785 (A2A 1.0, 8.4).
type AgentCardSignature struct {
	Protected string `json:"protected"`
	Signature string `json:"signature"`
}

// JOSEHeader is the protected header of that signature.
type JOSEHeader struct {
	Algorithm string `json:"alg"`
	Type      string `json:"typ"`
	KeyID     string `json:"kid"`
	KeysURL   string `json:"jku"`
}

// A2APaymentExtension is the URI of the A2A extension for x402 payments in
// metadata.
const A2APaymentExtension = "https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2"
