package match

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/suggest"
)

// An identified is an identity of a resource of a kind.
type identified struct {
	kind string
	model.Identity
}

// A finder resolves claims to live resources by their identities.
type finder struct {
	snapshot   *model.Snapshot
	live       map[model.Ref]*model.Resource
	byIdentity map[identified][]model.Ref
}

// newFinder returns a finder, or nil if no claim has an identity or a cohort.
func newFinder(snapshot *model.Snapshot, claims []*model.Claim) *finder {
	if !slices.ContainsFunc(claims, func(c *model.Claim) bool { return len(c.Identities) > 0 || c.Cohort != "" }) {
		return nil
	}
	f := &finder{snapshot: snapshot, live: make(map[model.Ref]*model.Resource, len(snapshot.Resources)),
		byIdentity: make(map[identified][]model.Ref, len(snapshot.Resources))}
	for i := range snapshot.Resources {
		r := &snapshot.Resources[i]
		ref := model.Ref{Kind: r.Kind, ID: r.ID}
		f.live[ref] = r
		for _, id := range r.Identities {
			key := identified{r.Kind, id}
			if !slices.Contains(f.byIdentity[key], ref) {
				f.byIdentity[key] = append(f.byIdentity[key], ref)
			}
		}
	}
	return f
}

// resolve replaces each claim that is matched by identities with a copy that has the ID of the
// matching resource.
func (f *finder) resolve(claims []*model.Claim) {
	if f == nil {
		return
	}
	claimed, several := f.claimed(claims)
	absent, again := f.absentByIdentity(claims), map[model.Ref]string{}
	for i, c := range claims {
		ref := model.Ref{Kind: c.Kind, ID: c.ID}
		switch {
		case len(c.Identities) == 0:
		case c.ByIdentity:
			claims[i] = f.resolveOne(c, absent)
		case f.live[ref] == nil && c.Pending == "":
			claims[i] = f.followReplacement(c, claimed, several)
			if claims[i].Former != "" {
				again[ref] = claims[i].ID
			}
		}
	}
	f.followOthers(claims, again)
	f.markAmbiguous(claims)
	f.excludeCohorts(claims)
}

// excludeCohorts sets Unchecked on the claims of a cohort if none of them matches a resource and
// all resources that could match were read.
func (f *finder) excludeCohorts(claims []*model.Claim) {
	type cohort struct{ declaration, reason string }
	here := map[cohort]bool{}
	for _, c := range claims {
		if c.Cohort == "" {
			continue
		}
		if k := (cohort{c.Declaration, c.Cohort}); f.live[model.Ref{Kind: c.Kind, ID: c.ID}] != nil || c.Unchecked != "" || absenceDoubt(f.snapshot, c) != "" {
			here[k] = true
		}
	}
	for i, c := range claims {
		if c.Cohort == "" || here[cohort{c.Declaration, c.Cohort}] {
			continue
		}
		settled := *c
		settled.Unchecked = c.Cohort
		claims[i] = &settled
	}
}

// claimed returns the resources whose IDs the claims have, and the resources that may each replace
// several absent ones.
func (f *finder) claimed(claims []*model.Claim) (claimed, several map[model.Ref]bool) {
	claimed, several = map[model.Ref]bool{}, map[model.Ref]bool{}
	followed := map[model.Ref]model.Ref{}
	for _, c := range claims {
		if c.ByIdentity {
			continue
		}
		ref := model.Ref{Kind: c.Kind, ID: c.ID}
		claimed[ref] = true
		if len(c.Identities) == 0 || f.live[ref] != nil || c.Pending != "" {
			continue
		}
		if found := f.replacements(c); len(found) == 1 {
			gone, again := followed[found[0]]
			several[found[0]] = several[found[0]] || again && gone != ref
			followed[found[0]] = ref
		}
	}
	return claimed, several
}

// followOthers resolves claims without identities as the others on the same resource: the
// primary address follows its machine.
func (f *finder) followOthers(claims []*model.Claim, again map[model.Ref]string) {
	for i, c := range claims {
		id, moved := again[model.Ref{Kind: c.Kind, ID: c.ID}]
		if !moved || len(c.Identities) > 0 {
			continue
		}
		settled := *c
		settled.Former, settled.ID = c.ID, id
		claims[i] = &settled
	}
}

