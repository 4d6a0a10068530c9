package app

import (
	"fmt"
	"time"

	"deed.example/deed/internal/discovery"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/keyfile"
)

// newDiscovery returns the server of the discovery documents.
func newDiscovery(c *Config, api *httpapi.Server) (*discovery.Server, error) {
	keys, err := keyfile.OpenSigning(c.agentKeyFile())
	if err != nil {
		return nil, fmt.Errorf("agent.key: %w", err)
	}
	network := api.Terms.NetworkV1
	if api.NotReady != nil {
		network = "" // no payments are accepted
	}
	return discovery.New(discovery.Site{
		PublicURL: api.PublicURL, Version: api.Version, Contact: c.Contact, Limits: c.Limits, Listings: api.Catalog.Listings,
		Network: network, Sandbox: api.Sandbox != nil, Now: time.Now, Keys: keys,
	})
}
