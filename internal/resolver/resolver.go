// Package resolver looks up addresses with a recursive resolver, together with how long
// they may be used, which net.Resolver does not say.
//
// It trusts the contents of the resolver's answers, but not their size: it uses only the
// records that the chain of CNAMEs from the host leads to.
package resolver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
)

// System means the resolvers of the machine, in /etc/resolv.conf.
const System = "system"

// A Client asks one or more recursive resolvers. Fill every field.
type Client struct {
	Servers []string // host:port, or System alone
	Timeout time.Duration
}

// maxChain is how many CNAMEs are followed in one answer.
const maxChain = 16

// negativeTTL is how long the result that a host has no address is valid.
const negativeTTL = 5 * time.Minute

// Lookup returns the IPv4 and IPv6 addresses of a host, and how long they are valid. A
// host without addresses is not an error. If only one of the two kinds is unknown, it fails
// and returns those of the other: some servers do not answer questions for IPv6 addresses.
func (c Client) Lookup(ctx context.Context, host string) ([]netip.Addr, time.Duration, error) {
	servers, err := c.servers()
	if err != nil {
		return nil, 0, err
	}
	kinds := []uint16{dns.TypeA, dns.TypeAAAA}
	responses, errs := make([]*dns.Msg, len(kinds)), make([]error, len(kinds))
	var wg sync.WaitGroup
	for i, kind := range kinds {
		wg.Go(func() { responses[i], errs[i] = c.ask(ctx, servers, host, kind) })
	}
	wg.Wait()
	var all []netip.Addr
	ttl := negativeTTL
	for i, kind := range kinds {
		if errs[i] != nil {
			continue
		}
		addrs, valid := addresses(responses[i], host, kind)
		if len(addrs) > 0 {
			ttl = min(ttl, valid)
			if len(all) == 0 {
				ttl = valid
			}
		}
		all = append(all, addrs...)
	}
	return all, ttl, errors.Join(errs...)
}

func (c Client) servers() ([]string, error) {
	if len(c.Servers) != 1 || c.Servers[0] != System {
		return c.Servers, nil
	}
	conf, err := dns.ClientConfigFromFile("/etc/resolv.conf")
	if err != nil {
		return nil, fmt.Errorf("find a resolver: %w", err)
	}
	var list []string
	for _, s := range conf.Servers {
		list = append(list, net.JoinHostPort(s, conf.Port))
	}
	return list, nil
}

// ask asks one server after the other until one answers.
func (c Client) ask(ctx context.Context, servers []string, host string, kind uint16) (*dns.Msg, error) {
	failed := errors.New("no resolver is configured")
	for _, server := range servers {
		r, err := c.exchange(ctx, server, new(dns.Msg).SetQuestion(dns.Fqdn(host), kind).SetEdns0(1232, false))
		if err == nil {
			return r, nil
		}
		failed = fmt.Errorf("ask %s: %w", server, err)
	}
	return nil, failed
}

func (c Client) exchange(ctx context.Context, server string, q *dns.Msg) (*dns.Msg, error) {
	for _, network := range []string{"udp", "tcp"} {
		client := dns.Client{Net: network, Timeout: c.Timeout, UDPSize: 1232}
		r, _, err := client.ExchangeContext(ctx, q, server)
		switch {
		case err != nil:
			return nil, err
		case len(r.Question) != 1 || !strings.EqualFold(r.Question[0].Name, q.Question[0].Name) || r.Question[0].Qtype != q.Question[0].Qtype:
			return nil, errors.New("it answered another question")
		case r.Rcode != dns.RcodeSuccess && r.Rcode != dns.RcodeNameError:
			return nil, fmt.Errorf("it answered %s", dns.RcodeToString[r.Rcode])
		case !r.Truncated:
			return r, nil
		}
	}
	return nil, errors.New("it truncated its answer over TCP")
}

// addresses returns the records at the end of the CNAMEs that begin at the host, and the
// smallest TTL on the way.
func addresses(r *dns.Msg, host string, kind uint16) (list []netip.Addr, ttl time.Duration) {
	name, least := strings.ToLower(dns.Fqdn(host)), uint32(negativeTTL/time.Second)
	first := true
	lower := func(n uint32) {
		if first || n < least {
			least, first = n, false
		}
	}
	for range maxChain {
		next := ""
		for _, rr := range r.Answer {
			if !strings.EqualFold(rr.Header().Name, name) {
				continue
			}
			switch rr := rr.(type) {
			case *dns.CNAME:
				next = strings.ToLower(rr.Target)
				lower(rr.Hdr.Ttl)
			case *dns.A:
				if a, ok := netip.AddrFromSlice(rr.A.To4()); ok && kind == dns.TypeA {
					list = append(list, a)
					lower(rr.Hdr.Ttl)
				}
			case *dns.AAAA:
				if a, ok := netip.AddrFromSlice(rr.AAAA.To16()); ok && kind == dns.TypeAAAA {
					list = append(list, a)
					lower(rr.Hdr.Ttl)
				}
			}
		}
		if len(list) > 0 || next == "" {
			break
		}
		name = next
	}
	return list, time.Duration(least) * time.Second
}
