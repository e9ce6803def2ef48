package proxmox

import (
	"cmp"
	"context"
	"fmt"

	"github.com/driftd/driftd/internal/pveapi"
)

// readWithQuorum reads the cluster, and checks before and after whether the node that answers
// has a quorum. Without a quorum, a node answers every request from its own copy of the
// configuration, which may be outdated.
func (sc *scan) readWithQuorum(ctx context.Context, brief bool) {
	before := sc.quorum(ctx)
	sc.read(ctx, brief)
	sc.checkRights(ctx)
	sc.stale = cmp.Or(before, sc.quorum(ctx))
}

// quorum returns the reason why the node that responds may have an outdated copy of the
// configuration; "" if it has a quorum or is not part of a cluster.
func (sc *scan) quorum(ctx context.Context) string {
	data, err := sc.api.Get(ctx, "/cluster/status")
	if err == nil {
		return pveapi.WithoutQuorum(data)
	}
	// Without Sys.Audit on /, an account can still see which nodes are online.
	data, err = sc.api.Get(ctx, "/nodes")
	if err != nil {
		return "" // a failure is reported by the readers of the objects
	}
	online, all := 0, 0
	for _, row := range data.Items() {
		all++
		if row.At("status").Str() == "online" {
			online++
		}
	}
	if all > 1 && 2*online <= all {
		return fmt.Sprintf("%d of %d nodes are online, so that the node that answers may have no quorum and an old copy of the "+
			"configuration: see pvecm status; %s lets driftd read whether it has", online, all, sc.config.grant("/"))
	}
	return ""
}
