package main

import (
	"context"
	"crypto/ecdsa"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/accounts"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
	"deed.example/deed/internal/httpapi"
	"deed.example/deed/internal/signin"
)

const (
	signIns       = 3000 // of one sample
	walletSignIns = 300  // of each wallet, which is fewer than the sessions it may have
)

// signInRows compares a sign-in with the minimum work that it needs, and an
// authenticated read with the same read without authentication.
func signInRows() (rows []row, err error) {
	s, err := openService()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	bare, err := openBare(filepath.Join(s.dir, "bare.db"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.Close()) }()
	signing, err := compareSignIn(s.API.SignIn, s.addr, bare)
	if err != nil {
		return nil, err
	}
	bearer, err := compareBearer(s.API)
	return []row{signing, bearer}, err
}

// compareSignIn alternates between sign-ins over HTTP and the minimum: one
// ecrecover and one durable commit.
func compareSignIn(s *signin.Service, addr string, bare *sql.DB) (row, error) {
	key, err := crypto.GenerateKey()
	if err != nil {
		return row{}, err
	}
	var ours, limits []float64
	for range samples {
		requests, err := signedRequests(s)
		if err != nil {
			return row{}, err
		}
		rate, err := sendAll(addr, requests)
		if err != nil {
			return row{}, err
		}
		ours = append(ours, rate)
		if rate, err = leastWork(bare, key); err != nil {
			return row{}, err
		}
		limits = append(limits, rate)
	}
	return row{"sign-in over HTTP, SQLite: POST /auth/verify", "one ecrecover, then one durable commit, without HTTP", median(ours), median(limits), 0.85}, nil
}

// compareBearer reads a price with and without a check of the bearer token.
func compareBearer(api *httpapi.Server) (row, error) {
	key, err := crypto.GenerateKey()
	if err != nil {
		return row{}, err
	}
	text, sig, err := signedMessage(api.SignIn, key)
	if err != nil {
		return row{}, err
	}
	tokens, err := api.SignIn.SignIn(context.Background(), text, sig)
	if err != nil {
		return row{}, err
	}
	prices := api.Handler()
	checked, err := listen(func(l net.Listener) error {
		return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			if _, err := api.SignIn.Authenticate(r.Context(), token); err != nil {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			prices.ServeHTTP(w, r)
		}))
	})
	if err != nil {
		return row{}, err
	}
	unchecked, err := listen(func(l net.Listener) error { return http.Serve(l, prices) })
	if err != nil {
		return row{}, err
	}
	with, without, err := measure(checked, unchecked, "GET /domains/pricing/com HTTP/1.1\r\nHost: deed.example\r\nAuthorization: Bearer "+tokens.Access+"\r\n\r\n")
	return row{"a read with its bearer token checked, SQLite", "the same read unchecked", with, without, 0.85}, err
}

// signedMessage returns a sign-in message and its signature.
func signedMessage(s *signin.Service, key *ecdsa.PrivateKey) (text, signature string, err error) {
	text = fmt.Sprintf("%s wants you to sign in with your Ethereum account:\n%s\n\n\nURI: %s\nVersion: 1\nChain ID: %d\nNonce: %s\nIssued At: %s",
		s.Site.Domain, crypto.PubkeyToAddress(key.PublicKey).Hex(), s.Site.URI, s.Site.ChainID, s.Nonce(), time.Now().UTC().Format(time.RFC3339))
	sig, err := crypto.Sign(accounts.TextHash([]byte(text)), key)
	if err != nil {
		return "", "", err
	}
	return text, "0x" + hex.EncodeToString(sig), nil
}

func signedRequests(s *signin.Service) (requests []string, err error) {
	requests = make([]string, signIns)
	var key *ecdsa.PrivateKey
	for i := range requests {
		if i%walletSignIns == 0 {
			if key, err = crypto.GenerateKey(); err != nil {
				return nil, err
			}
		}
		text, sig, err := signedMessage(s, key)
		if err != nil {
			return nil, err
		}
		body, err := json.Marshal(api.VerifyRequest{Message: text, Signature: sig})
		if err != nil {
			return nil, err
		}
		requests[i] = fmt.Sprintf("POST /auth/verify HTTP/1.1\r\nHost: deed.example\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	return requests, nil
}

// sendAll sends each request once and returns the responses per second.
func sendAll(addr string, requests []string) (float64, error) {
	var next atomic.Int64
	began := time.Now()
	err := atOnce(conns, func() error {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		defer c.Close() // the sample is over
		in := make([]byte, 8<<10)
		for {
			i := int(next.Add(1)) - 1
			if i >= len(requests) {
				return nil
			}
			if _, err := c.Write([]byte(requests[i])); err != nil {
				return err
			}
			n, err := c.Read(in) // a response this small arrives in one segment
			if err != nil {
				return err
			}
			if !strings.HasPrefix(string(in[:n]), "HTTP/1.1 200") {
				return fmt.Errorf("send a request: got %s", in[:n])
			}
		}
	})
	return float64(len(requests)) / time.Since(began).Seconds(), err
}

// leastWork does the minimum work of sign-ins, sequentially.
func leastWork(db *sql.DB, key *ecdsa.PrivateKey) (float64, error) {
	hash := crypto.Keccak256([]byte("bench"))
	sig, err := crypto.Sign(hash, key)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	for range signIns {
		if _, err := crypto.SigToPub(hash, sig); err != nil {
			return 0, err
		}
		if _, err := db.Exec(`INSERT INTO t (v) VALUES ('x')`); err != nil {
			return 0, err
		}
	}
	return signIns / time.Since(began).Seconds(), nil
}

// openBare opens a database with one table and the settings of production.
func openBare(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`CREATE TABLE t (v TEXT)`)
	return db, err
}

// atOnce runs f in n goroutines and returns the first error.
func atOnce(n int, f func() error) error {
	var wg sync.WaitGroup
	errs := make(chan error, n)
	for range n {
		wg.Go(func() {
			if err := f(); err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}
