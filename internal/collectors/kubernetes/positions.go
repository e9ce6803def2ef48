package kubernetes

import (
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A progress is how far a target had come when it was read.
type progress struct {
	// version is the resourceVersion of the list, or of a later event of its watch;
	// asked is when the list was asked for.
	version string
	asked   time.Time
}

// positions returns how far the targets that were listed had come, as of reports it.
// Only kinds that the API server keeps itself have a position: its resourceVersion is
// the revision of etcd, which never goes back. What an aggregated API server calls a
// resourceVersion may.
func (l *look) positions(of func(target) progress) []model.Position {
	aggregated, known := l.aggregated()
	lineage := l.lineage()
	var all []model.Position
	for i := range l.listings {
		t := l.listings[i].target
		if aggregated[t.group] || !known && strings.Contains(t.group, ".") {
			continue
		}
		p := of(t)
		if version, err := strconv.ParseInt(p.version, 10, 64); err == nil && version > 0 {
			all = append(all, model.Position{Scope: model.Scope{Kind: t.kind, Place: t.namespace}, Name: "the resourceVersion of " + t.resource,
				Value: version, Lineage: lineage, Asked: p.asked})
		}
	}
	return all
}

// aggregated returns the groups that other servers serve for the API server; known
// is false where it does not show them.
func (l *look) aggregated() (groups map[string]bool, known bool) {
	groups = map[string]bool{}
	for i := range l.listings {
		if l.listings[i].kind != "kubernetes/APIService.apiregistration.k8s.io" || l.listings[i].err != nil {
			continue
		}
		known = true
		for _, r := range l.listings[i].resources {
			if spec := r.Value.At("spec"); !spec.At("service").IsEmpty() {
				groups[spec.At("group").Str()] = true
			}
		}
	}
	return groups, known
}

// lineage identifies the cluster by the namespace kube-system, which lasts as long
// as the cluster and is restored with it; "" where that is not seen.
func (l *look) lineage() string {
	for i := range l.listings {
		if l.listings[i].kind != "kubernetes/Namespace" {
			continue
		}
		for _, r := range l.listings[i].resources {
			if r.ID == "kube-system" {
				return r.Origin.UID
			}
		}
	}
	return ""
}
