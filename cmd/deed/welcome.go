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
	fmt.Fprintf(out, `Deed %s is up.

  callers    %s
  operators  %s
  database   %s
  cache      %s
  chain      %s
  DNS        %s
`, version(), callers, operators, c.DescribeDatabase(), c.DescribeCache(), c.DescribeChain(), dns)
	if c.Outside() && c.SellsEmbedded() {
		fmt.Fprintln(out, "  registry   embedded: this is a REHEARSAL, and nothing that is sold is in the public DNS")
	}
	fmt.Fprintf(out, `
Try:
  open %s in a browser
  curl %s/domains/pricing/com
  curl %s/health
`, callers, callers, callers)
	if a.Sandbox() {
		fmt.Fprintf(out, "  curl %s/sandbox\n", callers)
	}
	fmt.Fprintf(out, "  curl %s/openapi.json\n", callers)
}
