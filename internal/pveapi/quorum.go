package pveapi

import (
	"fmt"

	"github.com/driftd/driftd/internal/model"
)

// WithoutQuorum returns the reason, according to a response of /cluster/status, why the responding
// node may have an outdated copy of the configuration: it has no quorum. It returns "" if the node
// has a quorum or is not part of a cluster.
func WithoutQuorum(status model.Value) string {
	name, node, quorate := "", "", true
	for _, row := range status.Items() {
		switch row.At("type").Text() {
		case "cluster":
			name, quorate = row.At("name").Text(), Truth(row.At("quorate"))
		case "node":
			if Truth(row.At("local")) {
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

// Truth reports whether a value is one of the notations of true in Proxmox VE: 1, true, yes and on.
func Truth(v model.Value) bool {
	switch v.Text() {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}
