package main

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/app"
)

// The checks of single values. Each returns what is wrong with it.

func anything(string) error { return nil }

func depth(s string) error {
	if n, err := strconv.ParseUint(s, 10, 16); s != "auto" && (err != nil || n == 0) {
		return fmt.Errorf("%q is neither auto nor a number of blocks", s)
	}
	return nil
}

func walletOrNone(s string) error {
	if s == "" {
		return nil
	}
	w, err := deed.ParseWallet(s)
	if err == nil && w == deed.ZeroWallet {
		return errors.New("it is the zero address, whose key nobody has")
	}
	return err
}

func walletFactories(s string) error {
	if s == "auto" {
		return nil
	}
	_, err := app.ParseWalletFactories(s)
	return err
}

func numberOrNone(s string) error {
	if _, err := strconv.ParseUint(s, 10, 32); s != "" && err != nil {
		return fmt.Errorf("%q is not a number", s)
	}
	return nil
}

func notEmpty(s string) error {
	if s == "" {
		return errors.New("must not be empty")
	}
	return nil
}

func email(s string) error {
	if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
		return fmt.Errorf("%q is not an e-mail address", s)
	}
	return nil
}

func emailOrNone(s string) error {
	if s == "" {
		return nil
	}
	return email(s)
}

func directoryURL(s string) error {
	if u, err := url.Parse(s); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return fmt.Errorf("%q is not the address of a directory: write https://host/path", s)
	}
	return nil
}

func address(s string) error {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return fmt.Errorf("%q is not an address: write host:port", s)
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" { // none would be any free one
		return fmt.Errorf("%q is not an address: a port is a number up to 65535", s)
	}
	return nil
}

func addressOrOff(s string) error {
	if s == "off" {
		return nil
	}
	return address(s)
}

func publicURLOrNone(s string) error {
	if s == "" {
		return nil
	}
	_, err := app.ParsePublicURL(s)
	return err
}

func webPageOrNone(s string) error {
	if u, err := url.Parse(s); s != "" && (err != nil || u.Scheme != "https" || u.Host == "") {
		return fmt.Errorf("%q is not the address of a page: write https://host/path", s)
	}
	return nil
}

func termsVersionOrNone(s string) error {
	if len(s) > 64 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%q is not a version: write at most 64 ASCII characters without spaces", s)
	}
	return nil
}

func nsid(s string) error {
	if len(s) > 64 {
		return fmt.Errorf("%q has more than 64 bytes", s)
	}
	return nil
}

func oneOf(words ...string) func(string) error {
	return func(s string) error {
		if !slices.Contains(words, s) {
			return fmt.Errorf("%q is not one of %s", s, strings.Join(words, ", "))
		}
		return nil
	}
}
