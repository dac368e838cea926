package dut

import "loadtest/ipsec"

// A tunnel takes packets to its peer, another gateway, with the sizes of ESP but without encryption.
type tunnel struct {
	ipsec.Tunnel
	name          string
	node          *node
	local, remote address
	out           *iface
	peer          *tunnel
}

// routeOuter takes a packet out of its tunnel, at the end of it, or sends it on.
func (nd *node) routeOuter(in *iface, f *frame, t int64) {
	if f.tunnel.peer.node == nd {
		f.tunnel = nil
		nd.route(in, f, t)
		return
	}
	routes := nd.v4
	if f.tunnel.IPv6 {
		routes = nd.v6
	}
	v := find(routes, f.tunnel.remote)
	switch {
	case v == nil || v.out == nil || v.tunnel != nil: // no tunnels in tunnels
		in.drop(f, noRoute)
		return
	case f.ttl <= 1:
		in.drop(f, ttlExpired)
		return
	case v.out == in && !nd.hairpin:
		in.drop(f, wouldReturn)
		return
	}
	// RFC 8200 section 5: only the source of an IPv6 packet fragments it. Gateways have no path MTU discovery between them.
	if hop := v.out.out; f.outer-ethernet > hop.mtu && (f.tunnel.IPv6 || hop.policy != policyFragment) {
		hop.drop(f, tooLong)
		return
	}
	f.ttl--
	*(*[6]byte)(f.data) = v.mac
	*(*[6]byte)(f.data[6:]) = v.out.mac
	v.out.emit(f, t)
}
