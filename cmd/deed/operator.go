package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/user"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"deed.example/deed/internal/cli"
	"deed.example/deed/internal/operatorapi"
	"deed.example/deed/internal/secretfile"
)

// operatorTimeout is for one request to a node: a search in a large table takes long.
const operatorTimeout = 30 * time.Second

// operatorCommands are the commands that a running node carries out.
func operatorCommands() []*cobra.Command {
	return []*cobra.Command{
		lookCommand("find QUERY", "Find orders by name, wallet, payment, job or transaction", cobra.ExactArgs(1)),
		lookCommand("timeline ID", "Show one order and everything that happened to it", cobra.ExactArgs(1)),
		lookCommand("float", "Show the balances of our wallets and of our accounts at registrars", cobra.NoArgs),
		lookCommand("actions", "Show what operators did, and why", cobra.NoArgs),
		actCommand("retry ID", "Try an order or a payment again at once", cobra.ExactArgs(1)),
		actCommand("release ID", "Give up an order whose payment cannot be settled, so that others can buy its name", cobra.ExactArgs(1)),
		actCommand("suspend NAME", "Stop serving the zone of a name, because of abuse", cobra.ExactArgs(1)),
		actCommand("unsuspend NAME", "Serve the zone of a suspended name again", cobra.ExactArgs(1)),
		actCommand("block WALLET", "Keep a wallet from buying; what it owns stays its own", cobra.ExactArgs(1)),
		actCommand("unblock WALLET", "Let a blocked wallet buy again", cobra.ExactArgs(1)),
		actCommand("stop ACTIVITY", "Stop purchases, refunds or publishing on all nodes", cobra.ExactArgs(1)),
		actCommand("start ACTIVITY", "Let a stopped activity go on", cobra.ExactArgs(1)),
		actCommand("replay WEBHOOK EVENT", "Send an event to a webhook again", cobra.ExactArgs(2)),
	}
}

// lookCommand returns a command that changes nothing.
func lookCommand(use, short string, args cobra.PositionalArgs) *cobra.Command {
	action, _, _ := strings.Cut(use, " ")
	cmd := &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		return askNode(cmd, operatorapi.Request{Action: action, Args: args})
	}}
	addHiddenFlags(cmd)
	addNodeFlag(cmd)
	return cmd
}

// actCommand returns a command that changes something, and is written down.
func actCommand(use, short string, args cobra.PositionalArgs) *cobra.Command {
	action, _, _ := strings.Cut(use, " ")
	cmd := &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		return act(cmd, action, args)
	}}
	addHiddenFlags(cmd)
	addActFlags(cmd)
	cmd.Flags().Bool("dry-run", false, "say what would be done, and do nothing")
	return cmd
}

func addActFlags(cmd *cobra.Command) {
	addNodeFlag(cmd)
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	cmd.Flags().String("operator", name, "who you are; it is written down")
	cmd.Flags().String("reason", "", "why; it is written down")
}

func addNodeFlag(cmd *cobra.Command) {
	cmd.Flags().String("node", "", "operators' listener of a node, host:port or a URL; default: metrics.listen")
}

// act asks a node to change something.
func act(cmd *cobra.Command, action string, args []string) error {
	operator, err := cmd.Flags().GetString("operator")
	if err != nil {
		return err
	}
	reason, err := cmd.Flags().GetString("reason")
	if err != nil {
		return err
	}
	if operator == "" { // this user has no name, as in a container
		return cli.Usage(errors.New("--operator is required"))
	}
	if reason == "" {
		return cli.Usage(errors.New("--reason is required"))
	}
	dryRun, err := cmd.Flags().GetBool("dry-run")
	if err != nil {
		return err
	}
	return askNode(cmd, operatorapi.Request{Action: action, Args: args, Operator: operator, Reason: reason, DryRun: dryRun})
}

// askNode sends a request to a running node and prints the answer.
func askNode(cmd *cobra.Command, in operatorapi.Request) error {
	c, _, err := readConfig(cmd.Flags(), os.Environ())
	if err != nil {
		return err
	}
	node, err := cmd.Flags().GetString("node")
	if err != nil {
		return err
	}
	if node == "" {
		if c.MetricsListen == "off" {
			return errors.New("metrics.listen is off, and a node carries this command out: name the operators' listener of one with --node")
		}
		node = listenerURL(c.MetricsListen)
	} else if !strings.Contains(node, "://") {
		node = listenerURL(node)
	}
	token, err := secretfile.Read(c.OperatorTokenFile())
	if err != nil {
		return fmt.Errorf("read the token of the node, which it makes when it starts: %w; name the configuration of the node with --config, or its folder with --data", err)
	}
	out, err := postOperator(cmd.Context(), node, strings.TrimSpace(string(token)), in)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, line := range out.Lines {
		cells := strings.Split(line, "\t")
		for i := range cells {
			cells[i] = cli.Clean(cells[i])
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}

// listenerURL returns how to reach a listener on this machine.
func listenerURL(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip.IsUnspecified()) {
		listen = net.JoinHostPort("127.0.0.1", port)
	}
	return "http://" + listen
}

func postOperator(ctx context.Context, node, token string, in operatorapi.Request) (out operatorapi.Response, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	ctx, cancel := context.WithTimeout(ctx, operatorTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(node, "/")+"/operator", bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return out, fmt.Errorf("no node answers: start one, or name its operators' listener with --node: %w", err)
	}
	defer res.Body.Close() // it is read below
	raw, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return out, fmt.Errorf("read the answer of %s: %w", node, err)
	}
	if out.Error == "" {
		return out, nil
	}
	switch err = errors.New(out.Error); res.StatusCode {
	case http.StatusBadRequest:
		err = cli.Usage(err)
	case http.StatusNotFound:
		err = cli.NotFound(err)
	}
	return out, err
}
