package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/cli"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/secretfile"
)

// errDiffers is returned by a reconciliation with differences.
var errDiffers = errors.New("differences found: see the table")

// reconcileCommand compares every registered name with the registry, and changes
// nothing.
func reconcileCommand() *cobra.Command {
	var after, state string
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Compare every name we hold with the registry, and fail when they differ; changes nothing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if after != "" && state != "" {
				return cli.Usage(errors.New("--after and --state cannot be used together: the file says where to continue"))
			}
			c, _, err := readConfig(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			r := reconciliation{after: deed.Name(after), state: state, out: cmd.OutOrStdout(), log: cmd.ErrOrStderr()}
			return r.run(cmd.Context(), c)
		},
	}
	cmd.Flags().StringVar(&after, "after", "", "continue after this name, which the progress of an earlier run showed")
	cmd.Flags().StringVar(&state, "state", "", "file that holds how far the comparison is: a run that was stopped is continued; removed at the end")
	addHiddenFlags(cmd)
	return cmd
}

// progressInterval is how often a long comparison says how far it is.
const progressInterval = 10 * time.Second

// differs stands behind the name in a state file when a difference was printed.
const differs = "differs"

// A reconciliation is one run of the command.
type reconciliation struct {
	after    deed.Name // all names up to this one were compared, and their differences printed
	state    string    // the file that holds after; "" for none
	out, log io.Writer

	said     time.Time // when the progress was last shown
	reported bool      // a difference was printed
	differed bool      // likewise, or by the run that is continued
}

func (r *reconciliation) run(ctx context.Context, c *config) error {
	if err := r.resume(); err != nil {
		return err
	}
	r.said = time.Now()
	var stateErr error
	found, err := app.Reconcile(ctx, c.Config, func(with *registration.Reconciler) {
		with.After, with.Report = r.after, r.report
		with.Progress = func(compared deed.Name, done, total int) {
			stateErr = errors.Join(stateErr, r.progress(compared, done, total))
		}
	})
	if err = errors.Join(err, stateErr); err != nil {
		if r.after != "" {
			err = fmt.Errorf("%w; to continue: --after %s", err, r.after)
		}
		return err
	}
	if _, err := io.WriteString(r.out, r.summary(found)); err != nil {
		return err
	}
	if r.state != "" {
		if err := os.Remove(r.state); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if r.differed {
		return errDiffers
	}
	return nil
}

// resume reads where an earlier run was stopped.
func (r *reconciliation) resume() error {
	if r.state == "" {
		return nil
	}
	text, err := os.ReadFile(r.state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	r.differed = rest == differs
	if r.after, err = deed.ParseName(name); err != nil {
		return fmt.Errorf("%s does not hold the name of a stopped comparison; remove it to begin anew: %w", r.state, err)
	}
	fmt.Fprintf(r.log, "continuing after %s\n", r.after)
	return nil
}

// progress notes how far the comparison is, and says it now and then.
func (r *reconciliation) progress(compared deed.Name, done, total int) error {
	if time.Since(r.said) >= progressInterval {
		r.said = time.Now()
		fmt.Fprintf(r.log, "compared %d of %d names, all up to %s\n", done, total, cmp.Or(string(compared), "-"))
	}
	if compared == "" || compared == r.after {
		return nil
	}
	r.after = compared
	if r.state == "" {
		return nil
	}
	text := string(compared)
	if r.differed {
		text += " " + differs
	}
	return secretfile.Write(r.state, []byte(text+"\n"))
}

// report prints the differences of a page of names.
func (r *reconciliation) report(found []lifecycle.Difference) error {
	w := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	if !r.reported {
		fmt.Fprintln(w, "name\twhat\tours\tthe registry's")
	}
	r.reported, r.differed = true, true
	for _, d := range found {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.Name, d.What, cli.Clean(cmp.Or(d.Stored, "-")), cli.Clean(cmp.Or(d.Registry, "-")))
	}
	return w.Flush()
}

func (r *reconciliation) summary(found registration.Reconciliation) string {
	var b strings.Builder
	if r.reported {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%d names in the database, %d at the registry, %d differences\n", found.Stored, found.Registry, found.Differing)
	if found.Ordered > 0 {
		fmt.Fprintf(&b, "%d more differ while an order for them is under way: look again when it is done\n", found.Ordered)
	}
	return b.String()
}
