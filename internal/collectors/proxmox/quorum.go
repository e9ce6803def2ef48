package proxmox

import (
	"cmp"
	"context"
	"fmt"

	"github.com/driftd/driftd/internal/model"
)

// readWithQuorum reads what is there, and finds out whether the node that answers
// had a quorum before and after. Without one it answers every read from its copy
// of the configuration, which the rest of the cluster may have changed since.
func (l *look) readWithQuorum(ctx context.Context, brief bool) {
	before := l.quorum(ctx)
	l.read(ctx, brief)
	l.stale = cmp.Or(before, l.quorum(ctx))
}

// quorum returns why the node that answers may have an old copy; "" where it has
// a quorum, or belongs to no cluster.
func (l *look) quorum(ctx context.Context) string {
	data, err := l.api.Get(ctx, "/cluster/status")
	if err == nil {
		return withoutQuorum(data)
	}
	// Who lacks Sys.Audit on / may still see which nodes are online.
	data, err = l.api.Get(ctx, "/nodes")
	if err != nil {
		return "" // What cannot be read is told where it is missed.
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
			"configuration: see pvecm status; %s lets driftd read whether it has", online, all, l.config.grant("/"))
	}
	return ""
}

// withoutQuorum returns what an answer of /cluster/status says of a node that has
// no quorum, or "".
func withoutQuorum(status model.Value) string {
	name, node, quorate := "", "", true
	for _, row := range status.Items() {
		switch row.At("type").Text() {
		case "cluster":
			name, quorate = row.At("name").Text(), truth(row.At("quorate"))
		case "node":
			if truth(row.At("local")) {
				node = row.At("name").Text()
			}
		}
	}
	if quorate {
		return ""
	}
	return fmt.Sprintf("node %s has no quorum in cluster %s, and answers from its own copy of the configuration, which may be old: "+
		"see pvecm status, and name a node of the majority in url", node, name)
}
