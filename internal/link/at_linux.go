package link

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"loadtest/internal/netns"
)

// At calls f in the namespace of a port's interface, IF or IF@NETNS; its errors are made such that they say what helps.
func At(name string, f func(iface string) error) error {
	iface, ns, _ := strings.Cut(name, "@")
	switch err := netns.Within(ns, func() error { return f(iface) }); {
	case errors.Is(err, ErrNoInterface):
		return netns.Missing(iface, ns)
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("%s: a packet socket needs CAP_NET_RAW. Use sudo, or once: setcap "+
			"cap_net_raw,cap_net_admin,cap_bpf,cap_perfmon,cap_ipc_lock+ep $(command -v loadtest)", name)
	case err != nil:
		return fmt.Errorf("port %q: %w", name, err)
	}
	return nil
}
