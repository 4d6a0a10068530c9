package httpapi

import (
	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/network"
)

// NewPaymentTerms returns the terms of paying to a treasury on a network. Addresses
// are in the mixed case of EIP-55, as wallets show them.
func NewPaymentTerms(n network.Network, payTo deed.Wallet) PaymentTerms {
	return PaymentTerms{
		NetworkV1: n.X402V1, NetworkV2: n.CAIP2(), Asset: n.Token.Address.Checksum(), PayTo: payTo.Checksum(),
		TokenName: n.Token.Name, TokenVersion: n.Token.Version,
	}
}

// assetOf returns the token that a payment header says it is signed for. It is
// empty for a network that we do not know, which checkTerms refuses.
func assetOf(h api.PaymentHeader) network.Asset {
	row, _ := network.ByX402V1(h.Network)
	if h.X402Version == 2 && h.Accepted != nil {
		row, _ = network.ByCAIP2(h.Accepted.Network)
	}
	return row.Asset()
}
