package proxmox

import (
	"strconv"
	"strings"
	"time"
)

// A upid is the name of a task, which tells what it is, on what, and whose:
//
//	UPID:node:pid:pstart:starttime:type:id:user@realm[!token]:
//
// with the numbers in hexadecimal (PVE::Tools::upid_encode).
type upid struct {
	node  string
	pid   int64
	start time.Time
	typ   string
	// id is what the task works on: a guest's number, or "".
	id   string
	user string
}

// parseUPID reads a task's name; ok is false when it is none.
func parseUPID(text string) (u upid, ok bool) {
	parts := strings.Split(text, ":")
	if len(parts) != 9 || parts[0] != "UPID" || parts[8] != "" {
		return upid{}, false
	}
	pid, errPID := strconv.ParseInt(parts[2], 16, 64)
	_, errStart := strconv.ParseUint(parts[3], 16, 64)
	at, errAt := strconv.ParseInt(parts[4], 16, 64)
	if errPID != nil || errStart != nil || errAt != nil || pid < 0 || at <= 0 || at > 1<<40 {
		return upid{}, false
	}
	u = upid{node: parts[1], pid: pid, start: time.Unix(at, 0).UTC(), typ: parts[5], id: parts[6], user: parts[7]}
	return u, u.node != "" && u.typ != "" && u.user != ""
}
