package guard

import (
	"io/fs"
	"net/netip"
	"strconv"
	"strings"
)

// A session is an SSH session's two ends; neither is valid if there is no session.
type session struct{ client, server netip.Addr }

// find looks for the session in the environment, and, since sudo cleans that, in the environments of the parents from pid on;
// proc is /proc.
func find(env func(string) string, proc fs.FS, pid int) session {
	s := parse(env("SSH_CONNECTION"), env("SSH_CLIENT"))
	for !s.client.IsValid() && pid > 0 {
		environ, _ := fs.ReadFile(proc, strconv.Itoa(pid)+"/environ") // readable or not: a further parent may be
		var connection, client string
		for variable := range strings.SplitSeq(string(environ), "\x00") {
			if v, ok := strings.CutPrefix(variable, "SSH_CONNECTION="); ok {
				connection = v
			} else if v, ok := strings.CutPrefix(variable, "SSH_CLIENT="); ok {
				client = v
			}
		}
		s = parse(connection, client)
		if st, ok := status(proc, pid); ok && st.parent != pid {
			pid = st.parent
		} else {
			pid = 0
		}
	}
	return s
}

// parse reads what sshd(8) sets: SSH_CONNECTION is "client port server port", the older SSH_CLIENT "client port port".
func parse(connection, client string) (s session) {
	if f := strings.Fields(connection); len(f) == 4 {
		s = session{address(f[0]), address(f[2])}
	}
	if f := strings.Fields(client); !s.client.IsValid() && len(f) == 3 {
		s = session{client: address(f[0])}
	}
	if !s.client.IsValid() {
		return session{}
	}
	return s
}

func address(text string) netip.Addr {
	a, _ := netip.ParseAddr(text)
	return a.Unmap()
}

// starts says whether the session comes from this machine itself, where l has the client's address.
func (s session) starts(l link) bool { return has(l, s.client) }

// ends says whether the session ends at l.
func (s session) ends(l link) bool { return has(l, s.server) }

// has says whether l has the address; a zone must be l's name.
func has(l link, a netip.Addr) bool {
	for _, own := range l.addresses {
		if own == a.WithZone("") && (a.Zone() == "" || a.Zone() == l.name) {
			return true
		}
	}
	return false
}
