package agent

import "fmt"

// notes describe the arguments of tools, with an example: by tool and argument, or
// by argument if it means the same everywhere. They are shorter than those of
// openapi.yaml, because each costs every agent part of its context. An argument
// without a note is accepted, but not listed: it is another name for one that is.
var notes = map[string]string{
	"domain":         "e.g. example.com",
	"years":          "1 to 10; default: the fewest allowed",
	"dry_run":        "true: only check and quote",
	"max_price_usd":  "Refuse if it costs more, e.g. 15.00",
	"nameservers":    `e.g. ["ns1.example.net","ns2.example.net"]`,
	"limit":          "1 to 100, e.g. 50",
	"offset":         "Entries to skip, e.g. 50",
	"cursor":         "Instead of offset: next of the page before",
	"record_id":      "Of list_dns_records, e.g. k3v9x2m7q4t8wz",
	"type":           "e.g. A, AAAA, CNAME, MX, TXT",
	"host":           "e.g. www; @ is the name itself",
	"value":          "e.g. 192.0.2.10",
	"ttl":            "Seconds, 60 to 86400, e.g. 3600",
	"distance":       "MX preference or SRV weight, e.g. 10",
	"webhook_id":     "e.g. wh_4b22…",
	"wallet_address": "e.g. 0x71c7…976f, 40 hex digits",

	"search_domains.query":                 "Label without TLD, e.g. example",
	"search_domains.tlds":                  `e.g. ["com","io"] or ["all"]; default: a standard set`,
	"check_domains.domains":                `e.g. ["example.com","example.io"]`,
	"get_pricing.tlds":                     `e.g. ["com","io"]`,
	"get_job.job_id":                       "From the order, e.g. job_4b22…",
	"register_domain.dns_records":          "Free records to start with",
	"register_domain.nameservers":          `Default: ours. e.g. ["ns1.example.net","ns2.example.net"]`,
	"renew_domain.expected_expires_at":     "Refuse if it expires at another time, e.g. 2027-01-02T03:04:05Z",
	"transfer_domain.auth_code":            "From the present registrar, e.g. kQ3-9sd-2Lm",
	"transfer_domain.nameservers":          "Default: those it has",
	"list_my_domains.status":               "e.g. active, expired, redemption",
	"list_my_domains.expiring_within_days": "e.g. 30",
	"list_events.after":                    "Cursor of the last event seen, e.g. 17",
	"create_webhook.url":                   "e.g. https://example.com/hook",
	"sign_in.message":                      "The text that was signed, unchanged",
	"sign_in.signature":                    "Hex, e.g. 0x5c50…",
	"get_test_money.amount_usd":            "e.g. 100.00",
	"list_dns_records.type":                "Only this type, e.g. A",
	"list_dns_records.host":                "Only this host, e.g. www",
	"update_dns_record.type":               "The record's own type, e.g. A",
	"change_dns_records.changes":           "Done in order",
	"change_dns_records.op":                "e.g. add",
	"change_dns_records.id":                "Of the record to update or delete, e.g. k3v9x2m7q4t8wz",
	"change_dns_records.if_revision":       "Refuse if the zone has another revision, e.g. 7",
	"import_dns_zone.zone_file":            "e.g. www 300 IN A 192.0.2.10",
	"import_dns_zone.mode":                 "merge adds; replace also deletes what is not in the file",
	"import_dns_zone.ttl":                  "clamp: move TTLs into the allowed range",
	"roll_back_dns_zone.revision":          "Of list_dns_revisions, e.g. 7",
	"set_lock.locked":                      "true forbids transfers",
	"set_nameservers.force":                "true: at once, even if DNSSEC may break for a while",
	"set_ds_records.force":                 "true: at once, even if DNSSEC may break for a while",
	"set_ds_records.ds":                    "Of the keys that the other servers sign with",
	"set_ds_records.keyTag":                "e.g. 2371",
	"set_ds_records.algorithm":             "e.g. 13",
	"set_ds_records.digestType":            "e.g. 2",
	"set_ds_records.digest":                "Hex, e.g. e3b0…",
	"change_owner.wallet_address":          "The new owner, e.g. 0x71c7…976f, 40 hex digits",

	argWait:    fmt.Sprintf("Wait for the order: 0 to %d, e.g. 20", maxWait),
	argToken:   "Of sign_in, e.g. eyJ…",
	argAddress: "Your wallet, e.g. 0x71C7…976F, 40 hex digits",
}

// note returns the description of an argument of a tool.
func note(tool, argument string) string {
	if text, ok := notes[tool+"."+argument]; ok {
		return text
	}
	return notes[argument]
}

// executorSchemas are the schemas of arguments that are not sent as they are.
var executorSchemas = map[string]schema{
	argWait:    {"type": "integer"},
	argToken:   {"type": "string"},
	argAddress: {"type": "string"},
}

// compact returns the schema of an argument with what an agent needs to fill it
// in: types, choices and a note. The service checks the rest. Every part has a type,
// without which some agents leave the tool out.
func compact(tool, name string, full schema) schema {
	out := schema{}
	for _, key := range []string{"type", "enum"} {
		if v, ok := full[key]; ok {
			out[key] = v
		}
	}
	if choices, _ := out["enum"].([]any); len(choices) > 4 {
		delete(out, "enum") // the note has those that matter
	}
	if text := note(tool, name); text != "" {
		out["description"] = text
	}
	if choices := alternatives(full); out["type"] == nil && len(choices) > 0 {
		return compact(tool, name, choices[0]) // agents need only the plainest
	}
	if items, ok := full["items"].(schema); ok {
		inner := compact(tool, "", items)
		delete(inner, "description")
		out["items"] = inner
	}
	if fields, ok := full["properties"].(schema); ok {
		listed := schema{}
		for field, s := range fields {
			if f, ok := s.(schema); ok && note(tool, field) != "" {
				listed[field] = compact(tool, field, f)
			}
		}
		out["properties"] = listed
		if required, ok := full["required"]; ok {
			out["required"] = required
		}
	}
	return out
}

// alternatives returns those of a schema.
func alternatives(full schema) []schema {
	return append(schemas(full["oneOf"]), schemas(full["anyOf"])...)
}

// schemas returns the schemas of a list.
func schemas(v any) []schema {
	var out []schema
	list, _ := v.([]any)
	for _, one := range list {
		if s, ok := one.(schema); ok {
			out = append(out, s)
		}
	}
	return out
}
