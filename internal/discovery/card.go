package discovery

import (
	"fmt"
	"strings"

	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
)

const (
	protocolVersion = "1.0" // of A2A
	cardPath        = "/.well-known/agent-card.json"
	keysPath        = "/.well-known/jwks.json"
)

// card returns the agent card without its signature. Its skills are the tools of
// package agent.
func (s *Server) card() api.AgentCard {
	c := api.AgentCard{
		Name: name, Description: summary + " Send a data part {\"skill\": …, \"arguments\": {…}}; examples of skills are arguments. The answer to any text has all skills with their schemas.",
		SupportedInterfaces: []api.AgentInterface{{URL: s.at("/a2a"), ProtocolBinding: "JSONRPC", ProtocolVersion: protocolVersion}},
		Provider:            api.AgentProvider{Organization: name, URL: s.at("/")},
		Version:             s.site.Version,
		DocumentationURL:    s.at("/docs/"),
		Capabilities: api.AgentCapabilities{Streaming: true, Extensions: []api.AgentExtension{{
			URI: api.A2APaymentExtension, Description: "What costs money is paid in USDC by x402, in the metadata x402.payment.*.",
		}}},
		SecuritySchemes: map[string]api.AgentSecurityScheme{"bearer": {HTTPAuth: api.AgentHTTPAuth{
			Scheme: "Bearer", BearerFormat: "JWT", Description: "The accessToken that the skill sign_in gives. Only skills about a wallet's own account and DNS need it.",
		}}},
		DefaultInputModes: []string{"application/json", "text/plain"}, DefaultOutputModes: []string{"application/json"},
	}
	for _, t := range agent.Tools(s.site.Sandbox) {
		if !t.OnCard {
			continue
		}
		c.Skills = append(c.Skills, api.AgentSkill{ID: t.Name, Name: t.Title, Description: firstSentence(t.Purpose), Tags: tags(t), Examples: []string{t.Example}})
	}
	return c
}

// firstSentence shortens a description: the card is small, and the answer to any
// text has the whole.
func firstSentence(text string) string {
	short, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(short, ".") + "."
}

// tags returns the topic of a skill and its requirements.
func tags(t agent.Tool) []string {
	out := []string{"domains"}
	if t.Paid {
		out = append(out, "paid")
	}
	if t.Bearer {
		out = append(out, "sign-in")
	}
	return out
}

// signedCard returns the card with its signature.
func (s *Server) signedCard(key api.JWK) (api.AgentCard, error) {
	c := s.card()
	signature, err := signCard(c, s.site.Keys[0], api.JOSEHeader{Algorithm: key.Algorithm, Type: "JOSE", KeyID: key.KeyID, KeysURL: s.at(keysPath)})
	if err != nil {
		return c, fmt.Errorf("sign the agent card: %w", err)
	}
	c.Signatures = []api.AgentCardSignature{signature}
	return c, nil
}
