package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/registrar/local"
)

// searches is how many searches one sample makes, each for another label, so that
// no result comes from the cache.
const searches = 3000

// searchRows compares a search over the standard set with the reads that it needs.
func searchRows() (rows []row, err error) {
	s, err := openService()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	var ours, bare []float64
	for i := range samples {
		rate, err := sendAll(s.addr, searchRequests(i))
		if err != nil {
			return nil, err
		}
		ours = append(ours, rate)
		if rate, err = bareReads(s.Registry, s.API.Catalog.Standard(), i); err != nil {
			return nil, err
		}
		bare = append(bare, rate)
	}
	return []row{{"search over 10 TLDs, SQLite: GET /domains/search", "ten bare questions to the registry, without HTTP", median(ours), median(bare), 0.70}}, nil
}

func label(sample, i int) string { return fmt.Sprintf("label-%d-%d", sample, i) }

func searchRequests(sample int) []string {
	requests := make([]string, searches)
	for i := range requests {
		requests[i] = fmt.Sprintf("GET /domains/search?query=%s HTTP/1.1\r\nHost: deed.example\r\n\r\n", label(sample, i))
	}
	return requests
}

// bareReads makes the registry calls of a search, with the same concurrency.
func bareReads(r *local.Registry, under []catalog.Listing, sample int) (float64, error) {
	var next atomic.Int64
	began := time.Now()
	err := atOnce(conns, func() error {
		for {
			i := int(next.Add(1)) - 1
			if i >= searches {
				return nil
			}
			for _, l := range under {
				if _, err := r.Available(context.Background(), deed.Name(label(sample, i)+"."+string(l.TLD))); err != nil {
					return err
				}
			}
		}
	})
	return searches / time.Since(began).Seconds(), err
}
