package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/registrar/epp"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
)

const (
	eppNames    = 128 // registered in one sample
	eppSamples  = 9   // of each side
	eppSessions = 4
)

// eppRows compares registrations over EPP with the bare exchange of their frames.
func eppRows() (rows []row, err error) {
	dir, db, shut, err := openDatabase()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, shut()) }()
	server, err := epptest.Open(epptest.Config{Registry: &local.Registry{Store: sqldb.Registry{DB: db}, Now: time.Now}, Balance: 1e15})
	if err != nil {
		return nil, err
	}
	defer server.Close()
	files, err := epptest.WriteClientFiles(dir, time.Hour)
	if err != nil {
		return nil, err
	}
	backend, err := epp.Open(epp.Config{
		Address: server.Addr(), ClientID: epptest.ClientID, Password: epptest.Password, Secret: "the secret of a benchmark",
		CertFile: files.Cert, KeyFile: files.Key, CAFile: files.CA, Limits: epp.Limits{Sessions: eppSessions},
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	var ours, limits []float64
	for i := range eppSamples {
		rate, err := eppBackend(backend, i)
		if err != nil {
			return nil, err
		}
		ours = append(ours, rate)
		if rate, err = eppBare(server.Addr(), files, i); err != nil {
			return nil, err
		}
		limits = append(limits, rate)
	}
	what := fmt.Sprintf("registrations over EPP, %d sessions, 4 commands each", eppSessions)
	return []row{{what, "the bare exchange of their frames", median(ours), median(limits), 0.8}}, nil
}

// eppBackend registers names and looks up each order.
func eppBackend(b *epp.Backend, sample int) (float64, error) {
	return eppEach(func(i int64) error {
		o := registrar.Order{Kind: registrar.OrderRegister, Reference: fmt.Sprint("bench-", sample, "-", i), Name: deed.Name(fmt.Sprintf("ours-%d-%d.com", sample, i)), Years: 1, Submitted: time.Now()}
		if err := b.Place(context.Background(), o); err != nil {
			return err
		}
		st, err := b.Order(context.Background(), o)
		if err == nil && st.State != registrar.OrderDone {
			err = fmt.Errorf("%s is %s", o.Name, st.State)
		}
		return err
	}, func() (func(), error) { return func() {}, nil })
}

// eppEach runs f for each name of a sample, as many at once as there are sessions.
// Every caller prepares itself before the time is measured.
func eppEach(f func(i int64) error, prepare func() (func(), error)) (float64, error) {
	done, err := prepare()
	if err != nil {
		return 0, err
	}
	defer done()
	var next atomic.Int64
	began := time.Now()
	err = atOnce(eppSessions, func() error {
		for i := next.Add(1); i <= eppNames; i = next.Add(1) {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	})
	return eppNames / time.Since(began).Seconds(), err
}

// The frames of a registration, with the name and an identifier.
var eppFrames = []string{
	`<check><domain:check xmlns:domain="urn:ietf:params:xml:ns:domain-1.0"><domain:name>%[1]s</domain:name></domain:check></check><extension><fee:check xmlns:fee="urn:ietf:params:xml:ns:epp:fee-1.0"><fee:currency>USD</fee:currency><fee:command name="create"><fee:period unit="y">1</fee:period></fee:command></fee:check></extension>`,
	`<create><domain:create xmlns:domain="urn:ietf:params:xml:ns:domain-1.0"><domain:name>%[1]s</domain:name><domain:period unit="y">1</domain:period><domain:authInfo><domain:pw>AbCdEfGhIjKlMnOpQrStUv-aZ9</domain:pw></domain:authInfo></domain:create></create>`,
	`<update><domain:update xmlns:domain="urn:ietf:params:xml:ns:domain-1.0"><domain:name>%[1]s</domain:name><domain:add><domain:status s="clientTransferProhibited"></domain:status></domain:add></domain:update></update>`,
	`<info><domain:info xmlns:domain="urn:ietf:params:xml:ns:domain-1.0"><domain:name hosts="del">%[1]s</domain:name></domain:info></info>`,
}

const eppLogin = `<login><clID>` + epptest.ClientID + `</clID><pw>` + epptest.Password + `</pw><options><version>1.0</version><lang>en</lang></options><svcs><objURI>urn:ietf:params:xml:ns:domain-1.0</objURI><svcExtension><extURI>urn:ietf:params:xml:ns:rgp-1.0</extURI><extURI>urn:ietf:params:xml:ns:epp:fee-1.0</extURI></svcExtension></svcs></login>`

// eppBare sends the frames of registrations and reads the replies, without looking at
// them.
func eppBare(addr string, files epptest.Files, sample int) (float64, error) {
	sessions := make(chan net.Conn, eppSessions)
	prepare := func() (func(), error) {
		for i := range eppSessions {
			c, err := eppDial(addr, files, fmt.Sprintf("login-%d-%d", sample, i))
			if err != nil {
				return nil, err
			}
			sessions <- c
		}
		return func() {
			for range eppSessions {
				(<-sessions).Close() // the sample is over
			}
		}, nil
	}
	return eppEach(func(i int64) error {
		c := <-sessions
		defer func() { sessions <- c }()
		for step, f := range eppFrames {
			reply, err := eppExchange(c, fmt.Sprintf(f, fmt.Sprintf("bare-%d-%d.com", sample, i)), fmt.Sprintf("bare-%d-%d-%d", sample, i, step))
			if err == nil && step == 1 && !strings.Contains(reply, `code="1000"`) {
				err = errors.New(reply)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, prepare)
}

func eppDial(addr string, files epptest.Files, id string) (net.Conn, error) {
	cert, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		return nil, err
	}
	pem, err := os.ReadFile(files.CA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c, err := tls.Dial("tcp", addr, &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12})
	if err != nil {
		return nil, err
	}
	if _, err = eppRead(c); err == nil { // the greeting
		_, err = eppExchange(c, eppLogin, id)
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func eppExchange(c net.Conn, command, id string) (string, error) {
	body := `<?xml version="1.0" encoding="UTF-8" standalone="no"?><epp xmlns="urn:ietf:params:xml:ns:epp-1.0"><command>` + command + `<clTRID>` + id + `</clTRID></command></epp>`
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))
	if _, err := c.Write(append(frame, body...)); err != nil {
		return "", err
	}
	return eppRead(c)
}

func eppRead(c net.Conn) (string, error) {
	var size uint32
	if err := binary.Read(c, binary.BigEndian, &size); err != nil {
		return "", err
	}
	body := make([]byte, size-4)
	_, err := io.ReadFull(c, body)
	return string(body), err
}
