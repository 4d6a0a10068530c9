package agent

import "deed.example/deed/internal/wirejson"

// ownerTable lists the tools that the owner of a name manages it with.
var ownerTable = []row{
	{name: "list_dns_records", title: "List DNS records", endpoint: "GET /dns/{domain}", flags: readOnly | idempotent, returns: []string{"records"},
		example:     `{"domain":"example.com"}`,
		description: "Lists the DNS records of a name, with the ids that changes need."},
	{name: "add_dns_record", title: "Add a DNS record", endpoint: "POST /dns/{domain}", flags: idempotent,
		example:     `{"domain":"example.com","type":"A","host":"www","value":"192.0.2.10"}`,
		description: "Adds one record. A record that exists already is refused."},
	{name: "update_dns_record", title: "Change a DNS record", endpoint: "PUT /dns/{domain}/{recordId}", flags: destructive | idempotent,
		example:     `{"domain":"example.com","record_id":"k3v9","ttl":300}`,
		description: "Changes a record; what is left out stays as it is."},
	{name: "delete_dns_record", title: "Delete a DNS record", endpoint: "DELETE /dns/{domain}/{recordId}", flags: destructive | idempotent,
		example:     `{"domain":"example.com","record_id":"k3v9"}`,
		description: "Deletes a record."},
	{name: "change_dns_records", title: "Change many DNS records", endpoint: "POST /dns/{domain}/batch", flags: destructive, returns: []string{"changes", "price_usd"},
		example:     `{"domain":"example.com","changes":[{"op":"delete","id":"k3v9"}]}`,
		description: "Adds, changes and deletes records of one name: all or nothing, for one payment. dry_run shows the difference."},
	{name: "export_dns_zone", title: "Export a zone file", endpoint: "GET /dns/{domain}/export", flags: readOnly | idempotent, finish: withZoneFile, returns: []string{"zoneFile"},
		example:     `{"domain":"example.com"}`,
		description: "Gives all records as a zone file (RFC 1035)."},
	{name: "import_dns_zone", title: "Import a zone file", endpoint: "POST /dns/{domain}/import", flags: destructive, text: "zone_file", returns: []string{"changes", "price_usd"},
		example:     `{"domain":"example.com","zone_file":"www 300 IN A 192.0.2.10","dry_run":true}`,
		description: "Takes records from a zone file; each one that changes is paid for. dry_run shows the difference."},
	{name: "list_dns_revisions", title: "List DNS revisions", endpoint: "GET /dns/{domain}/revisions", flags: notOnCard | readOnly | idempotent, returns: []string{"revisions"},
		example:     `{"domain":"example.com"}`,
		description: "Lists the newest hundred revisions of a zone."},
	{name: "roll_back_dns_zone", title: "Roll back a zone", endpoint: "POST /dns/{domain}/rollback/{revision}", flags: destructive | idempotent, returns: []string{"changes", "price_usd"},
		example:     `{"domain":"example.com","revision":7}`,
		description: "Restores the records of an earlier revision; each one that changes is paid for. dry_run shows the difference."},
	{name: "check_dns_propagation", title: "Check DNS propagation", endpoint: "GET /dns/{domain}/propagation", flags: notOnCard | readOnly | idempotent,
		example:     `{"domain":"example.com"}`,
		description: "Asks each name server which serial it serves."},
	{name: "set_lock", title: "Lock or unlock a domain", endpoint: "PUT /domains/{domain}/lock", flags: destructive | idempotent,
		example:     `{"domain":"example.com","locked":true}`,
		description: "Forbids or allows a transfer to another registrar."},
	{name: "set_nameservers", title: "Set name servers", endpoint: "PUT /domains/{domain}/nameservers", flags: destructive | idempotent,
		example:     `{"domain":"example.com","nameservers":["ns1.example.net","ns2.example.net"]}`,
		description: "Delegates a name to other name servers; an empty list returns it to ours."},
	{name: "set_ds_records", title: "Set DS records", endpoint: "PUT /domains/{domain}/ds", flags: notOnCard | destructive | idempotent,
		example:     `{"domain":"example.com","ds":[]}`,
		description: "Sets the DNSSEC DS of a name that other servers serve; an empty list makes it unsigned."},
	{name: "get_auth_code", title: "Get the transfer code", endpoint: "POST /domains/{domain}/authcode", flags: destructive, returns: []string{"authCode"},
		question:    "Unlock {domain} and show the agent its transfer code? Whoever has the code can take the name.",
		example:     `{"domain":"example.com"}`,
		description: "Unlocks a name and gives a new code for a transfer to another registrar. Whoever has the code can take the name."},
	{name: "change_owner", title: "Give a domain away", endpoint: "PUT /domains/{domain}/owner", flags: destructive | idempotent,
		question:    "Give {domain} to {wallet_address}? Only that wallet can undo it.",
		example:     `{"domain":"example.com","wallet_address":"0x…"}`,
		description: "Makes another wallet the owner. Only that wallet can undo it."},
}

// withZoneFile wraps a zone file, which is text, in an object.
func withZoneFile(_ arguments, _ *Executor, a Answer) Answer {
	raw, err := wirejson.Marshal(map[string]string{"zoneFile": string(a.Body)})
	if err != nil {
		return refused("domain", "its zone file cannot be shown here: it is not text")
	}
	a.Body, a.Header = raw, a.Header.Clone()
	a.Header.Set("Content-Type", "application/json")
	return a
}
