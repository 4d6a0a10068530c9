package cli

import (
	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// sandboxCommand returns the commands that only a sandbox accepts.
func sandboxCommand() *cobra.Command {
	return group("sandbox", "Control a sandbox: limits, clock, faults", resetLimitsCommand(), clockCommand(), faultsCommand())
}

func resetLimitsCommand() *cobra.Command {
	return command("reset-limits", "Reset all rate limits of a sandbox", cobra.NoArgs, func(s *session, _ []string) error {
		c, err := s.open()
		if err != nil {
			return err
		}
		out, err := c.ResetLimits(s.ctx)
		if client.CodeOf(err) == client.CodeNotFound {
			return usagef("%s is not a sandbox on this machine: its limits cannot be reset", s.server)
		}
		if err != nil {
			return err
		}
		return s.show(out, list{rows: [][]string{{out.Message}}})
	})
}

func clockCommand() *cobra.Command {
	return command("clock [36h | 400d]", "Show the clock of a sandbox, or move it forward", cobra.MaximumNArgs(1), func(s *session, args []string) error {
		c, err := s.open()
		if err != nil {
			return err
		}
		if len(args) == 0 {
			box, err := c.Sandbox(s.ctx)
			if err != nil {
				return err
			}
			return s.show(api.Clock{Now: box.Now}, list{rows: [][]string{{day(box.Now)}}})
		}
		out, err := c.AdvanceClock(s.ctx, args[0])
		if err != nil {
			return err
		}
		return s.show(out, list{rows: [][]string{{day(out.Now)}}})
	})
}

func faultsCommand() *cobra.Command {
	var times int
	var cmd *cobra.Command
	cmd = command("faults [none | down | slow | refuse | lost_reply | late | parked | taken | wrong_account]", "Show the injected registry fault of a sandbox, or set it", cobra.MaximumNArgs(1), func(s *session, args []string) error {
		c, err := s.open()
		if err != nil {
			return err
		}
		var out api.SandboxFaults
		if len(args) == 0 {
			box, err := c.Sandbox(s.ctx)
			if err != nil {
				return err
			}
			out = box.Faults
		} else if out, err = c.SetFaults(s.ctx, api.FaultsRequest{Registrar: args[0], Times: given(cmd, "times", times)}); err != nil {
			return err
		}
		return s.show(out, list{rows: [][]string{{"registrar", out.Registrar}}})
	})
	cmd.Flags().IntVar(&times, "times", 0, "how many times (default: until it is changed)")
	return cmd
}
