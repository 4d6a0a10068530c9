package epp

import "deed.example/deed/internal/registrar"

// What a Backend implements.
var _ interface {
	registrar.Registrar
	registrar.Manager
	registrar.BulkChecker
	registrar.PriceLister
	registrar.TermLimiter
	registrar.BalanceReader
	registrar.MessageQueue
	registrar.HostManager
	registrar.GlueManager
	registrar.Deleter
	registrar.RegistrantManager
	registrar.TransferDecider
	registrar.Monitored
} = (*Backend)(nil)
