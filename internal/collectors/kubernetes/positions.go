package kubernetes

import (
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A progress is the version of a target.
type progress struct {
	// version is the resourceVersion of the list, or of a later event of its watch. asked
	// is when the list was requested.
	version string
	asked   time.Time
}

// positions returns the positions of the listed targets, based on the progress that the function of
// returns. Only kinds that the API server itself stores have a position: their resourceVersion is
// the revision of etcd, which never decreases. That of an aggregated API server may decrease.
func (sc *scan) positions(of func(target) progress) []model.Position {
	aggregated, known := sc.aggregated()
	lineage := sc.lineage()
	var all []model.Position
	for i := range sc.listings {
		t := sc.listings[i].target
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

// aggregated returns the groups of aggregated API servers. If the list of APIServices could not be
// read, known is false.
func (sc *scan) aggregated() (groups map[string]bool, known bool) {
	groups = map[string]bool{}
	for i := range sc.listings {
		if sc.listings[i].kind != "kubernetes/APIService.apiregistration.k8s.io" || sc.listings[i].err != nil {
			continue
		}
		known = true
		for _, r := range sc.listings[i].resources {
			if spec := r.Value.At("spec"); !spec.At("service").IsEmpty() {
				groups[spec.At("group").Str()] = true
			}
		}
	}
	return groups, known
}

// lineage returns the UID of the namespace kube-system, which exists as long as the cluster
// and is restored with it; "" if the namespace was not read.
func (sc *scan) lineage() string {
	for i := range sc.listings {
		if sc.listings[i].kind != "kubernetes/Namespace" {
			continue
		}
		for _, r := range sc.listings[i].resources {
			if r.ID == "kube-system" {
				return r.Origin.UID
			}
		}
	}
	return ""
}
