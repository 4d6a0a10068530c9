package main

import (
	"fmt"
	"io"
	"net"
)

// welcome says where we listen and what to try first.
func welcome(out io.Writer, c *config, addr net.Addr, private string) {
	base := "http://" + addr.String()
	fmt.Fprintf(out, `Deed %s is up.

  callers    %s
  operators  %s
  database   %s
  cache      %s

Try:
  curl %s/domains/pricing/com
  curl %s/health
  curl %s/openapi.json
`, version(), base, private, databaseInWords(c), cacheInWords(c), base, base, base)
}
