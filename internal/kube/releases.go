package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// ReleaseVersion and ReleaseObject are the API version and the kind of a Helm release as an object.
// No API server has this kind, since the group of a custom resource contains a dot.
const (
	ReleaseVersion = "helm/v1"
	ReleaseObject  = "Release"
)

// ReleaseKind is the kind of Helm releases, which AddReleases derives from the records in Secrets.
const ReleaseKind = "kubernetes/Release.helm"

// NewRelease returns a Helm release as an object. The argument values contains the values that the
// user set.
func NewRelease(namespace, name string, values model.Value) model.Value {
	return model.MapOf(
		model.Field{Name: "apiVersion", Value: model.StringOf(ReleaseVersion)},
		model.Field{Name: "kind", Value: model.StringOf(ReleaseObject)},
		model.Field{Name: "metadata", Value: model.MapOf(model.Field{Name: "namespace", Value: model.StringOf(namespace)}, model.Field{Name: "name", Value: model.StringOf(name)})},
		model.Field{Name: "values", Value: values})
}

// releaseKind describes how releases are compared: a value that is false or empty differs from
// an absent one, because the chart may have another default.
func releaseKind() *model.Kind {
	values := &model.Schema{Content: true}
	values.Each = values
	return &model.Kind{Name: ReleaseKind, Namespaced: true, Version: ReleaseVersion,
		Schema: &model.Schema{Fields: map[string]*model.Schema{"values": values}}}
}

// A revision is a Secret with the record of a revision of a release.
type revision struct {
	secret *model.Resource
	number int
	// record is nil if the revision does not count.
	record *model.Installation
}

