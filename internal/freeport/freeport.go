// Package freeport finds ports for servers that tests start.
//
// It avoids the range that the kernel gives to outgoing connections and to servers that
// listen on port 0: such a port may be taken again before the server that it was found
// for is ready. For the same reason no two processes find the same port: tests of several
// packages run at a time, and some start a server long after they have found its port.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"sync"
)

// The kernels of today give ports from 32768 up, and scripts/servers.sh from 20000 up.
const first, last = 10000, 19999

// Find returns a port of the loopback that is free for TCP and UDP at the moment.
func Find() (netip.AddrPort, error) {
	for range 1000 {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(first+rand.IntN(last-first+1)))
		if reserve(addr.Port()) && free(addr) {
			return addr, nil
		}
	}
	return netip.AddrPort{}, errors.New("no port is free for TCP and UDP")
}

// reserved are the ports that this process has found, each with an abstract socket that the
// kernel removes when the process ends.
var reserved sync.Map

// reserve reports whether no process has found the port before. It knows those of this
// process only where there are no abstract sockets.
func reserve(port uint16) bool {
	if runtime.GOOS != "linux" {
		_, found := reserved.LoadOrStore(port, nil)
		return !found
	}
	socket, err := net.ListenPacket("unixgram", fmt.Sprintf("@deed-test-port-%d", port))
	if err == nil {
		reserved.Store(port, socket) // which keeps it open
	}
	return err == nil
}

func free(addr netip.AddrPort) bool {
	tcp, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(addr))
	if err != nil {
		return false
	}
	defer tcp.Close() // the server will bind it
	udp, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(addr))
	if err == nil {
		udp.Close() // likewise
	}
	return err == nil
}
