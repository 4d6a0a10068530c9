package cli

import (
	"testing"

	"github.com/spf13/cobra"
)

// What a flag takes is said without the words of package strconv: numbers, or true and
// false.
func TestWrongFlags(t *testing.T) {
	for flag, want := range map[string]string{
		"--years=x":                    `--years: "x" is not a number`,
		"--years=99999999999999999999": `--years: "99999999999999999999" is out of range`,
		"--dry-run=maybe":              `--dry-run: "maybe" is neither true nor false`,
		"--nope":                       `unknown flag: --nope`,
	} {
		cmd := &cobra.Command{}
		cmd.Flags().Int("years", 1, "")
		cmd.Flags().Bool("dry-run", false, "")
		if err := flagError(cmd, cmd.ParseFlags([]string{flag})); err.Error() != want || ExitCode(err) != exitUsage {
			t.Errorf("%s: got %q, exit %d, want %q", flag, err, ExitCode(err), want)
		}
	}
}
