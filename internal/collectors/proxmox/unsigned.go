package proxmox

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
)

// requests is where every node's pveproxy keeps a list of the requests, with who
// sent them.
const requests = " in /var/log/pveproxy/access.log of the nodes, which names who sent requests"

// unsigned says of a kind why nobody may be known to have made or changed one,
// and where to look instead.
func (l *look) unsigned(kind string) string {
	switch {
	case kind != normalize.QEMU && kind != normalize.LXC:
		return "Proxmox VE logs no change of this kind: look for " + apiOf(kind) + requests
	case l.config.LogSince == 0:
		return "the cluster's logs are not read: log_since is 0; set it to be told who changed things"
	case kind == normalize.LXC:
		return l.noTask() + ", and Proxmox VE logs no edit of a container: look for /lxc/" + requests
	case l.clusterFault != "":
		return l.noTask() + ", and the cluster log could not be read: " + l.clusterFault
	case !l.logged && l.noTask() == silentTasks:
		return LogReason
	case !l.logged:
		return l.noTask() + "; the cluster log takes Sys.Syslog on / (docs/proxmox.md)"
	}
	return "the cluster log does not tell of it: it keeps the newest entries only, and an edited file in /etc/pve leaves none; look for /qemu/" + requests
}

// unsignedGone says of a kind why nobody may be known to have deleted one. Of
// guests the task log alone tells that.
func (l *look) unsignedGone(kind string) string {
	guest := map[string]string{normalize.QEMU: "/qemu/", normalize.LXC: "/lxc/"}[kind]
	switch {
	case guest == "" || l.config.LogSince == 0:
		return l.unsigned(kind)
	case l.noTask() != silentTasks:
		return l.noTask()
	}
	return silentTasks + ": nodes keep the newest tasks only; look for " + guest + requests
}

const silentTasks = "the task log does not tell of it"

// noTask says that no task tells who did something, and why, where it may be that
// not all of them were seen.
func (l *look) noTask() string {
	where, lacks := l.rights.missing(need{privilege: "Sys.Audit", path: "/nodes"})
	switch {
	case lacks && l.unsure == nil:
		return "the task log shows the tasks of others with Sys.Audit alone (" + l.config.lacking("Sys.Audit", where) + ")"
	case l.taskFault != "":
		return "a task log could not be read: " + l.taskFault
	}
	return silentTasks
}

// LogReason says why the author of most changes of virtual machines is not
// known to an account that PVEAuditor alone lets read.
const LogReason = silentTasks + "; the cluster log may, which takes Sys.Syslog on / (docs/proxmox.md)"

// apiOf is the beginning, or a part, of the paths by which a kind is written.
func apiOf(kind string) string {
	for _, r := range clusterReadings() {
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
