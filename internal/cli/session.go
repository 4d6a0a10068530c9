package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"deed.example/deed/client"
)

// A session is one run of a command.
type session struct {
	ctx  context.Context
	in   io.Reader
	out  io.Writer // data
	errs io.Writer // everything else

	program      string // name and version, for the User-Agent
	server       string
	named        bool   // the server was set explicitly
	wallet       string // a name, an address or a path; "": the only one
	signerLine   string // the command that signs; "": a wallet here
	context      clientContext
	passwordFile string
	maxPrice     *client.USDC // nil if not set
	budget       *client.USDC // total of all calls; nil if not set
	askAbove     *client.USDC // prices an agent need not ask about; nil if not set
	json, yes    bool
	redrawing    bool // the last line of errs is a timeline
}

// defaultServer is the default address of `deed serve`.
const defaultServer = "http://127.0.0.1:8080"

// addFlags adds the global flags to a command and its subcommands.
func addFlags(cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	f.String("server", "", "address of the service (DEED_SERVER, default "+defaultServer+")")
	f.String("wallet", "", "wallet to use: its name, its address, or the path of a keystore file (DEED_WALLET)")
	f.String("password-file", "", "file with the password of the wallet (DEED_PASSWORD_FILE)")
	f.String("signer", "", "command that signs instead of a wallet here, with a request as JSON on its stdin (DEED_SIGNER)")
	f.String("context", "", "set of defaults to use (DEED_CONTEXT; deed context)")
	f.String("max-price", "", "the most USDC that may be paid at once (DEED_MAX_PRICE)")
	f.Bool("json", false, "print the objects of the service, and errors as JSON")
	f.Bool("yes", false, "do not ask before paying")
}

func newSession(cmd *cobra.Command) (*session, error) {
	s := &session{ctx: cmd.Context(), in: cmd.InOrStdin(), out: cmd.OutOrStdout(), errs: cmd.ErrOrStderr(), program: "deed/" + cmp.Or(cmd.Root().Version, "devel")}
	config, err := readClientConfig()
	if err != nil {
		return nil, err
	}
	if s.context, err = config.context(setting(cmd, "context", "DEED_CONTEXT")); err != nil {
		return nil, err
	}
	s.server = cmp.Or(setting(cmd, "server", "DEED_SERVER"), s.context.Server)
	if s.named = s.server != ""; !s.named {
		s.server = defaultServer
	}
	s.server = strings.TrimRight(s.server, "/")
	s.wallet = setting(cmd, "wallet", "") // DEED_PRIVATE_KEY takes precedence over DEED_WALLET
	s.passwordFile = cmp.Or(setting(cmd, "password-file", "DEED_PASSWORD_FILE"), s.context.PasswordFile)
	s.signerLine = cmp.Or(setting(cmd, "signer", "DEED_SIGNER"), s.context.Signer)
	return s, s.readAmounts(cmd)
}

// readAmounts reads the limits of payments, and the flags about output.
func (s *session) readAmounts(cmd *cobra.Command) (err error) {
	if s.maxPrice, err = amountSetting(cmd, "max-price", "DEED_MAX_PRICE"); err != nil {
		return err
	}
	if s.maxPrice == nil && s.context.MaxPrice != "" {
		limit, err := client.ParseUSDC(s.context.MaxPrice)
		if err != nil {
			return usagef("max_price of the context: %w", err)
		}
		s.maxPrice = &limit
	}
	if cmd.Flag("budget") != nil { // only commands with several payments have it
		if s.budget, err = amountSetting(cmd, "budget", "DEED_BUDGET"); err != nil {
			return err
		}
	}
	if cmd.Flag("ask-above") != nil { // only agents have it
		if s.askAbove, err = amountSetting(cmd, "ask-above", "DEED_ASK_ABOVE"); err != nil {
			return err
		}
	}
	s.json = cmd.Flag("json").Value.String() == "true"
	s.yes = cmd.Flag("yes").Value.String() == "true"
	return nil
}

// setting returns a flag, or the environment variable if the flag is not set.
func setting(cmd *cobra.Command, flag, variable string) string {
	if f := cmd.Flag(flag); f.Changed || variable == "" {
		return f.Value.String()
	}
	return os.Getenv(variable)
}

// amountSetting returns an amount of USDC, or nil if it is not set. An empty
// variable means not set; an empty flag is an error.
func amountSetting(cmd *cobra.Command, flag, variable string) (*client.USDC, error) {
	text := setting(cmd, flag, variable)
	if text == "" && !cmd.Flag(flag).Changed {
		return nil, nil
	}
	amount, err := client.ParseUSDC(text)
	if err != nil && !cmd.Flag(flag).Changed {
		return nil, usagef("%s: %w", variable, err)
	}
	if err != nil {
		return nil, usagef("--%s: %w", flag, err)
	}
	return &amount, nil
}

// terminal returns the file of a stream if it is a terminal.
func terminal(stream any) (*os.File, bool) {
	f, ok := stream.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// open returns a client without a wallet, for public calls.
func (s *session) open() (*client.Client, error) {
	return s.client(nil)
}

// openWallet returns a client that can sign in and pay.
func (s *session) openWallet() (*client.Client, error) {
	w, err := s.signer()
	if err != nil {
		return nil, err
	}
	return s.client(w)
}

// openOwner returns a client for a free call of an owner. A stored sign-in is
// enough if there is no wallet.
func (s *session) openOwner() (*client.Client, error) {
	w, err := s.signer()
	if errors.Is(err, client.ErrNotSignedIn) && s.signedIn() {
		return s.open()
	}
	if err != nil {
		return nil, err
	}
	return s.client(w)
}

// signedIn reports whether there is a stored sign-in. If a wallet is named, it must be
// that of this wallet: a name that is misspelled must not act for another one.
func (s *session) signedIn() bool {
	folder, err := configFolder()
	if err != nil {
		return false
	}
	t, err := newTokenFile(folder, s.server).Tokens(s.ctx)
	if err != nil || t.Refresh == "" {
		return false
	}
	named := s.namedWallet()
	if named == "" {
		return true
	}
	address := common.HexToAddress(named)
	if !common.IsHexAddress(named) {
		w, err := findWallet(named)
		if err != nil {
			return false
		}
		address, _ = w.address() // one that does not say it is no match
	}
	return address == common.HexToAddress(t.Wallet)
}

func (s *session) client(w client.Signer) (*client.Client, error) {
	folder, err := configFolder()
	if err != nil {
		return nil, err
	}
	opts := []client.Option{client.WithUserAgent(s.program), client.WithTokens(newTokenFile(folder, s.server)), client.WithJournal(journal{folder: folder}), client.WithRetryNotice(s.sayRetry)}
	if w != nil {
		opts = append(opts, client.WithWallet(w), client.WithConfirm(s.confirmPayment))
	}
	if s.maxPrice != nil {
		opts = append(opts, client.WithMaxPayment(*s.maxPrice))
	} else if _, asks := terminal(s.in); asks && !s.yes {
		opts = append(opts, client.WithMaxPayment(math.MaxInt64)) // the user confirms each payment
	}
	if s.budget != nil {
		opts = append(opts, client.WithBudget(client.NewBudget(*s.budget)))
	}
	c, err := client.New(s.server, opts...)
	if err != nil {
		return nil, usageError{err}
	}
	return c, nil
}

// sayRetry says that the service does not respond, and that the command goes on.
func (s *session) sayRetry(err error) {
	if s.redrawing {
		fmt.Fprintln(s.errs)
	}
	fmt.Fprintf(s.errs, "%s; trying again until it answers or you interrupt this command\n", newReport(err).said)
}
