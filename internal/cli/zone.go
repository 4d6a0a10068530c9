package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/dnszone"
)

func dnsCommand() *cobra.Command {
	return group("dns", "The DNS records of a name",
		recordListCommand(), recordAddCommand(), recordSetCommand(), recordRemoveCommand(),
		zoneBatchCommand(), zoneExportCommand(), zoneImportCommand(), zoneDiffCommand(), zoneHistoryCommand(), zoneRollbackCommand(), propagationCommand())
}

func recordListCommand() *cobra.Command {
	var f client.RecordFilter
	cmd := command("ls NAME", "List the records", cobra.ExactArgs(1), func(s *session, args []string) error {
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		out, err := c.Records(s.ctx, args[0], f)
		if err != nil {
			return err
		}
		l := list{heads: []string{"ID", "HOST", "TTL", "TYPE", "DISTANCE", "VALUE"}, empty: "no records; `deed dns add NAME TYPE HOST VALUE` adds one"}
		for _, r := range out.Records {
			l.add(recordRow(r)...)
		}
		return s.show(out, l)
	})
	cmd.Flags().StringVar(&f.Type, "type", "", "only records of this type")
	cmd.Flags().StringVar(&f.Host, "host", "", "only records of this host")
	return cmd
}

func recordRow(r api.Record) []string {
	distance := "-"
	if r.Distance != nil {
		distance = strconv.Itoa(*r.Distance)
	}
	return []string{r.ID, r.Host, strconv.Itoa(r.TTL), r.Type, distance, r.Value}
}

// numbers are the optional numeric flags of a record.
type numbers struct{ ttl, distance int }

func (n *numbers) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&n.ttl, "ttl", 0, "seconds that resolvers may cache it")
	cmd.Flags().IntVar(&n.distance, "distance", 0, "preference of MX, weight of SRV")
}

// given returns a number if its flag was set, and nil otherwise.
func given(cmd *cobra.Command, flag string, n int) *int {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	return &n
}

// atLeastOne fails if the flag was set to a number below 1. Only an omitted flag
// means "no condition".
func atLeastOne(cmd *cobra.Command, flag string, n int) error {
	if cmd.Flags().Changed(flag) && n < 1 {
		return usagef("--%s %d: write 1 or more, or leave it out", flag, n)
	}
	return nil
}

func recordAddCommand() *cobra.Command {
	var n numbers
	var cmd *cobra.Command
	cmd = command("add NAME TYPE HOST VALUE", "Add a record, for 0.10 USDC", cobra.MinimumNArgs(4), func(s *session, args []string) error {
		if !isRecordType(args[1]) && isRecordType(args[2]) {
			return usagef("the type comes before the host: deed dns add %s %s %s %s", args[0], args[2], args[1], strings.Join(args[3:], " "))
		}
		in := record(args[1], args[2], strings.Join(args[3:], " "))
		in.TTL = given(cmd, "ttl", n.ttl)
		if d := given(cmd, "distance", n.distance); d != nil {
			in.Distance = d
		}
		c, err := s.openWallet()
		if err != nil {
			return err
		}
		out, err := c.AddRecord(s.ctx, args[0], in)
		if err != nil {
			return s.explainCap(err)
		}
		return s.show(out, list{rows: [][]string{recordRow(out)}})
	})
	n.flags(cmd)
	allowDashValue(cmd, 3)
	return cmd
}

// isRecordType reports whether a word is the name of a type.
func isRecordType(word string) bool {
	return slices.Contains(dnszone.TypeNames(), strings.ToUpper(word))
}

func recordSetCommand() *cobra.Command {
	var n numbers
	var host, value string
	var cmd *cobra.Command
	cmd = command("set NAME ID", "Change a record, for 0.10 USDC", cobra.ExactArgs(2), func(s *session, args []string) error {
		in := api.RecordUpdate{TTL: given(cmd, "ttl", n.ttl), Distance: given(cmd, "distance", n.distance)}
		if cmd.Flags().Changed("host") {
			in.Host = &host
		}
		if cmd.Flags().Changed("value") {
			in.Value = &value
		}
		if in == (api.RecordUpdate{}) {
			return usagef("say what to change: --host, --value, --ttl or --distance")
		}
		c, err := s.openWallet()
		if err != nil {
			return err
		}
		out, err := c.UpdateRecord(s.ctx, args[0], args[1], in)
		if err != nil {
			return s.explainCap(err)
		}
		return s.show(out, list{rows: [][]string{recordRow(out.Record)}})
	})
	n.flags(cmd)
	cmd.Flags().StringVar(&host, "host", "", "new host")
	cmd.Flags().StringVar(&value, "value", "", "new value")
	return cmd
}

