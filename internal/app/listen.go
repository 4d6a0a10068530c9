package app

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"
)

// listen opens a listener at the address of a setting.
func listen(setting, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, listenError(setting, err)
	}
	return l, nil
}

// listenError returns an error of a listener with the name of its setting, and with what
// to do about it.
func listenError(setting string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s: %w; end the process that uses it, or set another address", setting, err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s: %w; use an address of this machine, or 0.0.0.0 or [::] for all of them", setting, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w; ports below 1024 need CAP_NET_BIND_SERVICE", setting, err)
	}
	return fmt.Errorf("%s: %w", setting, err)
}
