package opusdns

import "deed.example/deed/internal/registrar"

// What a Backend implements.
var (
	_ registrar.Registrar         = (*Backend)(nil)
	_ registrar.Manager           = (*Backend)(nil)
	_ registrar.Inventory         = (*Backend)(nil)
	_ registrar.BulkChecker       = (*Backend)(nil)
	_ registrar.PriceLister       = (*Backend)(nil)
	_ registrar.TermLimiter       = (*Backend)(nil)
	_ registrar.TLDLister         = (*Backend)(nil)
	_ registrar.BalanceReader     = (*Backend)(nil)
	_ registrar.MessageQueue      = (*Backend)(nil)
	_ registrar.HostManager       = (*Backend)(nil)
	_ registrar.Deleter           = (*Backend)(nil)
	_ registrar.TransferDecider   = (*Backend)(nil)
	_ registrar.RegistrantManager = (*Backend)(nil)
	_ registrar.Monitored         = (*Backend)(nil)
)
