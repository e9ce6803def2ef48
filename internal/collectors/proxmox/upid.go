package proxmox

import (
	"strconv"
	"strings"
	"time"
)

// A upid is the parsed id of a task:
//
//	UPID:node:pid:pstart:starttime:type:id:user@realm[!token]:
//
// The numbers are hexadecimal (PVE::Tools::upid_encode).
type upid struct {
	node  string
	pid   int64
	start time.Time
	typ   string
	// id is the object of the task, such as the id of a guest, or "".
	id   string
	user string
}

// parseUPID parses the id of a task. ok is false if text is not one.
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
