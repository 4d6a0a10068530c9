package cli

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func demoCommand(start Start) *cobra.Command {
	keep := false
	cmd := command("demo", "Buy a name with test money and resolve it, step by step", cobra.NoArgs, func(s *session, _ []string) error {
		if s.named {
			return s.demo(keep)
		}
		if keep {
			return usagef("--keep needs a service that stays: start one with `deed serve`, and say --server http://127.0.0.1:8080")
		}
		return s.demoAlone(start)
	})
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the wallet, encrypted with a password, and with it the name")
	return cmd
}

// demoAlone runs the demo on a service of its own, which is removed afterwards.
func (s *session) demoAlone(start Start) error {
	dir, err := os.MkdirTemp("", "deed-demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // it is temporary
	ctx, stop := context.WithCancel(s.ctx)
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- start(ctx, dir, func(base string) { ready <- base }) }()
	select {
	case err = <-ended:
		stop()
		return fmt.Errorf("the service did not start: %w", err)
	case s.server = <-ready:
	}
	s.say("A whole service runs at %s, in a folder that goes away.", s.server)
	err = s.demo(false)
	stop()
	return errors.Join(err, <-ended)
}

func (s *session) say(format string, args ...any) {
	fmt.Fprintln(s.out, clean(fmt.Sprintf(format, args...)))
}

// A demoRun is one run of the demo.
type demoRun struct {
	*session
	c    *client.Client
	key  *ecdsa.PrivateKey
	name string
	host string // with an address record
	kept string // the name of the wallet, if it is kept
}

// demoLimit is what the demo may pay per call.
const demoLimit = 50 * client.Dollar

func (s *session) demo(keep bool) error {
	key, err := crypto.GenerateKey()
	if err != nil {
		return err
	}
	kept := ""
	if keep {
		if kept, err = s.keepDemoKey(key); err != nil {
			return err
		}
	}
	c, err := client.New(s.server, client.WithWallet(client.NewKey(key)), client.WithMaxPayment(demoLimit), client.WithUserAgent(s.program))
	if err != nil {
		return usageError{err}
	}
	d := &demoRun{session: s, c: c, key: key, kept: kept}
	d.name = fmt.Sprintf("demo-%x.com", crypto.PubkeyToAddress(key.PublicKey).Bytes()[:6])
	for _, step := range []func() error{d.wallet, d.signIn, d.search, d.buy, d.records, d.resolve, d.receipt} {
		if err := step(); err != nil {
			return err
		}
	}
	// The demo must not use up the ten orders a day of someone who is just starting.
	if _, err := c.ResetLimits(s.ctx); err != nil && client.CodeOf(err) != client.CodeNotFound {
		return err
	}
	if kept != "" {
		s.say("The wallet stays here as %s, and it owns %s: deed domain ls --wallet %s.", kept, d.name, kept)
		return nil
	}
	s.say("That was all. Next: deed wallet new, and deed register NAME.")
	return nil
}

// keepDemoKey stores the wallet of the demo, and returns its name.
func (s *session) keepDemoKey(key *ecdsa.PrivateKey) (string, error) {
	name := "demo"
	path, err := newWalletPath([]string{name})
	if err != nil { // there is one from an earlier run
		name = fmt.Sprintf("demo-%x", crypto.PubkeyToAddress(key.PublicKey).Bytes()[:3])
		path, err = newWalletPath([]string{name})
	}
	if err != nil {
		return "", err
	}
	password, err := s.newPassword()
	if err != nil {
		return "", err
	}
	return name, s.saveKey(path, key, password)
}

func (d *demoRun) wallet() error {
	address := crypto.PubkeyToAddress(d.key.PublicKey).Hex()
	if d.kept == "" {
		d.say("A new wallet: %s. Its key is kept for this demo only.", address)
	} else {
		d.say("A new wallet: %s. It is kept as %s.", address, d.kept)
	}
	got, err := d.c.Faucet(d.ctx, api.FaucetRequest{WalletAddress: address})
	if client.CodeOf(err) == client.CodeNotFound {
		return usagef("%s is not a sandbox, and the demo spends test money only: leave --server out", d.server)
	}
	if err != nil {
		return err
	}
	d.say("The faucet gave it test money: %s USDC.", got.Balance)
	return nil
}

