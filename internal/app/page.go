package app

import (
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/web"
)

// newPage returns the page for browsers.
func newPage(c *Config, api *httpapi.Server) (*web.Server, error) {
	row, _ := network.ByChainID(c.ChainID) // without a row there are no payments
	site := web.Site{PublicURL: api.PublicURL, Version: api.Version, Network: row, Payments: api.NotReady == nil, Forwards: len(c.RedirectAddresses) > 0, Email: c.EmailServer != ""}
	if api.Sandbox != nil {
		site.RPCURL = api.Sandbox.RPCURL
	}
	page, err := web.New(site)
	if err != nil {
		return nil, err
	}
	page.Search, page.Prices, page.Limit = api.Search.Search, api.Catalog, api.LimitSearch
	return page, nil
}
