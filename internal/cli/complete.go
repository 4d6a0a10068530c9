package cli

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed/client"
	"deed.example/deed/internal/dnszone"
)

// completionTimeout limits a completion. The shell waits for it.
const completionTimeout = 2 * time.Second

// A completer returns the values that an argument can have.
type completer func(s *session, args []string) []string

// completeFirst returns the completion of a command that takes one such argument.
func completeFirst(first completer) cobra.CompletionFunc { return completeArgs(first) }

// completeArgs returns the completion of a command: one completer per argument.
// Errors complete to nothing; there is nobody to tell.
func completeArgs(each ...completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= len(each) || each[len(args)] == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completions(cmd, args, prefix, each[len(args)])
	}
}

// completeAll returns the completion of a command whose arguments are all alike.
func completeAll(each completer) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return completions(cmd, args, prefix, each)
	}
}

// completeNameThenFile is the completion of a command that takes a name and a file.
func completeNameThenFile(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 1 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return completeArgs(completeNames)(cmd, args, prefix)
}

func completions(cmd *cobra.Command, args []string, prefix string, each completer) ([]string, cobra.ShellCompDirective) {
	s, err := newSession(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if s.ctx == nil {
		s.ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(s.ctx, completionTimeout)
	defer cancel()
	s.ctx = ctx
	var out []string
	for _, value := range each(s, args) {
		if strings.HasPrefix(strings.ToLower(value), strings.ToLower(prefix)) {
			out = append(out, value)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// openQuietly returns a client that never asks for a password: with the stored
// sign-in, or the key of the environment.
func (s *session) openQuietly() (*client.Client, error) {
	if os.Getenv("DEED_PRIVATE_KEY") != "" && s.wallet == "" {
		return s.openOwner()
	}
	return s.open()
}

func completeNames(s *session, _ []string) []string {
	c, err := s.openQuietly()
	if err != nil {
		return nil
	}
	page, err := c.DomainPage(s.ctx, client.DomainFilter{}, client.Page{Limit: 100})
	if err != nil {
		return nil
	}
	var out []string
	for _, d := range page.Domains {
		out = append(out, d.Domain)
	}
	return out
}

// completeRecords returns the ids of the records of the name in the first argument.
func completeRecords(s *session, args []string) []string {
	c, err := s.openQuietly()
	if err != nil || len(args) == 0 {
		return nil
	}
	records, err := c.Records(s.ctx, args[0], client.RecordFilter{})
	if err != nil {
		return nil
	}
	var out []string
	for _, r := range records.Records {
		out = append(out, r.ID+"\t"+r.Host+" "+r.Type+" "+clean(r.Value))
	}
	return out
}

func completeJobs(s *session, _ []string) []string {
	c, err := s.openQuietly()
	if err != nil {
		return nil
	}
	var out []string
	for tx, err := range c.Transactions(s.ctx) {
		if err != nil || len(out) == 50 {
			break
		}
		if id := tx.JobID; id != "" && !slices.ContainsFunc(out, func(o string) bool { return strings.HasPrefix(o, id) }) {
			out = append(out, id+"\t"+tx.Domain)
		}
	}
	return out
}

func completeTLDs(s *session, _ []string) []string {
	c, err := s.open()
	if err != nil {
		return nil
	}
	all, err := c.Pricing(s.ctx)
	if err != nil {
		return nil
	}
	var out []string
	for _, p := range all.Pricing {
		out = append(out, p.TLD)
	}
	return out
}

func completeWallets(*session, []string) []string {
	all, _ := wallets() // those that cannot be read are not offered
	var out []string
	for _, w := range all {
		out = append(out, w.name)
	}
	return out
}

func completeContexts(*session, []string) []string {
	c, err := readClientConfig()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(c.Contexts))
}

func completeTypes(*session, []string) []string { return dnszone.TypeNames() }

// nameCompletions are the commands whose first argument is a name of the wallet,
// and what their next ones are.
var nameCompletions = map[string][]completer{
	"renew": nil, "domain show": nil, "domain lock": nil, "domain unlock": nil, "domain ns": nil, "domain ds": nil, "domain authcode": nil, "domain handover": nil, "domain cancel": nil, "domain registrant show": nil, "domain registrant reset": nil, "mandates": nil,
	"dns ls": nil, "dns add": {completeTypes}, "dns set": {completeRecords}, "dns rm": {completeRecords}, "dns export": nil, "dns history": nil, "dns rollback": nil, "dns propagation": nil,
}

// addCompletions adds the completion of values to the client commands.
func addCompletions(root *cobra.Command) {
	for path, next := range nameCompletions {
		if cmd := findCommand(root, path); cmd != nil {
			cmd.ValidArgsFunction = completeArgs(append([]completer{completeNames}, next...)...)
		}
	}
	for _, path := range []string{"dns import", "dns diff", "dns batch", "domain registrant set"} {
		if cmd := findCommand(root, path); cmd != nil {
			cmd.ValidArgsFunction = completeNameThenFile
		}
	}
	for path, each := range map[string]completer{"job show": completeJobs, "job watch": completeJobs, "price": completeTLDs} {
		if cmd := findCommand(root, path); cmd != nil {
			cmd.ValidArgsFunction = completeAll(each)
		}
	}
	for path, flags := range map[string]map[string]completer{
		"search": {"tlds": completeTLDs}, "dns ls": {"type": completeTypes},
		"domain ls": {"status": func(*session, []string) []string {
			return []string{"active", "expired", "pending", "pending_delete", "redemption", "suspended", "transferred", "transferring"}
		}},
	} {
		for flag, each := range flags {
			if cmd := findCommand(root, path); cmd != nil {
				_ = cmd.RegisterFlagCompletionFunc(flag, completeAll(each)) // it fails for unknown flags only
			}
		}
	}
}

// findCommand returns the command of a path such as "dns add", or nil.
func findCommand(root *cobra.Command, path string) *cobra.Command {
	cmd := root
	for _, word := range strings.Fields(path) {
		i := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool { return c.Name() == word })
		if i < 0 {
			return nil
		}
		cmd = cmd.Commands()[i]
	}
	return cmd
}
