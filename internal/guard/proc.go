package guard

import (
	"io/fs"
	"strconv"
	"strings"
)

// A state is what /proc/PID/stat says (proc(5)).
type state struct {
	parent int
	start  uint64 // ticks since the machine's start
}

// status is a process's state; ok is false if there is none, or only its exit code is left. proc is /proc.
func status(proc fs.FS, pid int) (s state, ok bool) {
	text, err := fs.ReadFile(proc, strconv.Itoa(pid)+"/stat")
	if err != nil {
		return state{}, false
	}
	return parseStat(string(text))
}

// parseStat reads "123 (name) S 1 …". The name may hold anything, so fields are counted behind the last parenthesis.
func parseStat(text string) (s state, ok bool) {
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return state{}, false
	}
	parent, err := strconv.Atoi(f[1])
	start, err2 := strconv.ParseUint(f[19], 10, 64)
	if err != nil || err2 != nil || parent < 0 {
		return state{}, false
	}
	return state{parent, start}, true
}

// A socket is a packet socket.
type socket struct {
	protocol uint16
	index    int // of the interface that it is bound to; 0: any
	running  bool
	inode    uint64
}

// parsePackets reads /proc/net/packet: a line of headings, then "sk RefCnt Type Proto Iface R Rmem User Inode".
func parsePackets(text string) (sockets []socket) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 9 {
			continue
		}
		protocol, err := strconv.ParseUint(f[3], 16, 16)
		index, err2 := strconv.ParseUint(f[4], 10, 31)
		inode, err3 := strconv.ParseUint(f[8], 10, 64)
		if err == nil && err2 == nil && err3 == nil {
			sockets = append(sockets, socket{uint16(protocol), int(index), f[5] == "1", inode})
		}
	}
	return sockets
}

// owners finds the processes that hold sockets, by the sockets' inodes; each process once. A socket that nobody seems to hold,
// because only root can see who, counts as a process that is not known.
func owners(proc fs.FS, inodes []uint64) (found []process) {
	entries, _ := fs.ReadDir(proc, ".")
	held := make(map[string]bool) // links to sockets whose owner was found
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		files, _ := fs.ReadDir(proc, e.Name()+"/fd")
		mine := false
		for _, f := range files {
			to, _ := fs.ReadLink(proc, e.Name()+"/fd/"+f.Name())
			for _, inode := range inodes {
				if link := "socket:[" + strconv.FormatUint(inode, 10) + "]"; to == link {
					held[link], mine = true, true
				}
			}
		}
		if mine {
			name, _ := fs.ReadFile(proc, e.Name()+"/comm")
			found = append(found, process{pid, strings.TrimSpace(string(name))})
		}
	}
	if len(held) < len(inodes) {
		found = append(found, process{})
	}
	return found
}