func recordRemoveCommand() *cobra.Command {
	return command("rm NAME ID", "Delete a record, for 0.10 USDC", cobra.ExactArgs(2), func(s *session, args []string) error {
		c, err := s.openWallet()
		if err != nil {
			return err
		}
		out, err := c.DeleteRecord(s.ctx, args[0], args[1])
		if err != nil {
			return s.explainCap(err)
		}
		return s.show(out, list{rows: [][]string{{out.ID}}})
	})
}

func zoneExportCommand() *cobra.Command {
	return command("export NAME", "Print the zone as a zone file", cobra.ExactArgs(1), func(s *session, args []string) error {
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		file, err := c.ExportZone(s.ctx, args[0])
		if err != nil {
			return err
		}
		_, err = s.out.Write(file)
		return err
	})
}

func zoneImportCommand() *cobra.Command {
	var how client.Import
	cmd := command("import NAME FILE", "Import a zone file, for 0.10 USDC per change; - is stdin", cobra.ExactArgs(2), func(s *session, args []string) error {
		return s.importZone(args[0], args[1], how)
	})
	cmd.Flags().BoolVar(&how.Replace, "replace", false, "delete records that are not in the file")
	cmd.Flags().BoolVar(&how.DryRun, "dry-run", false, "only show the changes")
	clampFlag(cmd, &how)
	return cmd
}

func clampFlag(cmd *cobra.Command, how *client.Import) {
	cmd.Flags().BoolVar(&how.Clamp, "clamp-ttl", false, "change a TTL that is not allowed to the nearest one that is")
}

func zoneDiffCommand() *cobra.Command {
	how := client.Import{Replace: true, DryRun: true}
	cmd := command("diff NAME FILE", "Show what would change if the zone became this zone file", cobra.ExactArgs(2), func(s *session, args []string) error {
		return s.importZone(args[0], args[1], how)
	})
	clampFlag(cmd, &how)
	return cmd
}

func (s *session) importZone(name, path string, how client.Import) error {
	file, err := s.readFile(path)
	if err != nil {
		return err
	}
	c, err := s.openWallet()
	if err != nil {
		return err
	}
	out, err := c.ImportZone(s.ctx, name, file, how)
	if err != nil {
		return s.explainCap(err)
	}
	return s.showChanges(out)
}

// maxFile is above the limit of the service.
const maxFile = 2 << 20

// readFile reads a file, or stdin for "-".
func (s *session) readFile(path string) ([]byte, error) {
	in := s.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close() // it was only read
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = errors.New(path + " is too large")
	}
	return raw, err
}

func (s *session) showChanges(z api.ZoneChanged) error {
	l := list{}
	row := func(sign string, r *api.Record) {
		if r != nil {
			l.add(append([]string{sign}, recordRow(*r)[1:]...)...)
		}
	}
	for _, d := range z.Changes {
		row("-", d.Before)
		row("+", d.After)
	}
	if err := s.show(z, l); err != nil {
		return err
	}
	verb := "made"
	if z.DryRun {
		verb = "would be made"
	}
	noun := "changes"
	if z.Count == 1 {
		noun = "change"
	}
	fmt.Fprintf(s.errs, "%d %s %s, %s %s; the zone is at revision %d\n", z.Count, noun, verb, z.Price, z.Currency, z.Revision)
	return nil
}

func zoneHistoryCommand() *cobra.Command {
	return command("history NAME", "List the revisions of the zone", cobra.ExactArgs(1), func(s *session, args []string) error {
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		out, err := c.Revisions(s.ctx, args[0])
		if err != nil {
			return err
		}
		l := list{heads: []string{"REVISION", "AT", "ADDED", "DELETED", "RECORDS"}, empty: "no revisions: the zone was never changed"}
		for _, r := range out.Revisions {
			l.add(fmt.Sprint(r.Revision), day(r.At), strconv.Itoa(r.Added), strconv.Itoa(r.Deleted), strconv.Itoa(r.Records))
		}
		return s.show(out, l)
	})
}

func zoneRollbackCommand() *cobra.Command {
	var dryRun bool
	cmd := command("rollback NAME REVISION", "Roll the zone back to an earlier revision, for 0.10 USDC per change", cobra.ExactArgs(2), func(s *session, args []string) error {
		revision, err := strconv.ParseUint(args[1], 10, 32)
		if err != nil {
			return usagef("%q is not a revision: `deed dns history` lists them", args[1])
		}
		c, err := s.openWallet()
		if err != nil {
			return err
		}
		out, err := c.Rollback(s.ctx, args[0], uint32(revision), dryRun)
		if err != nil {
			return s.explainCap(err)
		}
		return s.showChanges(out)
	})
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only show the changes")
	return cmd
}
