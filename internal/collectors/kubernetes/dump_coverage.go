package kubernetes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// snapshot returns the snapshot of the dump.
func (d *dumpContent) snapshot() (model.Snapshot, error) {
	kinds, err := d.kinds()
	if err != nil {
		return model.Snapshot{}, fmt.Errorf("read dump %s: %w", d.config.Dump, err)
	}
	s := model.Snapshot{Source: d.env.Name, Taken: d.taken, Kinds: withWriterUnknown(kinds, "a dump does not record deletions"), Coverage: d.coverage(kinds)}
	for _, name := range slices.Sorted(maps.Keys(d.byKind)) {
		k := d.byKind[name]
		for _, id := range slices.Sorted(maps.Keys(k.byID)) {
			s.Resources = append(s.Resources, k.byID[id])
		}
	}
	return finish(s), nil
}

// kinds returns the kinds of the dump's objects, from the built-in schemas and from the
// custom resource definitions in the dump.
func (d *dumpContent) kinds() (map[string]*model.Kind, error) {
	known, err := d.builtin()
	if err != nil {
		return nil, err
	}
	known = maps.Clone(known)
	for _, definition := range d.defined {
		maps.Copy(known, kube.KindsFromCRD(definition))
	}
	kinds := map[string]*model.Kind{}
	for name, k := range d.byKind {
		group, version, ok := strings.Cut(k.version, "/")
		if !ok {
			group, version = "", k.version
		}
		plain := api{kind: name, group: group, version: version, namespaced: k.namespaced}
		if kind := known[name]; kind != nil {
			plain.namespaced = kind.Namespaced
		}
		kinds[name] = plain.as(known[name])
	}
	return kinds, nil
}

// coverage returns the coverage of the dump. A kind with objects in the dump is complete in
// every namespace with objects in the dump.
func (d *dumpContent) coverage(kinds map[string]*model.Kind) []model.Coverage {
	rest := model.Coverage{Source: d.env.Name, Complete: d.config.DumpComplete && d.fault == ""}
	if !rest.Complete {
		rest.Skipped, rest.Reason = d.fault == "", d.unproven("of this kind")
	}
	all := []model.Coverage{rest}
	for kind := range d.excluded {
		all = append(all, model.Coverage{Source: d.env.Name, Kind: kind, Skipped: true, Reason: excludedReason})
	}
	for name := range d.byKind {
		all = append(all, d.kindCoverage(kinds[name])...)
	}
	return all
}

func (d *dumpContent) kindCoverage(kind *model.Kind) []model.Coverage {
	whole := model.Coverage{Source: d.env.Name, Kind: kind.Name}
	unreadable := d.byKind[kind.Name].unreadable
	switch {
	case len(unreadable) > 0:
		whole.Reason = unreadableReason(unreadable)
		return []model.Coverage{whole}
	case d.fault != "":
		whole.Reason = d.unproven("")
		return []model.Coverage{whole}
	case !kind.Namespaced || d.config.DumpComplete:
		whole.Complete = true
		return []model.Coverage{whole}
	}
	whole.Skipped, whole.Reason = true, d.unproven("in this namespace")
	all := []model.Coverage{whole}
	for namespace := range d.namespaces {
		all = append(all, model.Coverage{Source: d.env.Name, Kind: kind.Name, Place: namespace, Complete: true})
	}
	return all
}

// unproven returns the reason why the dump does not prove that an object is absent.
func (d *dumpContent) unproven(what string) string {
	if d.fault != "" {
		return fmt.Sprintf("the dump cannot be read completely: %s; write it again with: %s", d.fault, dumpCommand)
	}
	return fmt.Sprintf("the dump holds no object %s: if it is complete, set dump_complete (--live-complete); else write it with: %s", what, dumpCommand)
}
