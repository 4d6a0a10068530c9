package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/secretfile"
)

// A value is a flag.Value that sets a field of the configuration.
type value[T any] struct {
	at    *T
	parse func(string) (T, error)
	show  func(T) string
}

func (v value[T]) String() string { return v.show(*v.at) }

func (v value[T]) Set(s string) error {
	t, err := v.parse(s)
	if err != nil {
		return err
	}
	*v.at = t
	return nil
}

// text is a string that check accepts.
func text(at *string, check func(string) error) value[string] {
	return value[string]{at, func(s string) (string, error) { return s, check(s) }, func(s string) string { return s }}
}

// secret is a URL that may have a password, with one of the given schemes, or
// file:PATH of a file with the URL.
func secret(at *deed.Secret, schemes ...string) value[deed.Secret] {
	parse := func(s string) (deed.Secret, error) {
		if path, ok := strings.CutPrefix(s, "file:"); ok {
			raw, err := secretfile.Read(path)
			if err != nil {
				return "", err
			}
			// Nothing would mean the default, such as an embedded chain with test money.
			if s = strings.TrimSpace(string(raw)); s == "" {
				return "", fmt.Errorf("%s is empty: write the address into it", path)
			}
		}
		if s == "" { // likewise
			return "", errors.New("it is empty: write an address, or leave the setting out")
		}
		scheme, _, _ := strings.Cut(s, "://")
		if oneOf(schemes...)(scheme) != nil {
			// Does not quote the text: it may be a bare password.
			return "", fmt.Errorf("it must begin with %s://, or be file: and the path of a file that does", schemes[0])
		}
		u, err := url.Parse(s)
		if strings.HasPrefix(scheme, "http") && (err != nil || u.Host == "") {
			return "", errors.New("it is not an address: write https://host/path")
		}
		// What cannot be parsed otherwise, such as several hosts, is left to who connects.
		if err == nil && u.Port() != "" {
			if _, err := strconv.ParseUint(u.Port(), 10, 16); err != nil {
				return "", errors.New("a port is a number up to 65535")
			}
		}
		return deed.Secret(s), nil
	}
	return value[deed.Secret]{at, parse, app.RedactURL}
}

func boolean(at *bool) value[bool] {
	return value[bool]{at, func(s string) (bool, error) { return s == "true", oneOf("true", "false")(s) }, strconv.FormatBool}
}

// positive is a whole number above zero. Products with it do not overflow.
func positive(at *int) value[int] { return between(at, 1, 1_000_000_000) }

// between is a whole number within both limits.
func between(at *int, low, high int) value[int] {
	return value[int]{at, func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < low || n > high {
			return 0, fmt.Errorf("%q is not a number from %d to %d", s, low, high)
		}
		return n, nil
	}, strconv.Itoa}
}

func chainID(at *uint64) value[uint64] {
	return value[uint64]{at, func(s string) (uint64, error) {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil || n == 0 {
			return 0, fmt.Errorf("%q is not a chain ID", s)
		}
		return n, nil
	}, func(n uint64) string { return strconv.FormatUint(n, 10) }}
}

func blockNumber(at *uint64) value[uint64] {
	return value[uint64]{at, func(s string) (uint64, error) {
		n, err := strconv.ParseUint(s, 10, 63)
		if err != nil {
			return 0, fmt.Errorf("%q is not the number of a block", s)
		}
		return n, nil
	}, func(n uint64) string { return strconv.FormatUint(n, 10) }}
}

// blocks is a number of blocks above zero.
func blocks(at *uint64) value[uint64] {
	v := blockNumber(at)
	parse := v.parse
	v.parse = func(s string) (uint64, error) {
		n, err := parse(s)
		if err != nil || n == 0 {
			return 0, fmt.Errorf("%q is not a number of blocks above 0", s)
		}
		return n, nil
	}
	return v
}

// maxDuration is the longest limit that PostgreSQL takes, in milliseconds: over 24 days.
const maxDuration = math.MaxInt32 * time.Millisecond

func duration(at *time.Duration) value[time.Duration] {
	return value[time.Duration]{at, func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		switch {
		case err != nil || d < 0:
			return 0, fmt.Errorf("%q is not a time: write it like 30s or 5m", s)
		case d > maxDuration || d%time.Millisecond != 0:
			return 0, fmt.Errorf("%q is not a time in whole milliseconds, of at most 24 days", s)
		}
		return d, nil
	}, time.Duration.String}
}

// positiveDuration is a time above zero.
func positiveDuration(at *time.Duration) value[time.Duration] {
	v := duration(at)
	parse := v.parse
	v.parse = func(s string) (time.Duration, error) {
		d, err := parse(s)
		if err == nil && d == 0 {
			err = fmt.Errorf("%q is not a time above 0", s)
		}
		return d, err
	}
	return v
}

// maxAmount is more than any setting needs. Sums with it do not overflow.
const maxAmount = 1_000_000_000 * 100 * deed.Cent

func amount(at *deed.USDC) value[deed.USDC] {
	return value[deed.USDC]{at, func(s string) (deed.USDC, error) {
		n, err := deed.ParseUSDC(s)
		if err == nil && n > maxAmount {
			err = fmt.Errorf("%q is too large an amount", s)
		}
		return n, err
	}, deed.USDC.String}
}

// positiveAmount is an amount above zero.
func positiveAmount(at *deed.USDC) value[deed.USDC] {
	v := amount(at)
	parse := v.parse
	v.parse = func(s string) (deed.USDC, error) {
		n, err := parse(s)
		if err == nil && n == 0 {
			err = fmt.Errorf("%q is not an amount above 0", s)
		}
		return n, err
	}
	return v
}

// percent is a percentage such as 20% or 12.5%, stored in hundredths of a percent.
func percent(at *int64) value[int64] {
	return value[int64]{at, func(s string) (int64, error) {
		// Parsed like an amount of money, with two digits after the point.
		n, err := deed.ParseUSDC(strings.TrimSuffix(s, "%"))
		if err != nil || !strings.HasSuffix(s, "%") || n%deed.Cent != 0 || n > 1000*100*deed.Cent {
			return 0, fmt.Errorf("%q is not a share: write it like 20%% or 12.5%%", s)
		}
		return int64(n / deed.Cent), nil
	}, func(n int64) string { return (deed.USDC(n) * deed.Cent).String() + "%" }}
}

func level(at *slog.Level) value[slog.Level] {
	return value[slog.Level]{at, func(s string) (l slog.Level, err error) {
		if l.UnmarshalText([]byte(s)) != nil {
			return l, errors.New("write debug, info, warn or error")
		}
		return l, nil
	}, func(l slog.Level) string { return strings.ToLower(l.String()) }}
}
