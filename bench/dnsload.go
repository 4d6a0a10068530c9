package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/net/ipv4"
)

const (
	dnsClients = 4 // sockets that send queries
	dnsWait    = 50 * time.Millisecond
)

// benchQueries returns queries as resolvers send them: mostly existing addresses,
// some aliases, and some names that do not exist, all with a cookie.
func benchQueries() ([][]byte, error) {
	var queries [][]byte
	for i := range dnsZones {
		for _, q := range []struct {
			host string
			typ  uint16
		}{
			{"", dns.TypeA}, {"", dns.TypeMX}, {"www.", dns.TypeA}, {"www.", dns.TypeAAAA}, {"api.", dns.TypeA}, {"mail.", dns.TypeA},
			{"x.dev.", dns.TypeA}, {"missing.", dns.TypeA}, {"", dns.TypeNS}, {"api.", dns.TypeA},
		} {
			m := new(dns.Msg).SetQuestion(fmt.Sprintf("%szone%d.test.", q.host, (i*617)%dnsZones), q.typ).SetEdns0(1232, false)
			m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0123456789abcdef"}}
			b, err := m.Pack()
			if err != nil {
				return nil, err
			}
			queries = append(queries, b)
		}
	}
	return queries, nil
}

// answersPerCPUSecond sends queries for one sample, and returns the number of
// responses per second of the server's CPU time.
func answersPerCPUSecond(s *dnsServer, window int, queries [][]byte) (float64, error) {
	before, err := cpuTime(s.pid)
	if err != nil {
		return 0, err
	}
	until := time.Now().Add(dnsRound)
	answers := make(chan int, dnsClients)
	err = atOnce(dnsClients, func() error {
		n, err := askUntil(until, s.addr, window, queries)
		answers <- n
		return err
	})
	if err != nil {
		return 0, err
	}
	total := 0
	for range dnsClients {
		total += <-answers
	}
	after, err := cpuTime(s.pid)
	if err == nil && after <= before {
		err = fmt.Errorf("%s used no CPU time for %d answers", s.name, total)
	}
	return float64(total) / (after - before).Seconds(), err
}

// askUntil repeatedly sends a window of queries and waits for the responses.
func askUntil(until time.Time, addr string, window int, queries [][]byte) (answers int, err error) {
	c, err := net.Dial("udp4", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close() // the sample is over
	conn := ipv4.NewPacketConn(c.(*net.UDPConn))
	out, in := make([]ipv4.Message, window), make([]ipv4.Message, window)
	for i := range in {
		in[i].Buffers = [][]byte{make([]byte, 1500)}
	}
	for next := 0; time.Now().Before(until); {
		for i := range out {
			out[i].Buffers = [][]byte{queries[next%len(queries)]}
			next++
		}
		for sent := 0; sent < len(out); {
			n, err := conn.WriteBatch(out[sent:], 0)
			if err != nil {
				return answers, err
			}
			sent += n
		}
		if err := conn.SetReadDeadline(time.Now().Add(dnsWait)); err != nil {
			return answers, err
		}
		for got := 0; got < window; {
			n, err := conn.ReadBatch(in, 0)
			if err != nil {
				break // some were lost
			}
			got += n
			answers += n
		}
	}
	return answers, nil
}

// cpuTime returns the CPU time of a process and its descendants so far.
func cpuTime(pid int) (time.Duration, error) {
	used, err := ownTime(pid)
	if err != nil {
		return 0, err
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, path := range stats {
		child, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return 0, err
		}
		fields, err := procFields(child)
		if err != nil || fields[1] != strconv.Itoa(pid) {
			continue // it has ended, or belongs to another user
		}
		more, err := cpuTime(child)
		if err != nil {
			return 0, err
		}
		used += more
	}
	return used, nil
}

func ownTime(pid int) (time.Duration, error) {
	const tick = 10 * time.Millisecond // USER_HZ is 100 on all common Linux platforms
	fields, err := procFields(pid)
	if err != nil {
		return 0, err
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick, err
}

// procFields returns the fields after the name in /proc/PID/stat: state, parent
// and so on (proc(5)).
func procFields(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return nil, fmt.Errorf("/proc/%d/stat is too short", pid)
	}
	return fields, nil
}
