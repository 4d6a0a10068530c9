// Package freeport finds ports for servers that tests start.
//
// It avoids the range that the kernel gives to outgoing connections and to servers that
// listen on port 0: such a port may be taken again before the server that it was found
// for is ready.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
)

// The kernels of today give ports from 32768 up, and scripts/servers.sh from 20000 up.
const first, last = 10000, 19999

// Find returns a port of the loopback that is free for TCP and UDP at the moment.
func Find() (netip.AddrPort, error) {
	for range 1000 {
		addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(first+rand.IntN(last-first+1)))
		if free(addr) {
			return addr, nil
		}
	}
	return netip.AddrPort{}, errors.New("no port is free for TCP and UDP")
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
