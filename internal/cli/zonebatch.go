package cli

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"deed.example/deed/api"
)

func zoneBatchCommand() *cobra.Command {
	var dryRun bool
	var ifRevision uint32
	var cmd *cobra.Command
	cmd = command("batch NAME FILE", "Make all changes of a JSON file or none, for 0.10 USDC each; - is stdin", cobra.ExactArgs(2), func(s *session, args []string) error {
		raw, err := s.readFile(args[1])
		if err != nil {
			return err
		}
		in, err := parseBatch(raw)
		if err != nil {
			return usagef(`%s: %v; write {"changes":[{"op":"add","type":"A","host":"www","value":"192.0.2.1"}]}`, args[1], err)
		}
		in.DryRun = in.DryRun || dryRun
		if cmd.Flags().Changed("if-revision") {
			in.IfRevision = &ifRevision
		}
		c, err := s.openWallet()
		if err != nil {
			return err
		}
		out, err := c.ChangeRecords(s.ctx, args[0], in)
		if err != nil {
			return s.explainCap(err)
		}
		return s.showChanges(out)
	})
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only show the changes")
	cmd.Flags().Uint32Var(&ifRevision, "if-revision", 0, "fail unless the zone is at this revision")
	return cmd
}

// parseBatch parses a request, or only its list of changes.
func parseBatch(raw []byte) (in api.BatchRequest, err error) {
	var at any = &in
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		at = &in.Changes
	}
	err = json.Unmarshal(raw, at, json.RejectUnknownMembers(true))
	return in, err
}

func propagationCommand() *cobra.Command {
	return command("propagation NAME", "Show what each name server answers for the zone", cobra.ExactArgs(1), func(s *session, args []string) error {
		c, err := s.openOwner()
		if err != nil {
			return err
		}
		out, err := c.Propagation(s.ctx, args[0])
		if err != nil {
			return err
		}
		l := list{heads: []string{"SERVER", "SERIAL", "STATE"}}
		for _, server := range out.Servers {
			state := "in sync"
			switch {
			case server.Error != "":
				state = server.Error
			case !server.InSync:
				state = strconv.FormatInt(server.LagSeconds, 10) + " s behind"
			}
			l.add(server.Server, strconv.FormatUint(uint64(server.Serial), 10), state)
		}
		return s.show(out, l)
	})
}