// absentByIdentity returns the claims on absent resources by identity, since a claim that is
// matched by identities may refer to the same resource. The value for an identity of several
// resources is nil.
func (f *finder) absentByIdentity(claims []*model.Claim) map[identified]*model.Claim {
	absent := map[identified]*model.Claim{}
	for _, c := range claims {
		if c.ByIdentity || f.live[model.Ref{Kind: c.Kind, ID: c.ID}] != nil {
			continue
		}
		for _, id := range c.Identities {
			key := identified{c.Kind, id}
			if other, found := absent[key]; found && (other == nil || other.ID != c.ID) {
				absent[key] = nil
				continue
			}
			absent[key] = c
		}
	}
	return absent
}

// resolveOne returns a copy of the claim with the ID of the resource that has its identities. If
// several resources have them, the copy has Unchecked set.
func (f *finder) resolveOne(c *model.Claim, absent map[identified]*model.Claim) *model.Claim {
	by, found := f.candidates(c)
	settled := *c
	switch len(found) {
	case 0:
		for id := range identitiesOf(c) {
			if other := absent[id]; other != nil {
				settled.Kind, settled.ID, settled.Place = other.Kind, other.ID, other.Place
				break
			}
		}
	case 1:
		r := f.live[found[0]]
		settled.Kind, settled.ID, settled.Place = r.Kind, r.ID, r.Place
	default:
		settled.Unchecked = cmp.Or(c.Unchecked, "ambiguous: "+f.labels(found)+" have the same "+by+"; give it a surer identity")
		settled.Covers = append(slices.Clone(c.Covers), found...)
	}
	return &settled
}

// identitiesOf yields a claim's identities for each kind that its resource may have.
func identitiesOf(c *model.Claim) func(yield func(identified) bool) {
	return func(yield func(identified) bool) {
		for _, id := range c.Identities {
			for _, kind := range kinds(c) {
				if !yield(identified{kind, id}) {
					return
				}
			}
		}
	}
}

func kinds(c *model.Claim) []string { return append([]string{c.Kind}, c.AltKinds...) }

// candidates returns the resources that match the most reliable identity of the claim that any
// resource has, and the kind of that identity.
func (f *finder) candidates(c *model.Claim) (by string, found []model.Ref) {
	for id := range identitiesOf(c) {
		if len(found) > 0 && id.By != by {
			break
		}
		by = id.By
		for _, ref := range f.byIdentity[id] {
			if !slices.Contains(found, ref) {
				found = append(found, ref)
			}
		}
	}
	slices.SortFunc(found, compareRefs)
	return by, found
}

// followReplacement returns the claim with the ID of the live resource that replaced the
// claimed one, such as one that was created again by hand. A resource whose ID another
// claim has is not a replacement. If there are several candidates, if one replaces several,
// or if the absence of the claimed one is not certain, the candidates are covered only.
func (f *finder) followReplacement(c *model.Claim, claimed, several map[model.Ref]bool) *model.Claim {
	found := f.replacements(c)
	if len(found) == 0 || len(found) == 1 && claimed[found[0]] {
		return c
	}
	settled := *c
	if len(found) > 1 || several[found[0]] || absenceDoubt(f.snapshot, c) != "" {
		settled.Covers = append(slices.Clone(c.Covers), found...)
		return &settled
	}
	settled.Former, settled.ID = c.ID, found[0].ID
	return &settled
}

// replacements returns the resources that may replace the claimed one: the candidates, except those
// with a different identity of a more reliable kind. For example, a guest with the same name and
// another MAC address is a different guest.
func (f *finder) replacements(c *model.Claim) []model.Ref {
	by, found := f.candidates(c)
	return slices.DeleteFunc(found, func(ref model.Ref) bool {
		identities := f.live[ref].Identities
		for _, id := range c.Identities {
			if id.By == by {
				break
			}
			if id.Value != c.ID && slices.ContainsFunc(identities, func(other model.Identity) bool { return other.By == id.By }) {
				return true
			}
		}
		return false
	})
}

