package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"deed.example/deed/internal/keyfile"
)

// Check returns the warnings of Validate, and the error that Open would return, as far as
// that can be known without starting: it opens no database and no listener and connects
// to nobody. It calls what Open calls to read files and values. To see whether folders can
// be written, it creates an empty folder in each and removes it; it creates nothing else.
func (c *Config) Check() ([]string, error) {
	warnings, err := c.Validate()
	if err != nil {
		return warnings, err
	}
	for _, check := range []func() error{c.checkData, c.checkValues, c.checkKeyFiles} {
		if err := check(); err != nil {
			return warnings, err
		}
	}
	return warnings, nil
}

// checkValues parses and opens what needs no connection.
func (c *Config) checkValues() error {
	if _, err := c.Prices(); err != nil {
		return err
	}
	if c.DatabaseURL != "" {
		if err := c.postgres().CheckURLs(); err != nil {
			return err
		}
	}
	cache, err := openCache(c, nil)
	if err != nil {
		return err
	}
	if err := cache.close(); err != nil {
		return err
	}
	if c.EmailServer != "" {
		if _, err := c.newMailer(time.Now); err != nil {
			return err
		}
	}
	if _, _, err := c.readSecondaries(); err != nil {
		return err
	}
	if c.RedirectTLSListen != off {
		if _, err := readRoots(c.ACMERoots); err != nil {
			return err
		}
	}
	if c.PayTo != "" || !c.Outside() {
		_, err = paymentNetwork(c, !c.Outside())
	}
	return err
}

// checkKeyFiles reads the files of keys. Open creates those that are missing, in folders
// that must be there.
func (c *Config) checkKeyFiles() error {
	for _, f := range []struct {
		setting, path string
		check         func(path string) error
	}{
		{"dns.key", c.zoneSecretFile(), keyfile.CheckZoneSecrets},
		{"signin.keys", c.SigninKeysFile(), keyfile.CheckTokenKeys},
		{"agent.key", c.agentKeyFile(), keyfile.CheckSigning},
	} {
		err := f.check(f.path)
		if folder := filepath.Dir(f.path); errors.Is(err, fs.ErrNotExist) {
			err = nil
			if folder != filepath.Clean(c.Data) { // which Open creates
				err = tryFolder(folder)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.setting, err)
		}
	}
	return nil
}

// checkData returns an error if the data folder can neither be used nor be made.
func (c *Config) checkData() error {
	folder := filepath.Clean(c.Data)
	for {
		_, err := os.Stat(folder)
		if parent := filepath.Dir(folder); errors.Is(err, fs.ErrNotExist) && parent != folder {
			folder = parent
			continue
		}
		break
	}
	if err := tryFolder(folder); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	return nil
}

// tryFolder returns an error if nothing can be created in the folder. It makes an empty
// folder there and removes it: permissions alone do not tell, for example not for a file
// system that is mounted read-only.
func tryFolder(folder string) error {
	made, err := os.MkdirTemp(folder, ".deed-check-*")
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("write in the folder %s: %w", folder, e.Err) // not the name of the folder that is tried
	}
	if err != nil {
		return err
	}
	return os.Remove(made)
}
