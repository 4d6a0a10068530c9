package main

import (
	"cmp"
	"fmt"
	"io"

	"deed.example/deed/internal/app"
)

// welcome prints the addresses of the listeners and examples.
func welcome(out io.Writer, c *config, a *app.App) {
	callers, operators, dns := a.URL(), cmp.Or(a.OperatorsURL(), "off"), "off"
	if a.DNS() != "" {
		dns = a.DNS() + ", UDP and TCP"
	}
	fmt.Fprintf(out, "Deed %s is up.\n\n", version())
	if a.Sandbox() {
		fmt.Fprintf(out, `This is a sandbox: the money, the registry and the names exist on this machine only.

  open       %s in a browser
  or type    deed demo --server %s

`, callers, callers)
	}
	fmt.Fprintf(out, `  callers    %s
  operators  %s
  database   %s
  cache      %s
  chain      %s
  DNS        %s
`, callers, operators, c.DescribeDatabase(), c.DescribeCache(), c.DescribeChain(), dns)
	if c.Outside() && c.SellsEmbedded() {
		fmt.Fprintln(out, "  registry   embedded: this is a REHEARSAL, and nothing that is sold is in the public DNS")
	}
	fmt.Fprintf(out, `
Try:
  curl %s/domains/pricing/com
  curl %s/health
`, callers, callers)
	if a.Sandbox() {
		fmt.Fprintf(out, "  curl %s/sandbox\n", callers)
	}
	fmt.Fprintf(out, "  curl %s/openapi.json\n", callers)
}
