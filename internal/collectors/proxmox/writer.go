package proxmox

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// inAccessLog names the request log of pveproxy, which has the sender of each request.
const inAccessLog = " in /var/log/pveproxy/access.log of the nodes, which names the sender of each request"

// writerUnknown returns the reason why the author of a change of a kind may be unknown, and where
// to find the author.
func (sc *scan) writerUnknown(kind string) string {
	switch {
	case kind != normalize.QEMU && kind != normalize.LXC:
		return "Proxmox VE does not log changes of this kind: look for " + writePath(kind) + inAccessLog
	case sc.config.LogSince == 0:
		return "the logs of the cluster are not read because log_since is 0: set log_since to see who changed guests"
	case kind == normalize.LXC:
		return sc.taskLogReason() + ", and Proxmox VE does not log edits of containers: look for /lxc/" + inAccessLog
	case sc.clusterLogError != "":
		return sc.taskLogReason() + ", and the cluster log could not be read: " + sc.clusterLogError
	case !sc.clusterLogComplete && sc.taskLogReason() == notInTaskLog:
		return noClusterLogReason
	case !sc.clusterLogComplete:
		return sc.taskLogReason() + "; the cluster log requires Sys.Syslog on / (docs/proxmox.md)"
	}
	return "the change is not in the cluster log, which keeps only the newest entries and does not record edits of files in /etc/pve; look for /qemu/" + inAccessLog
}

// deleterUnknown returns why the author of a deletion may be unknown. Only the task log
// records deletions of guests.
func (sc *scan) deleterUnknown(kind string) string {
	guest := map[string]string{normalize.QEMU: "/qemu/", normalize.LXC: "/lxc/"}[kind]
	switch {
	case guest == "" || sc.config.LogSince == 0:
		return sc.writerUnknown(kind)
	case sc.taskLogReason() != notInTaskLog:
		return sc.taskLogReason()
	}
	return notInTaskLog + ", where nodes keep only the newest tasks; look for " + guest + inAccessLog
}

const notInTaskLog = "the change is not in the task log"

// taskLogReason returns why no task names the author, in particular if some tasks were not
// read.
func (sc *scan) taskLogReason() string {
	where, lacks := sc.rights.missing(need{privilege: "Sys.Audit", path: "/nodes"})
	switch {
	case lacks && sc.rightsErr == nil:
		return "the task log shows the tasks of other users only with Sys.Audit (" + sc.config.lacking("Sys.Audit", where) + ")"
	case sc.taskLogError != "":
		return "a task log could not be read: " + sc.taskLogError
	}
	return notInTaskLog
}

// noClusterLogReason is the reason why most authors of changes of virtual machines are unknown
// to an account that only has the role PVEAuditor.
const noClusterLogReason = notInTaskLog + "; the cluster log may have it, but requires Sys.Syslog on / (docs/proxmox.md)"

// writePath returns a prefix or a part of the API paths that change objects of a kind.
func writePath(kind string) string {
	for _, r := range clusterEndpoints() {
		if slices.Contains(r.kinds, kind) {
			path, _, _ := strings.Cut(r.path, "?")
			return path
		}
	}
	switch {
	case kind == normalize.ACL:
		return "/access/acl"
	case strings.HasPrefix(kind, Type+"/firewall_"):
		return "/firewall/"
	}
	return "/nodes/"
}