func (d *demoRun) signIn() error {
	t, err := d.c.SignIn(d.ctx)
	if err != nil {
		return err
	}
	d.say("It signed a message (EIP-4361) and is signed in as %s. No password, no e-mail.", t.Wallet)
	return nil
}

func (d *demoRun) search() error {
	label, _, _ := strings.Cut(d.name, ".")
	found, err := d.c.Search(d.ctx, label, "com", "io", "xyz")
	if left, err := d.leaveOut("searching", err); left || err != nil {
		return err
	}
	for _, f := range found.Results {
		state := "taken"
		if f.Available {
			state = "available, " + f.Price + " USDC for the first year"
		}
		d.say("Searched: %s is %s.", f.Domain, state)
	}
	return nil
}

func (d *demoRun) buy() error {
	order, err := d.c.Register(d.ctx, api.RegisterRequest{Domain: d.name})
	if err != nil {
		return err
	}
	job, err := d.c.WaitJob(d.ctx, order.JobID)
	if err != nil {
		return err
	}
	d.say("Bought %s: the service asked for %s USDC (402), the wallet signed that amount (EIP-3009), the chain moved it, the registry said yes.", job.Domain, job.Payment.Amount)
	return nil
}

func (d *demoRun) records() error {
	www, err := d.c.AddRecord(d.ctx, d.name, api.RecordRequest{Type: "A", Host: "www", Value: "192.0.2.10"})
	if left, err := d.leaveOut("adding records", err); left || err != nil {
		return err
	}
	d.say("Added %s %s %s, for 0.10 USDC.", www.Host, www.Type, www.Value)
	text, err := d.c.AddRecord(d.ctx, d.name, api.RecordRequest{Type: "TXT", Host: "@", Value: "bought with test money"})
	if err != nil {
		return err
	}
	d.host = "www." + d.name
	d.say("Added %s %s %q, for 0.10 USDC.", text.Host, text.Type, text.Value)
	return nil
}

// resolve queries the name server of the sandbox directly, over UDP.
func (d *demoRun) resolve() error {
	box, err := d.c.Sandbox(d.ctx)
	if err != nil {
		return err
	}
	if box.DNS == "" || d.host == "" {
		d.say("Left out resolving the name: this service runs no name server.")
		return nil
	}
	addresses, err := lookUp(d.ctx, box.DNS, d.host)
	if err != nil {
		return fmt.Errorf("ask the name server at %s: %w", box.DNS, err)
	}
	d.say("The name server at %s says that %s is at %s.", box.DNS, d.host, strings.Join(addresses, ", "))
	return nil
}

// A change is published shortly after it is paid for, so a host that is not found
// yet is queried again.
const (
	lookUps       = 40
	betweenLookUp = 250 * time.Millisecond
)

// lookUp queries one name server for the addresses of a host.
func lookUp(ctx context.Context, server, host string) (addresses []string, err error) {
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server)
	}}
	for range lookUps {
		addresses, err = resolver.LookupHost(ctx, host+".")
		if e, ok := errors.AsType[*net.DNSError](err); !ok || !e.IsNotFound {
			return addresses, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(betweenLookUp):
		}
	}
	return addresses, err
}

func (d *demoRun) receipt() error {
	var paid []api.Transaction
	for tx, err := range d.c.Transactions(d.ctx) {
		if err != nil {
			return err
		}
		paid = append(paid, tx)
	}
	// All were made within a second or two: put the purchase of the name first.
	slices.SortFunc(paid, func(a, b api.Transaction) int { return cmp.Compare(b.Type, a.Type) })
	for _, tx := range paid {
		d.say("Receipt: %s of %s, %s USDC, %s, transaction %s.", tx.Type, tx.Domain, tx.Price, tx.Status, hashOf(tx.TxHash))
	}
	balance, err := d.c.Balance(d.ctx, "", crypto.PubkeyToAddress(d.key.PublicKey))
	if err != nil {
		return err
	}
	d.say("The wallet has %s USDC left.", balance)
	return nil
}

// leaveOut reports whether to skip a step because the service does not support it
// now.
func (d *demoRun) leaveOut(what string, err error) (left bool, _ error) {
	if e := asError(err); e != nil && (e.Code == client.CodeUnavailable || e.Code == client.CodeNotFound) {
		d.say("Left out %s: %s.", what, e.Message)
		return true, nil
	}
	return false, err
}
