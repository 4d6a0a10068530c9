package opusdnstest

// The rules of the vendor's API for what package opusdns uses, from the vendor's
// OpenAPI document of 2026: required and allowed fields, types, values and statuses.

// An endpoint is a method and a path, and what it takes and returns.
type endpoint struct {
	method  string
	path    string // with "{}" for a parameter
	query   map[string]schema
	needs   []string       // required parameters of the query
	in      schema         // nil for no body
	replies map[int]schema // nil for no body
}

var (
	problem = object(fields{
		"type": need(anyText), "title": need(anyText), "status": need(integer(400, 599)), "detail": may(orNull(anyText)), "code": may(anyText),
	})
	validation = object(fields{
		"type": need(anyText), "title": need(anyText), "status": need(integer(400, 599)),
		"errors": need(list(100, object(fields{"loc": need(list(10, anyText)), "msg": need(anyText), "type": need(anyText)}))),
	})
	problemOrValidation = either(problem, validation)

	roles    = enum("registrant", "admin", "tech", "billing")
	contacts = dictionary(roles, id("contact"))
	period   = object(fields{"unit": need(enum("y", "m", "d")), "value": need(integer(1, 100))})
	servers  = list(13, object(fields{"hostname": need(text(1, 253)), "ip_addresses": may(list(13, address))}))
	clients  = enum("clientTransferProhibited", "clientUpdateProhibited", "clientDeleteProhibited", "clientRenewProhibited", "clientHold")
	renewal  = enum("renew", "expire")

	domainObject = object(fields{
		"name": need(text(1, 253)), "sld": need(text(1, 255)), "tld": need(text(1, 255)), "roid": need(anyText),
		"domain_id": may(id("domain")), "owner_id": may(id("organization")), "registry_account_id": may(id("registry_account")),
		"auth_code": may(orNull(text(1, 255))), "auth_code_expires_on": may(orNull(date)), "canceled_on": may(orNull(date)),
		"created_on": may(date), "updated_on": may(date), "deleted_on": may(orNull(date)), "expires_on": may(orNull(date)),
		"registered_on": may(orNull(date)), "is_premium": may(boolean), "transfer_lock": may(boolean), "renewal_mode": may(renewal),
		"contacts":    may(list(20, object(fields{"contact_id": need(id("contact")), "contact_type": need(roles)}))),
		"hosts":       may(list(100, object(fields{"host_id": need(id("host"))}))),
		"nameservers": may(servers), "registry_statuses": may(list(40, statuses)),
		"verification_required": may(orNull(object(fields{
			"claims":    need(list(4, enum("name", "address", "email", "phone"))),
			"deadlines": may(list(10, object(fields{"type": need(enum("dedelegation", "deletion")), "date": need(date)}))),
		}))),
	})
	statuses = enum("ok", "serverTransferProhibited", "serverUpdateProhibited", "serverDeleteProhibited", "serverRenewProhibited", "serverRestoreProhibited",
		"serverHold", "transferPeriod", "renewPeriod", "redemptionPeriod", "pendingUpdate", "pendingTransfer", "pendingRestore", "pendingRenew",
		"pendingDelete", "pendingCreate", "inactive", "autoRenewPeriod", "addPeriod", "deleted", "clientTransferProhibited", "clientUpdateProhibited",
		"clientDeleteProhibited", "clientRenewProhibited", "clientHold", "free", "connect", "failed", "invalid")

	dsFields = fields{
		"record_type": need(enum("ds_data", "key_data")), "algorithm": need(integer(1, 23)), "key_tag": may(orNull(integer(0, 65535))),
		"digest_type": may(orNull(integer(1, 6))), "digest": may(orNull(anyText)),
		"flags": may(orNull(integer(0, 65535))), "protocol": may(orNull(integer(0, 255))), "public_key": may(orNull(anyText)),
	}
	dsObject = object(dsFields)

	contactFields = fields{
		"first_name": need(text(1, 255)), "last_name": need(text(1, 255)), "org": may(orNull(text(1, 255))), "email": need(text(3, 255)),
		"phone": need(text(5, 50)), "street": need(text(1, 255)), "city": need(text(1, 255)), "state": may(orNull(text(1, 255))),
		"postal_code": need(text(1, 255)), "country": need(country), "disclose": need(boolean),
	}
	contactObject = object(withFields(contactFields, fields{
		"contact_id": may(id("contact")), "organization_id": may(id("organization")), "created_on": may(date),
	}))

	hostObject = object(fields{
		"host_id": need(id("host")), "hostname": need(text(1, 253)), "ip_addresses": may(list(13, address)), "created_on": need(date), "updated_on": need(date),
	})

	eventObject = object(fields{
		"event_id": may(id("event")), "object_id": may(orNull(anyText)), "object_type": may(enum("DOMAIN", "CONTACT", "HOST", "ACCOUNT", "VANITY_NS_SET", "RAW", "UNKNOWN")),
		"type": may(orNull(enum("REGISTRATION", "RENEWAL", "MODIFICATION", "DELETION", "INBOUND_TRANSFER", "OUTBOUND_TRANSFER", "TRANSIT",
			"WITHDRAW", "VERIFICATION", "BALANCE", "VANITY_NS_PROVISION"))),
		"subtype":    may(orNull(enum("NOTIFICATION", "SUCCESS", "FAILURE", "CANCELED"))),
		"event_data": need(object(fields{"message": need(anyText), "version": may(enum("1.0"))})), "created_on": need(date), "acknowledged_on": may(orNull(date)),
	})

	checkObject = object(fields{
		"domain": need(anyText), "available": need(boolean), "reason": need(orNull(anyText)), "is_premium": may(boolean), "claims_key": may(orNull(anyText)),
		"premium_pricing": may(orNull(object(fields{"prices": need(list(20, object(fields{
			"action": need(anyText), "price": need(amount), "currency": need(anyText),
		})))}))),
		"error": may(orNull(object(fields{"type": need(anyText), "message": need(anyText)}))),
	})

	pages = map[string]schema{"page": matching(`^[1-9][0-9]*$`), "page_size": matching(`^([1-9][0-9]{0,2}|1000)$`), "sort_order": enum("asc", "desc")}
)

