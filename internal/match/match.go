// Package match pairs live resources with the claims on them. Its functions are pure, and their
// results do not depend on the order of declarations and of resources.
package match

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// Match returns the subjects of a source, sorted by key: one for each resource in the snapshot, and
// one for each claimed resource that is not in it. Each declaration claims resources in the sources
// that it governs. For a source that could not be read, the snapshot must have no resources and a
// coverage with the reason.
func Match(snapshot model.Snapshot, declarations []model.Declaration) []model.Subject {
	return matcher(inOrder(declarations)).match(&snapshot)
}

// inOrder returns the declarations sorted by name, each with its problems sorted by
// address: of several that apply to a resource, the first is named.
func inOrder(declarations []model.Declaration) []model.Declaration {
	sorted := slices.Clone(declarations)
	slices.SortStableFunc(sorted, func(a, b model.Declaration) int { return cmp.Compare(a.Name, b.Name) })
	for i := range sorted {
		d := &sorted[i]
		d.Problems = slices.Clone(d.Problems)
		slices.SortStableFunc(d.Problems, func(a, b model.Problem) int { return cmp.Compare(a.Address, b.Address) })
	}
	return sorted
}

// A matcher has the declarations, sorted by name.
type matcher []model.Declaration

// kind returns the named kind of the source or, if that has no schema, the kind that a declaration
// defines.
func (m matcher) kind(snapshot *model.Snapshot, name string) *model.Kind {
	kind := snapshot.Kinds[name]
	if kind != nil && kind.Schema != nil {
		return kind
	}
	for i := range m {
		defined := m[i].Kinds[name]
		if defined == nil || !slices.Contains(m[i].Governs, snapshot.Source) {
			continue
		}
		if kind == nil {
			return defined
		}
		merged := *defined
		merged.Version, merged.Namespaced, merged.WriterUnknown = kind.Version, kind.Namespaced, kind.WriterUnknown
		return &merged
	}
	return kind
}

func (m matcher) match(snapshot *model.Snapshot) []model.Subject {
	claims := m.claims(snapshot)
	governance, broad := m.governance(snapshot, claims), map[string][]model.AuditEvent{}
	dropped, installers, inventories := m.dropped(snapshot), installersIn(snapshot), m.inventories(snapshot, claims)
	subjects, inPart := make([]model.Subject, 0, len(snapshot.Resources)), map[model.Ref]bool{}
	for i := range snapshot.Resources {
		r := &snapshot.Resources[i]
		ref := model.Ref{Kind: r.Kind, ID: r.ID}
		if _, ok := broad[r.Kind]; !ok {
			broad[r.Kind] = broadEvents(snapshot, r.Kind)
		}
		var made []*model.Claim
		if on := claims[ref]; on != nil {
			on.live, made = true, withoutChildren(snapshot, r, on.claims)
		}
		expected := governance.expect(r, made, claims)
		subjects = append(subjects, model.Subject{Key: r.Key, Place: r.Place, Name: r.Name, Live: checkFetched(inventories.check(r), made, snapshot.Taken),
			Kind: m.kind(snapshot, r.Kind), Claims: made, UndeclaredBy: expected.undeclaredBy, Outside: expected.outside, Partial: expected.partial, Unjudged: expected.unjudged,
			AuditEvents: eventsWithFormer(snapshot, r, made), BroadEvents: broad[r.Kind],
			Dropped:   m.droppedFrom(expected.undeclaredBy, dropped[ref]),
			Delegated: declaredBy(r.Delegated, claims), Admission: declaredOf(r.Admission, claims), Stale: snapshot.StaleIn(r.Kind, r.Place)})
		if _, unread := findUnread(snapshot, ref); unread {
			inPart[ref] = true
		}
		if last := &subjects[len(subjects)-1]; len(made) == 0 {
			last.InstalledBy = installers[ref]
			last.LeftBy = leftBy(snapshot, r, last.InstalledBy)
			if declaredByObjects(r, claims) {
				last.UndeclaredBy = nil
			}
		}
	}
	for ref, on := range claims {
		if !on.live {
			subjects = append(subjects, m.absentSubject(snapshot, ref, on.claims))
		}
	}
	subjects = append(subjects, m.unreadable(snapshot, claims, inPart, governance)...)
	slices.SortFunc(subjects, func(a, b model.Subject) int { return a.Key.Compare(b.Key) })
	addTemplates(snapshot, subjects)
	addAutomatic(subjects)
	return subjects
}

