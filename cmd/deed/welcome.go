package main

import (
	"fmt"
	"io"
)

// places is where everything is, for a person.
type places struct {
	callers, operators, database, cache, chain string

	sandbox bool // with play money
}

// welcome says where we listen and what to try first.
func welcome(out io.Writer, p places) {
	fmt.Fprintf(out, `Deed %s is up.

  callers    %s
  operators  %s
  database   %s
  cache      %s
  chain      %s

Try:
  curl %s/domains/pricing/com
  curl %s/health
`, version(), p.callers, p.operators, p.database, p.cache, p.chain, p.callers, p.callers)
	if p.sandbox {
		fmt.Fprintf(out, "  curl %s/sandbox\n", p.callers)
	}
	fmt.Fprintf(out, "  curl %s/openapi.json\n", p.callers)
}