// paged is a page of a list.
func paged(of schema) schema {
	return object(fields{"results": need(list(1000, of)), "pagination": need(object(fields{
		"total_pages": need(integer(0, 1e9)), "total_items": need(integer(0, 1e12)), "current_page": need(integer(1, 1e9)), "page_size": need(integer(1, 1000)),
		"has_next_page": need(boolean), "has_previous_page": need(boolean),
	}))})
}

// with returns the parameters of a page, and more.
func with(more map[string]schema) map[string]schema {
	out := map[string]schema{}
	for _, all := range []map[string]schema{pages, more} {
		for name, of := range all {
			out[name] = of
		}
	}
	return out
}

// either is one of two.
func either(a, b schema) schema {
	return func(path string, v any) []string {
		found := a(path, v)
		if len(found) == 0 || len(b(path, v)) == 0 {
			return nil
		}
		return found
	}
}

// endpoints are all endpoints that are used.
var endpoints = []endpoint{
	{"GET", "/v1/domains", with(map[string]schema{"sort_by": enum("name", "created_on", "updated_on", "expires_on", "registered_on")}), nil, nil,
		map[int]schema{200: paged(domainObject), 422: validation}},
	{"POST", "/v1/domains", nil, nil, object(fields{
		"name": need(text(1, 253)), "contacts": need(contacts), "renewal_mode": need(renewal), "period": need(period), "create_zone": may(boolean),
		"nameservers": may(servers), "auth_code": may(text(6, 32)), "expected_price": may(confirm),
	}), map[int]schema{201: domainObject, 400: problem, 404: problem, 409: problem, 422: problemOrValidation, 503: problem}},
	{"GET", "/v1/domains/check", map[string]schema{"domains": text(1, 1024)}, []string{"domains"}, nil,
		map[int]schema{200: object(fields{"results": need(list(500, checkObject))}), 422: validation}},
	{"POST", "/v1/domains/transfer", nil, nil, object(fields{
		"name": need(text(1, 253)), "contacts": need(contacts), "renewal_mode": need(renewal), "auth_code": need(text(6, 32)), "create_zone": may(boolean),
		"nameservers": may(servers), "period": may(period), "expected_price": may(confirm),
	}), map[int]schema{201: domainObject, 400: problem, 403: problem, 404: problem, 409: problem, 422: problemOrValidation}},
	{"GET", "/v1/domains/{}", nil, nil, nil, map[int]schema{200: domainObject, 404: problem, 422: validation}},
	{"PATCH", "/v1/domains/{}", nil, nil, object(fields{
		"nameservers": may(servers), "auth_code": may(text(1, 255)), "renewal_mode": may(renewal), "contacts": may(contacts),
		"status_changes": may(object(fields{"add": may(list(5, clients)), "remove": may(list(5, clients))})),
	}), map[int]schema{200: domainObject, 404: problem, 422: validation}},
	{"DELETE", "/v1/domains/{}", nil, nil, nil, map[int]schema{204: nil, 404: problem, 409: problem, 422: validation}},
	{"POST", "/v1/domains/{}/renew", nil, nil, object(fields{"period": need(period), "current_expiry_date": need(date), "expected_price": may(confirm)}),
		map[int]schema{200: object(fields{"name": need(anyText), "new_expiry_date": need(date), "period_extended": need(period)}), 422: problemOrValidation}},
	{"POST", "/v1/domains/{}/restore", nil, nil, object(fields{"reason": may(anyText), "additional_info": may(anyText), "expected_price": may(confirm)}),
		map[int]schema{200: object(fields{"domain_id": need(id("domain")), "name": need(anyText), "restored_at": need(date)}), 422: problemOrValidation}},
	{"DELETE", "/v1/domains/{}/transfer", nil, nil, nil, map[int]schema{204: nil, 404: problem, 409: problem, 422: validation}},
	{"POST", "/v1/domains/{}/transfer/outbound", nil, nil, object(fields{"action": need(enum("approve", "reject"))}),
		map[int]schema{200: object(fields{"action": need(enum("approve", "reject")), "domain_id": need(id("domain")), "domain_name": need(anyText)}), 400: problem, 404: problem, 422: problem}},
	{"GET", "/v1/domains/{}/dnssec", nil, nil, nil, map[int]schema{200: list(30, dsObject), 404: problem, 422: validation}},
	{"PUT", "/v1/domains/{}/dnssec", nil, nil, list(30, object(dsFields)), map[int]schema{200: list(30, dsObject), 404: problem, 422: problemOrValidation}},
	{"DELETE", "/v1/domains/{}/dnssec", nil, nil, nil, map[int]schema{204: nil, 404: problem, 422: validation}},
	{"GET", "/v1/contacts", with(map[string]schema{"sort_by": enum("first_name", "last_name", "email", "created_on"), "email": anyText}), nil, nil,
		map[int]schema{200: paged(contactObject), 422: validation}},
	{"POST", "/v1/contacts", nil, nil, object(contactFields), map[int]schema{201: contactObject, 422: validation}},
	{"DELETE", "/v1/contacts/{}", nil, nil, nil, map[int]schema{204: nil, 404: problem, 409: problem, 422: validation}},
	{"POST", "/v1/hosts", nil, nil, object(fields{"hostname": need(text(1, 253)), "ip_addresses": need(list(13, address))}),
		map[int]schema{201: hostObject, 404: problem, 409: problem, 422: problem}},
	{"PUT", "/v1/hosts/{}", nil, nil, object(fields{"ip_addresses": need(list(13, address))}), map[int]schema{200: hostObject, 404: problem, 422: problem}},
	{"DELETE", "/v1/hosts/{}", nil, nil, nil, map[int]schema{204: nil, 404: problem, 409: problem, 422: validation}},
	{"GET", "/v1/events", with(map[string]schema{"sort_by": enum("object_id", "created_on"), "acknowledged": enum("true", "false")}), nil, nil,
		map[int]schema{200: paged(eventObject), 422: validation}},
	{"PATCH", "/v1/events/{}", nil, nil, nil, map[int]schema{204: nil, 404: problem, 422: validation}},
	{"GET", "/v1/tlds/portfolio", nil, nil, nil, map[int]schema{200: list(10000, object(fields{"tld": need(anyText), "type": need(enum("gTLD", "ccTLD"))}))}},
	{"GET", "/v1/tlds/{}", nil, nil, nil, map[int]schema{200: anything, 404: problem, 422: validation}},
	{"GET", "/v1/organizations/{}", nil, nil, nil, map[int]schema{200: object(fields{
		"name": need(text(1, 255)), "organization_id": may(id("organization")), "currency": may(orNull(enum("USD", "EUR"))), "account_balance": may(orNull(amount)),
		"billing_metadata": may(object(fields{"credit_limit": may(orNull(integer(0, 1e12)))})), "status": may(enum("active", "inactive")), "created_on": may(date),
	}), 404: problem, 422: validation}},
	{"GET", "/v1/organizations/{}/pricing/product-type/domain", map[string]schema{"product_action": anyText, "product_class": anyText}, nil, nil,
		map[int]schema{200: object(fields{"prices": need(list(100000, object(fields{
			"product_type": need(anyText), "price": need(anyText), "currency": need(anyText), "product_action": may(orNull(anyText)),
			"product_class": may(orNull(anyText)), "period": may(orNull(period)),
		})))}), 422: validation}},
}

// anything is an object that is not looked into: the rules of a TLD.
func anything(path string, v any) []string {
	if _, ok := v.(map[string]any); !ok {
		return wrong(path, "%v is not an object", v)
	}
	return nil
}
