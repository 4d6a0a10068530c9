package main

import (
	"fmt"
	"io"
)

// welcome prints the addresses of the listeners and examples. The first server is
// the public one, and the last the operators', if there is one.
func welcome(out io.Writer, c *config, servers []*listening, sandbox bool, dns string) {
	callers, operators := servers[0].url(), "off"
	if c.MetricsListen != "off" {
		operators = servers[len(servers)-1].url()
	}
	fmt.Fprintf(out, `Deed %s is up.

  callers    %s
  operators  %s
  database   %s
  cache      %s
  chain      %s
  DNS        %s
`, version(), callers, operators, databaseInWords(c), cacheInWords(c), chainInWords(c), dns)
	if c.outside() {
		fmt.Fprintln(out, "  registry   embedded: this is a REHEARSAL, and nothing that is sold is in the public DNS")
	}
	fmt.Fprintf(out, `
Try:
  curl %s/domains/pricing/com
  curl %s/health
`, callers, callers)
	if sandbox {
		fmt.Fprintf(out, "  curl %s/sandbox\n", callers)
	}
	fmt.Fprintf(out, "  curl %s/openapi.json\n", callers)
}
