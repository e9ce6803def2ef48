package proxmox

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/proxmox/shape"
)

// unsigned says of a kind why nobody may be known to have changed it, and where
// to look instead: every node's pveproxy keeps a list of the requests, with who
// sent them.
func (l *look) unsigned(kind string) string {
	const requests = " in /var/log/pveproxy/access.log of the nodes, which names who sent requests"
	switch {
	case l.config.LogSince == 0:
		return "the cluster's logs are not read: log_since is 0; set it to be told who changed things"
	case kind == shape.LXC:
		return "Proxmox VE logs no edit of a container: look for /lxc/" + requests
	case kind != shape.QEMU:
		return "Proxmox VE logs no change of this kind: look for " + apiOf(kind) + requests
	case !l.logged:
		return LogReason
	}
	return "the cluster log does not tell of it: it keeps the newest entries only, and an edited file in /etc/pve leaves none; look for /qemu/" + requests
}

// LogReason says why the author of most changes of virtual machines is not
// known to an account that PVEAuditor alone lets read.
const LogReason = "the task log does not tell of it; the cluster log may, which takes Sys.Syslog on / (docs/proxmox.md)"

// apiOf is the beginning, or a part, of the paths by which a kind is written.
func apiOf(kind string) string {
	for _, r := range clusterReadings() {
		if slices.Contains(r.kinds, kind) {
			path, _, _ := strings.Cut(r.path, "?")
			return path
		}
	}
	switch {
	case kind == shape.ACL:
		return "/access/acl"
	case strings.HasPrefix(kind, Type+"/firewall_"):
		return "/firewall/"
	}
	return "/nodes/"
}