// markAmbiguous sets Unchecked on claims of one declaration that were resolved to the same resource
// by different identities, since only one of them can be right.
func (f *finder) markAmbiguous(claims []*model.Claim) {
	type key struct {
		declaration string
		model.Ref
	}
	same := map[key][]int{}
	for i, c := range claims {
		if c.ByIdentity {
			k := key{c.Declaration, model.Ref{Kind: c.Kind, ID: c.ID}}
			same[k] = append(same[k], i)
		}
	}
	for k, group := range same {
		if len(group) < 2 {
			continue
		}
		resource := k.ID
		if r := f.live[k.Ref]; r != nil {
			resource = label(r)
		}
		for _, i := range group {
			settled := *claims[i]
			settled.Unchecked = cmp.Or(settled.Unchecked, fmt.Sprintf("ambiguous: %s claim %s; one of them is something else", addresses(claims, group), resource))
			claims[i] = &settled
		}
	}
}

func addresses(claims []*model.Claim, group []int) string {
	texts := make([]string, len(group))
	for k, i := range group {
		texts[k] = claims[i].Name + " (" + claims[i].Address + ")"
	}
	slices.Sort(texts)
	return enumerate(texts)
}

// labels returns a list of resources as text.
func (f *finder) labels(refs []model.Ref) string {
	texts := make([]string, len(refs))
	for i, ref := range refs {
		texts[i] = label(f.live[ref])
	}
	return enumerate(texts)
}

func label(r *model.Resource) string { return labelOf(r.ID, r.Name) }

func labelOf(id, name string) string {
	if name == "" || name == id {
		return id
	}
	return id + " (" + name + ")"
}

func enumerate(texts []string) string {
	const shown = 5
	if len(texts) > shown {
		return fmt.Sprintf("%s and %d more", strings.Join(texts[:shown], ", "), len(texts)-shown)
	}
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " and " + texts[last]
}

// absenceDoubt returns the reason why the claimed resource may exist although the snapshot does not
// contain it; "" if it does not exist.
func absenceDoubt(snapshot *model.Snapshot, c *model.Claim) string {
	if i, exists := findUnread(snapshot, model.Ref{Kind: c.Kind, ID: c.ID}); exists {
		return snapshot.Unread[i].Reason
	}
	for _, kind := range kinds(c) {
		if covered, reason := snapshot.Covers(kind, c.Place); !covered && snapshot.HasKind(kind) {
			return cmp.Or(reason, "not read")
		} else if !covered {
			return noKind(snapshot, kind)
		}
	}
	if !c.ByIdentity {
		return ""
	}
	if c.Doubt != "" {
		return c.Doubt
	}
	for i := range snapshot.Unread {
		if u := &snapshot.Unread[i]; slices.Contains(kinds(c), u.Kind) && mayMatch(c, u) {
			return "it may be " + u.ID + ", which could not be read: " + u.Reason
		}
	}
	return ""
}

// noKind returns the reason for a kind that the source does not have, such as a misspelt one.
func noKind(snapshot *model.Snapshot, kind string) string {
	reason := snapshot.Source + " has no kind " + kind
	if near, ok := suggest.Word(kind, slices.Sorted(maps.Keys(snapshot.Kinds))); ok {
		reason += ": did you mean " + near + "?"
	}
	return reason
}

// mayMatch reports whether a claim may be on a resource that could not be read. It is not
// if the resource has another identity of the claim's most reliable kind.
func mayMatch(c *model.Claim, u *model.Unread) bool {
	if len(c.Identities) == 0 {
		return true
	}
	best := c.Identities[0].By
	has := slices.ContainsFunc(u.Identities, func(id model.Identity) bool { return id.By == best })
	return !has || slices.ContainsFunc(u.Identities, func(id model.Identity) bool { return slices.Contains(c.Identities, id) })
}

// anyMayMatch reports whether one of the claims without a live resource may be on the
// unread one.
func anyMayMatch(claims claimed, u *model.Unread) bool {
	for _, on := range claims {
		if !on.live && slices.ContainsFunc(on.claims, func(c *model.Claim) bool {
			return c.ByIdentity && slices.Contains(kinds(c), u.Kind) && mayMatch(c, u)
		}) {
			return true
		}
	}
	return false
}

// findUnread returns the index of the entry for a resource that could not be read.
func findUnread(snapshot *model.Snapshot, ref model.Ref) (at int, found bool) {
	at, found = sort.Find(len(snapshot.Unread), func(i int) int { return compareRefs(ref, snapshot.Unread[i].Ref) })
	if !found && at > 0 && snapshot.Unread[at-1].Includes(ref) {
		return at - 1, true
	}
	return at, found
}
