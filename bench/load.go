package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

const (
	conns      = 32 // concurrent connections
	samples    = 3  // of each side, in each round
	sampleTime = time.Second
)

// measure calls both servers alternately and returns the median rate of each.
func measure(ours, limit, request string) (oursRate, limitRate float64, err error) {
	var a, b []float64
	for i := range 2 * samples {
		addr, rates := ours, &a
		if i%2 == 1 {
			addr, rates = limit, &b
		}
		rate, err := load(addr, request)
		if err != nil {
			return 0, 0, err
		}
		*rates = append(*rates, rate)
	}
	return median(a), median(b), nil
}

func median(v []float64) float64 {
	slices.SortFunc(v, cmp.Compare[float64])
	return v[len(v)/2]
}

// load repeats the request for one sample and returns the responses per second. It
// does as little as a client can, so that the cost of the servers dominates: all
// responses have the same length, and only that many bytes are read.
func load(addr, request string) (float64, error) {
	length, err := answerLength(addr, request)
	if err != nil {
		return 0, err
	}
	var answers atomic.Int64
	began := time.Now()
	err = atOnce(conns, func() error {
		n, err := loadConn(addr, request, length, began.Add(sampleTime))
		answers.Add(n)
		return err
	})
	return float64(answers.Load()) / time.Since(began).Seconds(), err
}

func loadConn(addr, request string, length int, until time.Time) (int64, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close() // the sample is over
	var n int64
	out, in := []byte(request), make([]byte, length)
	for time.Now().Before(until) {
		if _, err := c.Write(out); err != nil {
			return n, err
		}
		if _, err := io.ReadFull(c, in); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// answerLength returns the length of a response in bytes, headers included.
func answerLength(addr, request string) (int, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close() // one response is enough
	if _, err := io.WriteString(c, request); err != nil {
		return 0, err
	}
	counted := &countReader{r: c}
	res, err := http.ReadResponse(bufio.NewReaderSize(counted, 1<<20), nil)
	if err != nil {
		return 0, err
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0, fmt.Errorf("read an answer: %w", err)
	}
	return counted.n, nil
}

type countReader struct {
	r io.Reader
	n int
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}