// withoutChildren returns the claims on a resource without the fields whose elements are resources
// of their own in the snapshot.
func withoutChildren(snapshot *model.Snapshot, r *model.Resource, claims []*model.Claim) []*model.Claim {
	for i, c := range claims {
		for _, children := range c.Children {
			if complete, _ := snapshot.Covers(children.Kind, r.Place); !complete {
				continue
			}
			if c == claims[i] {
				claims = slices.Clone(claims)
			}
			without := *c
			without.Value = c.Value.Without(children.Field)
			if c.Recorded != nil {
				recorded := c.Recorded.Without(children.Field)
				without.Recorded = &recorded
			}
			if c.LiveRead != nil {
				read := *c.LiveRead
				read.Value = read.Value.Without(children.Field)
				without.LiveRead = &read
			}
			c, claims[i] = &without, &without
		}
	}
	return claims
}

// absentSubject returns the subject for claims on a resource that is not in the snapshot.
func (m matcher) absentSubject(snapshot *model.Snapshot, ref model.Ref, claims []*model.Claim) model.Subject {
	s := model.Subject{Key: model.Key{Source: snapshot.Source, Kind: ref.Kind, ID: ref.ID}, Place: claims[0].Place,
		Name: claimedName(claims), Kind: m.kind(snapshot, ref.Kind), Claims: claims, AuditEvents: eventsOnAbsent(snapshot, ref, claims)}
	if addLiveRead(&s, snapshot) {
		return s
	}
	// The ID of another claim is certain.
	sure := slices.ContainsFunc(claims, func(c *model.Claim) bool { return !c.ByIdentity })
	for _, c := range claims {
		if !sure || !c.ByIdentity {
			s.Unread = cmp.Or(s.Unread, absenceDoubt(snapshot, c))
		}
	}
	return s
}

// addLiveRead sets whether an absent resource exists according to the engine of a declaration, if
// the snapshot does not prove that it is absent. It returns false if no engine read the resource.
func addLiveRead(s *model.Subject, snapshot *model.Snapshot) bool {
	at := slices.IndexFunc(s.Claims, func(c *model.Claim) bool { return c.LiveRead.Read() })
	if at < 0 {
		return false
	}
	c := s.Claims[at]
	doubt := absenceDoubt(snapshot, c)
	if doubt == "" && snapshot.Taken.After(c.LiveRead.At) {
		return true
	}
	if !c.LiveRead.Value.IsNull() {
		s.Live = &model.Resource{Key: s.Key, Place: s.Place, Name: s.Name, Value: c.LiveRead.Value,
			WriterUnknown: cmp.Or(doubt, "the list of "+s.Source+" is older than the resource")}
	}
	return true
}

// claimedName returns the name of a resource in the claims; some have its ID only.
func claimedName(claims []*model.Claim) string {
	for _, c := range claims {
		if c.Name != "" && c.Name != c.ID {
			return c.Name
		}
	}
	return claims[0].Name
}

func compareRefs(a, b model.Ref) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
}

// eventsOn returns the entries of the source's logs on a resource.
func eventsOn(snapshot *model.Snapshot, ref model.Ref) []model.AuditEvent {
	all := snapshot.AuditEvents
	first, _ := sort.Find(len(all), func(i int) int { return compareRefs(ref, all[i].Ref) })
	last := first
	for last < len(all) && all[last].Ref == ref {
		last++
	}
	return all[first:last]
}

// eventsOnAbsent returns the entries of the source's logs about a resource that is not live. It
// includes the deletions of resources whose ID is an identity of a claim, such as the number of a
// guest, and of those that an entry describes by a name in LogNames.
func eventsOnAbsent(snapshot *model.Snapshot, ref model.Ref, claims []*model.Claim) []model.AuditEvent {
	all := append(slices.Clip(eventsOn(snapshot, ref)), eventsByName(snapshot, ref, claims, model.Deleted)...)
	for _, c := range claims {
		if !c.ByIdentity {
			continue
		}
		for id := range identitiesOf(c) {
			meant := model.Ref{Kind: id.kind, ID: id.Value}
			if id.By == "name" || meant == ref {
				continue
			}
			all = append(slices.Clip(all), eventsOf(snapshot, meant, model.Deleted)...)
		}
	}
	slices.SortStableFunc(all, func(a, b model.AuditEvent) int { return a.Actor.At.Compare(b.Actor.At) })
	return all
}

// broadEvents returns the entries of the source's logs that concern any resource of a
// kind.
func broadEvents(snapshot *model.Snapshot, kind string) []model.AuditEvent {
	all := slices.Concat(eventsOn(snapshot, model.Ref{}), eventsOn(snapshot, model.Ref{Kind: kind}))
	slices.SortStableFunc(all, func(a, b model.AuditEvent) int { return a.Actor.At.Compare(b.Actor.At) })
	return all
}

