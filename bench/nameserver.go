package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/nameserver"
	"deed.example/deed/internal/nameserver/peer"
)

const (
	dnsZones     = 1000
	dnsSamples   = 5 // many short ones, so that background load affects all servers alike
	dnsRound     = 500 * time.Millisecond
	dnsProcesses = 5
	dnsServerArg = "answer-queries" // the argument that makes this program the server
)

// dnsRows compares the CPU time of a response over UDP with that of well-known
// name servers, on one thread each. Servers that are not installed are skipped.
func dnsRows() (rows []row, err error) {
	zones := benchZones()
	servers, err := startServers(zones)
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.stop())
		}
	}()
	if err != nil {
		return nil, err
	}
	queries, err := benchQueries()
	if err != nil {
		return nil, err
	}
	for _, l := range []dnsLoad{{"in bursts", 32}, {"one at a time", 1}} {
		more, err := l.compare(servers, queries)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	r, err := processRow(queries)
	return append(rows, r), err
}

// processRow compares processes of our server with each other: where the kernel puts
// the memory of one must not matter much.
func processRow(queries [][]byte) (r row, err error) {
	var servers []*dnsServer
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.stop())
		}
	}()
	for range dnsProcesses {
		s, err := startOurs()
		if err != nil {
			return row{}, err
		}
		servers = append(servers, s)
	}
	rates, err := dnsLoad{"in bursts", 32}.rates(servers, queries)
	if err != nil {
		return row{}, err
	}
	slices.Sort(rates)
	return row{what: "the same in bursts, by the slowest of 5 processes of ours", against: "the fastest of them", ours: rates[0], limit: rates[len(rates)-1]}, nil
}

// A dnsLoad is a pattern of queries.
type dnsLoad struct {
	how    string
	window int // outstanding queries per socket
}

// compare compares the first server, which is ours, with the others.
func (l dnsLoad) compare(servers []*dnsServer, queries [][]byte) (rows []row, err error) {
	rates, err := l.rates(servers, queries)
	if err != nil {
		return nil, err
	}
	for i, s := range servers[1:] {
		r := row{what: "DNS answers over UDP per second of CPU, " + l.how, against: "the same answers by " + s.name, ours: rates[0], limit: rates[i+1]}
		if s.name == "nsd" {
			r.aim = 1
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// rates queries all servers alternately and returns the median rate of each.
func (l dnsLoad) rates(servers []*dnsServer, queries [][]byte) (medians []float64, err error) {
	rates := make([][]float64, len(servers))
	for i := range (1 + dnsSamples) * len(servers) {
		at := i % len(servers)
		rate, err := answersPerCPUSecond(servers[at], l.window, queries)
		if err != nil {
			return nil, err
		}
		if i >= len(servers) { // the first sample is a warm-up
			rates[at] = append(rates[at], rate)
		}
	}
	for _, r := range rates {
		medians = append(medians, median(r))
	}
	return medians, nil
}

// A dnsServer is our name server or another one, in its own process.
type dnsServer struct {
	name string
	addr string
	pid  int
	stop func() error
}

// startServers starts our name server first, then the other ones that are
// installed.
func startServers(zones []peer.Zone) ([]*dnsServer, error) {
	ours, err := startOurs()
	if err != nil {
		return nil, err
	}
	servers := []*dnsServer{ours}
	for _, name := range peer.Names {
		dir, err := os.MkdirTemp("", "deed-bench")
		if err != nil {
			return servers, err
		}
		p, err := peer.Start(name, dir, zones)
		if errors.Is(err, peer.ErrMissing) {
			fmt.Fprintln(os.Stderr, "bench:", err)
			continue
		}
		if err != nil {
			return servers, err
		}
		servers = append(servers, &dnsServer{name: name, addr: p.Addr.String(), pid: p.Pid, stop: func() error {
			return errors.Join(p.Stop(), os.RemoveAll(dir))
		}})
	}
	return servers, nil
}

// startOurs starts this program as a server in another process, so that its CPU
// time can be measured. It ends when its input ends.
func startOurs() (*dnsServer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, dnsServerArg)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := func() error { return errors.Join(in.Close(), cmd.Wait()) }
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return &dnsServer{name: "deed", addr: strings.TrimSpace(addr), pid: cmd.Process.Pid, stop: stop}, nil
}

// answerQueries is the server that startOurs starts: it prints its address and
// serves queries until its input ends.
func answerQueries() error {
	cfg := nameserver.Defaults()
	cfg.Listen, cfg.Sockets = "127.0.0.1:0", 1
	cfg.Exempt, cfg.RatePerSecond = nil, 100_000 // everything is counted, nothing is dropped
	s, err := nameserver.Open(cfg)
	if err != nil {
		return err
	}
	for _, z := range benchZones() {
		served, err := serve(z)
		if err != nil {
			return err
		}
		if err := s.Publish(context.Background(), served); err != nil {
			return err
		}
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	fmt.Println(s.Addr())
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, s.Close(), <-done)
}

func benchZones() []peer.Zone {
	zones := make([]peer.Zone, dnsZones)
	for i := range zones {
		zones[i] = benchZone(i)
	}
	return zones
}

// benchZone returns a typical customer zone.
func benchZone(i int) peer.Zone {
	z := peer.Zone{Origin: fmt.Sprintf("zone%d.test", i)}
	z.File = fmt.Sprintf("$ORIGIN %s.\n", z.Origin) + `$TTL 300
@ IN SOA ns1.example.net. hostmaster.example.net. 1 3600 600 1209600 300
@ IN NS ns1.example.net.
@ IN NS ns2.example.net.
@ IN A 192.0.2.1
@ IN MX 10 mail
@ IN TXT "v=spf1 mx -all"
www IN CNAME @
mail IN A 192.0.2.2
api IN A 192.0.2.3
*.dev IN A 192.0.2.4
`
	return z
}

// serve parses a master file.
func serve(z peer.Zone) (dnssec.ServedZone, error) {
	out := dnssec.ServedZone{Origin: z.Origin, Serial: 1}
	parser := dns.NewZoneParser(strings.NewReader(z.File), "", "")
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		buf := make([]byte, 1024)
		n, err := dns.PackRR(rr, buf, 0, nil, false)
		if err != nil {
			return out, err
		}
		h := rr.Header()
		out.RRs = append(out.RRs, dnszone.RR{Owner: strings.TrimSuffix(h.Name, "."), Type: h.Rrtype, TTL: h.Ttl, Data: string(buf[n-int(h.Rdlength) : n])})
	}
	return out, parser.Err()
}
