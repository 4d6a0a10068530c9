package app

import (
	"fmt"
	"net/url"

	"deed.example/deed"
)

// DescribeDatabase says which database is used, without its password.
func (c *Config) DescribeDatabase() string {
	if c.DatabaseURL != "" {
		return "PostgreSQL at " + RedactURL(c.DatabaseURL)
	}
	return "SQLite in " + c.databaseFile()
}

// DescribeCache says which cache is used, without its password.
func (c *Config) DescribeCache() string {
	if c.CacheURL != "" {
		return "Redis at " + RedactURL(c.CacheURL)
	}
	return "the memory of this process"
}

// DescribeChain says which chain is used, without the password of its endpoint.
func (c *Config) DescribeChain() string {
	if c.ChainRPCURL != "" {
		return fmt.Sprintf("%d at %s", c.ChainID, RedactURL(c.ChainRPCURL))
	}
	return fmt.Sprintf("%d, embedded, with test money, in %s", c.ChainID, c.chainFolder())
}

// RedactURL returns a URL without its password.
func RedactURL(s deed.Secret) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(s.Reveal())
	if err != nil {
		return s.LogValue().String()
	}
	u.RawQuery = "" // it may have a password, too
	return u.Redacted()
}