// sinceCreation returns the entries of all that are about the present resource, of those with its ID: an earlier
// resource may have had the ID, such as a name. created is the time of its creation, or zero.
func sinceCreation(all []model.AuditEvent, created time.Time) []model.AuditEvent {
	for i := len(all) - 1; i >= 0; i-- {
		switch t := &all[i]; {
		case t.Action == model.Created:
			// Logs have whole seconds: an edit may come before.
			for i > 0 && all[i-1].Action == model.Edited && all[i-1].Actor.At.Equal(t.Actor.At) {
				i--
			}
			return all[i:]
		case t.Action == model.Deleted && (created.IsZero() || t.Actor.At.Before(created)):
			return all[i+1:]
		}
	}
	return all
}

// eventsWithFormer returns the entries of the source's logs about a resource and the deletions of
// the resources that it replaced. Of the entries that describe a resource by a name in LogNames, it
// includes only edits, since another resource with the same contents may have been deleted.
func eventsWithFormer(snapshot *model.Snapshot, r *model.Resource, claims []*model.Claim) []model.AuditEvent {
	ref := model.Ref{Kind: r.Kind, ID: r.ID}
	all := sinceCreation(eventsOn(snapshot, ref), r.Created)
	more := eventsByName(snapshot, ref, claims, model.Edited)
	for _, c := range claims {
		if c.Former != "" {
			more = append(more, eventsOf(snapshot, model.Ref{Kind: ref.Kind, ID: c.Former}, model.Deleted)...)
		}
	}
	if len(more) == 0 {
		return all
	}
	all = append(more, all...)
	slices.SortStableFunc(all, func(a, b model.AuditEvent) int { return a.Actor.At.Compare(b.Actor.At) })
	return all
}

// eventsByName returns the entries of the source's logs of one action that have a further name of the
// claims' resource. Those before its creation concern an earlier one with the same contents.
func eventsByName(snapshot *model.Snapshot, ref model.Ref, claims []*model.Claim, action model.Action) []model.AuditEvent {
	var all []model.AuditEvent
	for _, c := range claims {
		for _, name := range c.LogNames {
			all = append(all, eventsOf(snapshot, model.Ref{Kind: ref.Kind, ID: name}, action)...)
		}
	}
	for _, made := range eventsOf(snapshot, ref, model.Created) {
		all = slices.DeleteFunc(all, func(t model.AuditEvent) bool { return t.Actor.At.Before(made.Actor.At) })
	}
	return all
}

// eventsOf returns the entries of the source's logs of one action on a resource.
func eventsOf(snapshot *model.Snapshot, ref model.Ref, action model.Action) []model.AuditEvent {
	return slices.DeleteFunc(slices.Clone(eventsOn(snapshot, ref)), func(t model.AuditEvent) bool { return t.Action != action })
}

// subjectAt returns the position of the subject with a key among sorted ones.
func subjectAt(subjects []model.Subject, key model.Key) (at int, found bool) {
	return sort.Find(len(subjects), func(i int) int { return key.Compare(subjects[i].Key) })
}

// claimed are the claims on resources of a source by resource.
type claimed map[model.Ref]*claimsOn

// claimsOn are the claims on a resource, sorted by declaration and address.
type claimsOn struct {
	claims []*model.Claim
	// live reports whether the resource was found in the snapshot.
	live bool
}

// on returns the claims on a resource.
func (c claimed) on(ref model.Ref) []*model.Claim {
	if found := c[ref]; found != nil {
		return found.claims
	}
	return nil
}

// claims returns the claims on resources of the source.
func (m matcher) claims(snapshot *model.Snapshot) claimed {
	var made []*model.Claim
	for i := range m {
		d := &m[i]
		if !slices.Contains(d.Governs, snapshot.Source) {
			continue
		}
		for j := range d.Claims {
			if s := d.Claims[j].Source; s == "" || s == snapshot.Source {
				made = append(made, withLiveID(&d.Claims[j], snapshot))
			}
		}
	}
	slices.SortStableFunc(made, func(a, b *model.Claim) int {
		return cmp.Or(cmp.Compare(a.Declaration, b.Declaration), cmp.Compare(a.Address, b.Address))
	})
	newFinder(snapshot, made).resolve(made)
	made = withRecords(snapshot, made)
	claims := make(claimed, len(made))
	for _, c := range made {
		ref := model.Ref{Kind: c.Kind, ID: c.ID}
		if claims[ref] == nil {
			claims[ref] = &claimsOn{}
		}
		claims[ref].claims = append(claims[ref].claims, c)
	}
	return claims
}

// withLiveID returns the claim with AltID if the live system reports that the kind has no
// places.
func withLiveID(c *model.Claim, snapshot *model.Snapshot) *model.Claim {
	kind := snapshot.Kinds[c.Kind]
	if c.AltID == "" || kind == nil || kind.Namespaced {
		return c
	}
	settled := *c
	settled.ID, settled.Place = c.AltID, ""
	return &settled
}