// AddReleases adds the Helm releases to a snapshot whose Secrets contain records. Relate must be
// called before it.
func AddReleases(s *model.Snapshot) {
	// Secrets that were not read are no kind of the snapshot.
	s.Coverage = append(s.Coverage, releaseCoverage(s)...)
	if s.Kinds[secretKind] == nil {
		return
	}
	s.Kinds[ReleaseKind] = releaseKind()
	s.Kinds[ReleaseKind].WriterUnknown = s.Kinds[secretKind].WriterUnknown
	all, makers := map[string][]revision{}, map[string][]model.Ref{}
	for i := range s.Resources {
		r := &s.Resources[i]
		if id := releaseMadeBy(r); id != "" {
			makers[id] = append(makers[id], model.Ref{Kind: r.Kind, ID: r.ID})
		}
		if name, number, ok := releaseOf(r.Name); ok && r.Kind == secretKind {
			all[r.Place+"/"+name] = append(all[r.Place+"/"+name], revision{r, number, r.Record})
			r.Record = nil // the release has it
		}
	}
	added := make([]model.Resource, 0, len(all))
	for id, revisions := range all {
		r, unread := newRelease(s, id, revisions)
		switch {
		case unread != nil:
			s.Unread = append(s.Unread, *unread)
		case r != nil:
			r.Makers = makers[id]
			added = append(added, *r)
		}
	}
	s.Resources = append(slices.Clip(s.Resources), added...)
	slices.SortFunc(s.Resources, func(a, b model.Resource) int { return a.Compare(b.Key) })
	slices.SortFunc(s.Unread, func(a, b model.Unread) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
}

// releaseCoverage returns the scopes in which releases were not read because Secrets were not.
func releaseCoverage(s *model.Snapshot) []model.Coverage {
	var all []model.Coverage
	found := false
	for _, c := range s.Coverage {
		if c.Kind != secretKind {
			continue
		}
		found = true
		if c.Kind = ReleaseKind; !c.Complete {
			c.Skipped = true // the coverage of Secrets reports the failure
		}
		all = append(all, c)
	}
	if !found {
		covered, _ := s.Covers(ReleaseKind, "")
		if whole, reason := s.Covers(secretKind, ""); covered && !whole {
			all = append(all, model.Coverage{Source: s.Source, Kind: ReleaseKind, Skipped: true, Reason: reason})
		}
	}
	if !slices.ContainsFunc(all, func(c model.Coverage) bool { return !c.Complete }) {
		return nil
	}
	return all
}

// releaseMadeBy returns the ID of the release that a controller makes for a custom resource;
// "" for another resource. The names of long releases are not known.
// https://fluxcd.io/flux/components/helm/helmreleases/, https://docs.k3s.io/helm
func releaseMadeBy(r *model.Resource) string {
	spec := r.Value.At("spec")
	switch plainKind(r.Kind) {
	case "HelmRelease.helm.toolkit.fluxcd.io":
		target := spec.At("targetNamespace").Str()
		name := cmp.Or(spec.At("releaseName").Str(), strings.TrimPrefix(target+"-"+r.Name, "-"))
		return cmp.Or(spec.At("storageNamespace").Str(), r.Place) + "/" + name
	case "HelmChart.helm.cattle.io":
		return cmp.Or(spec.At("targetNamespace").Str(), r.Place) + "/" + r.Name
	}
	return ""
}

// newRelease returns a release according to its revisions, or nil if none is relevant. unread is
// set if a relevant one could not be read.
func newRelease(s *model.Snapshot, id string, revisions []revision) (release *model.Resource, unread *model.Unread) {
	last, deployed := choose(revisions)
	if last == nil {
		return nil, nil
	}
	for _, r := range []*revision{deployed, last} {
		if r != nil && r.record.Unread != "" {
			return nil, &model.Unread{Ref: model.Ref{Kind: ReleaseKind, ID: id}, Place: r.secret.Place, Name: r.record.Name,
				Reason: fmt.Sprintf("the record in Secret %s: %s", r.secret.ID, r.record.Unread)}
		}
	}
	now := last
	if deployed != nil {
		now = deployed
	}
	record, secret := *now.record, now.secret
	record.Objects = namedIn(s, record.Objects)
	if last != now {
		record.Status, record.Revision = last.record.Status, last.record.Revision
		record.Objects = doubted(record.Objects, namedIn(s, last.record.Objects))
	}
	made := &model.Resource{
		Key: model.Key{Source: s.Source, Kind: ReleaseKind, ID: id}, Place: secret.Place, Name: record.Name,
		Value:   content(ReleaseKind, NewRelease(secret.Place, record.Name, record.Settings)),
		Created: created(revisions), Updated: last.secret.LastWriter().At, Owners: ownersOfRelease(secret), OwnersFrom: secret.OwnersFrom,
		WriterUnknown: secret.WriterUnknown, Record: &record, Violations: releaseViolations(s, last),
	}
	return made, nil
}

// stuckAfter is the age from which a release whose last operation has not ended is stuck. Helm
// waits for five minutes by default.
const stuckAfter = 15 * time.Minute

// releaseViolations returns the failed check of a release according to its last revision.
func releaseViolations(s *model.Snapshot, last *revision) []model.Violation {
	status := model.StringOf(last.record.Status)
	v := model.Violation{Severity: model.Medium, Path: "status", Value: &status, Actor: last.secret.LastWriter()}
	switch {
	case last.record.Status == "failed":
		v.Check, v.Reason = "helm/failed", "the last operation of Helm failed, and its objects may be applied in part: run helm upgrade again, or helm rollback"
	case strings.HasPrefix(last.record.Status, "pending-") || last.record.Status == "uninstalling":
		if created := last.secret.Created; created.IsZero() || s.Taken.Sub(created) < stuckAfter {
			return nil
		}
		v.Check, v.Reason = "helm/pending", "an operation of Helm did not end, and blocks further ones: run helm history, and helm rollback to the last deployed revision"
	case last.record.Status != "deployed":
		v.Check, v.Reason = "helm/unknown-status", "its last revision has a status that no operation of Helm leaves: check with helm history who wrote it, and delete its Secret if Helm did not"
	default:
		return nil
	}
	return []model.Violation{v}
}

// choose returns the last revision that counts, and the last that is deployed; nil if there is
// none.
func choose(revisions []revision) (last, deployed *revision) {
	slices.SortFunc(revisions, func(a, b revision) int { return cmp.Compare(a.number, b.number) })
	for i := range revisions {
		r := &revisions[i]
		switch {
		case r.record == nil, r.record.Status == "superseded", r.record.Status == "uninstalled":
		case r.record.Status == "deployed":
			last, deployed = r, r
		default:
			last = r
		}
	}
	return last, deployed
}

// created returns when the first revision that is left was created.
func created(revisions []revision) time.Time {
	var first time.Time
	for _, r := range revisions {
		if at := r.secret.Created; first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// namedIn returns the objects of a release with the IDs that they have in the cluster: objects of
// kinds without namespaces have none.
func namedIn(s *model.Snapshot, objects []model.Installed) []model.Installed {
	var named model.Installation
	list := slices.Clone(objects)
	for i := range list {
		o := &list[i]
		if kind := s.Kinds[o.Kind]; kind != nil && !kind.Namespaced {
			o.ID = o.ID[strings.LastIndex(o.ID, "/")+1:]
		}
	}
	named.SetObjects(list)
	return named.Objects
}

// doubted returns the objects of a deployed revision together with those of a later one that may
// have been partly applied. Each object has the value of one of the two.
func doubted(objects, later []model.Installed) []model.Installed {
	next := model.Installation{Objects: later}
	for i := range objects {
		if other := next.Find(objects[i].Ref); other != nil && !other.Value.Equal(objects[i].Value) {
			objects[i].Attempted = other.Value
		}
	}
	for _, o := range later {
		objects = append(objects, model.Installed{Ref: o.Ref, Attempted: o.Value})
	}
	var all model.Installation
	slices.SortStableFunc(objects, func(a, b model.Installed) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	all.Objects = slices.CompactFunc(objects, func(a, b model.Installed) bool { return a.Ref == b.Ref })
	return all.Objects
}

// ownersOfRelease returns the writer of a record as the owner of the values in it.
func ownersOfRelease(secret *model.Resource) []model.Owner {
	var last *model.Owner
	for i := range secret.Owners {
		if o := &secret.Owners[i]; last == nil || !o.At.Before(last.At) {
			last = o
		}
	}
	if last == nil {
		return nil
	}
	owner := *last
	owner.Fields = model.FieldSet{}
	owner.Fields.Put(model.Step{Kind: model.FieldStep, Text: "values"}, model.FieldSet{Self: true})
	return []model.Owner{owner}
}
