package cli

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page, for `deed man | man -l -`", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return writeManual(cmd.OutOrStdout(), cmd.Root())
		},
	}
}

// manualEnd is the part of the manual page that is not about single commands.
const manualEnd = `.SH ENVIRONMENT AND GLOBAL FLAGS
.TP
.B DEED_SERVER, \-\-server
URL of the service (default: http://127.0.0.1:8080).
.TP
.B DEED_PRIVATE_KEY
Private key in hex, for agents. It takes precedence over DEED_WALLET.
.TP
.B DEED_WALLET, \-\-wallet
Wallet to use: its name, its address, or the path of a keystore file.
.TP
.B DEED_PASSWORD_FILE, \-\-password\-file
File with the password of the wallet.
.TP
.B DEED_SIGNER, \-\-signer
Command that signs instead of a wallet here. It gets a request as JSON on its stdin and prints the signature.
.TP
.B DEED_CONTEXT, \-\-context
Set of defaults to use (deed context).
.TP
.B DEED_MAX_PRICE, \-\-max\-price
Maximum payment per call, in USDC.
.TP
.B \-\-json
Print the objects of the service, and errors as JSON.
.TP
.B \-\-yes
Do not ask before paying.
.TP
.B NO_COLOR
If set, disables colours.
.SH EXIT STATUS
0 done; 1 other; 2 usage; 3 sign-in; 4 payment; 5 not found; 6 conflict; 7 rate limited; 8 the service or the registry; 9 still running; 130 interrupted.
`

// writeManual writes one page with every command of root.
func writeManual(w io.Writer, root *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\ncommand [flags]\n.SH COMMANDS\n", strings.ToUpper(root.Name()), root.Name(), roff(root.Short), root.Name())
	manualCommands(&b, root)
	b.WriteString(manualEnd)
	_, err := io.WriteString(w, b.String())
	return err
}

func manualCommands(b *strings.Builder, cmd *cobra.Command) {
	for _, child := range cmd.Commands() {
		if !child.IsAvailableCommand() {
			continue
		}
		if !child.HasAvailableSubCommands() {
			fmt.Fprintf(b, ".TP\n.B %s\n%s.\n", roff(child.CommandPath()+strings.TrimPrefix(child.Use, child.Name())), roff(child.Short))
			child.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
				if f.Name != "help" && !f.Hidden {
					fmt.Fprintf(b, ".br\n.B \\-\\-%s\n%s\n", roff(f.Name), roff(f.Usage))
				}
			})
		}
		manualCommands(b, child)
	}
}

var notASCII = regexp.MustCompile(`[^\x00-\x7f]`)

// roff escapes text for a manual page.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`, "\n", " ").Replace(text)
	text = notASCII.ReplaceAllStringFunc(text, func(r string) string { return fmt.Sprintf(`\[u%04X]`, []rune(r)[0]) })
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
