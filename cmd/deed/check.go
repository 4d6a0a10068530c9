package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func configCommand() *cobra.Command {
	config := &cobra.Command{Use: "config", Short: "Check the configuration"}
	check := &cobra.Command{
		Use:   "check",
		Short: "Explain what `deed serve` would run with the same configuration",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, settings, err := readConfig(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			return explain(cmd.OutOrStdout(), c, settings)
		},
	}
	addFlags(check)
	config.AddCommand(check)
	return config
}

// explain prints every setting with its source, and a summary. It fails if the
// service must not run with them.
func explain(out io.Writer, c *config, settings []*setting) error {
	prices, err := c.Prices()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SETTING\tVALUE\tFROM")
	for _, s := range settings {
		from := s.from
		if from == "" {
			from = "default"
		}
		value := s.value.String()
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", s.key, value, from)
	}
	for _, tld := range slices.Sorted(maps.Keys(c.Pricing.PerTLD)) {
		m := c.Pricing.PerTLD[tld]
		fmt.Fprintf(table, "%s%s\t%s + %s USDC\tfile\n", perTLD, tld, percent(&m.BasisPoints), m.Fee)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThis would run:\n  database  %s\n  cache     %s\n  chain     %s\n  signer    %s\n  keys      %s\n  prices    %d TLDs\n",
		c.DescribeDatabase(), c.DescribeCache(), c.DescribeChain(), c.DescribeSigner(), c.SigninKeysFile(), len(prices.Listings()))
	for _, r := range c.EffectiveRegistrars() {
		fmt.Fprintf(out, "  registrar %s: type %s, sells %s\n", r.Name, r.Type, strings.Join(r.TLDs, " "))
	}
	if redirects := c.DescribeRedirects(); redirects != "" {
		fmt.Fprintln(out, "  redirects "+redirects)
	}
	if traces := c.Traces.Describe(); traces != "" {
		fmt.Fprintln(out, "  traces    to "+traces)
	}
	warned, err := c.Check()
	for _, w := range warned {
		fmt.Fprintln(out, "  warning   "+w)
	}
	return err
}
