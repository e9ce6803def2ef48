package match

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An identified is a resource as one of its identities finds it.
type identified struct {
	kind string
	model.Identity
}

// A finder finds the resources that claims mean and do not know the ID of.
type finder struct {
	snapshot *model.Snapshot
	live     map[model.Ref]*model.Resource
	known    map[identified][]model.Ref
}

// newFinder returns a finder, or nil if no claim has an identity or a cohort.
func newFinder(snapshot *model.Snapshot, claims []*model.Claim) *finder {
	if !slices.ContainsFunc(claims, func(c *model.Claim) bool { return len(c.Identities) > 0 || c.Cohort != "" }) {
		return nil
	}
	f := &finder{snapshot: snapshot, live: make(map[model.Ref]*model.Resource, len(snapshot.Resources)),
		known: make(map[identified][]model.Ref, len(snapshot.Resources))}
	for i := range snapshot.Resources {
		r := &snapshot.Resources[i]
		ref := model.Ref{Kind: r.Kind, ID: r.ID}
		f.live[ref] = r
		for _, id := range r.Identities {
			key := identified{r.Kind, id}
			if !slices.Contains(f.known[key], ref) {
				f.known[key] = append(f.known[key], ref)
			}
		}
	}
	return f
}

// find replaces claims that go by their identities by ones that have the ID
// that these lead to.
func (f *finder) find(claims []*model.Claim) {
	if f == nil {
		return
	}
	claimed, several := f.claimed(claims)
	absent, again := f.absent(claims), map[model.Ref]string{}
	for i, c := range claims {
		ref := model.Ref{Kind: c.Kind, ID: c.ID}
		switch {
		case len(c.Identities) == 0:
		case c.ByIdentity:
			claims[i] = f.identify(c, absent)
		case f.live[ref] == nil && c.Pending == "":
			claims[i] = f.follow(c, claimed, several)
			if claims[i].Former != "" {
				again[ref] = claims[i].ID
			}
		}
	}
	f.takeAlong(claims, again)
	f.separate(claims)
	f.dismiss(claims)
}

// dismiss makes the claims of a cohort uncheckable of which none leads to
// anything, though all that they may mean was read.
func (f *finder) dismiss(claims []*model.Claim) {
	type cohort struct{ declaration, says string }
	here := map[cohort]bool{}
	for _, c := range claims {
		if c.Cohort == "" {
			continue
		}
		if k := (cohort{c.Declaration, c.Cohort}); f.live[model.Ref{Kind: c.Kind, ID: c.ID}] != nil || c.Unchecked != "" || unseen(f.snapshot, c) != "" {
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

// claimed returns the resources that claims have the ID of, and those that
// several things that are gone lead to: it cannot be told which of them it is.
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
		if found := f.successors(c); len(found) == 1 {
			gone, known := followed[found[0]]
			several[found[0]] = several[found[0]] || known && gone != ref
			followed[found[0]] = ref
		}
	}
	return claimed, several
}

// takeAlong lets claims without identities follow those on the same resource: a
// primary address moves with the machine that it is a part of.
func (f *finder) takeAlong(claims []*model.Claim, again map[model.Ref]string) {
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

// absent indexes the claims on what was not seen, by identity: another claim may
// mean the same. An identity of several things, of which nil is held, tells none.
func (f *finder) absent(claims []*model.Claim) map[identified]*model.Claim {
	absent := map[identified]*model.Claim{}
	for _, c := range claims {
		if c.ByIdentity || f.live[model.Ref{Kind: c.Kind, ID: c.ID}] != nil {
			continue
		}
		for _, id := range c.Identities {
			key := identified{c.Kind, id}
			if other, said := absent[key]; said && (other == nil || other.ID != c.ID) {
				absent[key] = nil
				continue
			}
			absent[key] = c
		}
	}
	return absent
}

// identify gives a claim the ID of the one resource that its identities lead to.
// Where they lead to several it cannot be compared.
func (f *finder) identify(c *model.Claim, absent map[identified]*model.Claim) *model.Claim {
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
		settled.Unchecked = cmp.Or(c.Unchecked, "ambiguous: "+f.names(found)+" have the same "+by+"; give it a surer identity")
		settled.Covers = append(slices.Clone(c.Covers), found...)
	}
	return &settled
}

// identitiesOf yields a claim's identities for each kind that it may be of.
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

// candidates returns the resources that the surest of a claim's identities that
// leads anywhere leads to, and which identity that is.
func (f *finder) candidates(c *model.Claim) (by string, found []model.Ref) {
	for id := range identitiesOf(c) {
		if len(found) > 0 && id.By != by {
			break
		}
		by = id.By
		for _, ref := range f.known[id] {
			if !slices.Contains(found, ref) {
				found = append(found, ref)
			}
		}
	}
	slices.SortFunc(found, compareRefs)
	return by, found
}

// follow looks for the resource that stands in the place of one that is gone:
// made again by hand, it has another ID. What another claim has the ID of is
// something else, and what could not be looked for has not gone. Where it leads to
// several, or several that are gone lead to one, it may be any of them.
func (f *finder) follow(c *model.Claim, claimed, several map[model.Ref]bool) *model.Claim {
	found := f.successors(c)
	if len(found) == 0 || len(found) == 1 && claimed[found[0]] {
		return c
	}
	settled := *c
	if len(found) > 1 || several[found[0]] || unseen(f.snapshot, c) != "" {
		settled.Covers = append(slices.Clone(c.Covers), found...)
		return &settled
	}
	settled.Former, settled.ID = c.ID, found[0].ID
	return &settled
}

// successors returns the resources that may stand in the place of what a claim
// knew: those that its identities lead to, and that no surer one tells apart. A
// guest of the same name with another MAC address is another guest.
func (f *finder) successors(c *model.Claim) []model.Ref {
	by, found := f.candidates(c)
	return slices.DeleteFunc(found, func(ref model.Ref) bool {
		known := f.live[ref].Identities
		for _, id := range c.Identities {
			if id.By == by {
				break
			}
			if id.Value != c.ID && slices.ContainsFunc(known, func(other model.Identity) bool { return other.By == id.By }) {
				return true
			}
		}
		return false
	})
}

// separate makes claims uncheckable that one declaration makes on one resource
// by different identities: it means only one of them.
func (f *finder) separate(claims []*model.Claim) {
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
		what := k.ID
		if r := f.live[k.Ref]; r != nil {
			what = called(r)
		}
		for _, i := range group {
			settled := *claims[i]
			settled.Unchecked = cmp.Or(settled.Unchecked, fmt.Sprintf("ambiguous: %s claim %s; one of them is something else", addresses(claims, group), what))
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
	return and(texts)
}

// names lists resources for people.
func (f *finder) names(refs []model.Ref) string {
	texts := make([]string, len(refs))
	for i, ref := range refs {
		texts[i] = called(f.live[ref])
	}
	return and(texts)
}

func called(r *model.Resource) string {
	if r.Name == "" || r.Name == r.ID {
		return r.ID
	}
	return r.ID + " (" + r.Name + ")"
}

func and(texts []string) string {
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

// unseen says why the absence of what a claim means proves nothing; "" when it
// does.
func unseen(snapshot *model.Snapshot, c *model.Claim) string {
	if i, exists := findUnread(snapshot, model.Ref{Kind: c.Kind, ID: c.ID}); exists {
		return snapshot.Unread[i].Reason
	}
	for _, kind := range kinds(c) {
		if covered, reason := snapshot.Covers(kind, c.Place); !covered {
			return cmp.Or(reason, "not read")
		}
	}
	if !c.ByIdentity {
		return ""
	}
	if c.Doubt != "" {
		return c.Doubt
	}
	for i := range snapshot.Unread {
		if u := &snapshot.Unread[i]; slices.Contains(kinds(c), u.Kind) && mayBe(c, u) {
			return "it may be " + u.ID + ", which could not be read: " + u.Reason
		}
	}
	return ""
}

// mayBe reports whether a claim may mean a resource of which little is known: not
// when the surest of the claim's identities is known of it, and another one.
func mayBe(c *model.Claim, u *model.Unread) bool {
	if len(c.Identities) == 0 {
		return true
	}
	surest := c.Identities[0].By
	known := slices.ContainsFunc(u.Identities, func(id model.Identity) bool { return id.By == surest })
	return !known || slices.ContainsFunc(u.Identities, func(id model.Identity) bool { return slices.Contains(c.Identities, id) })
}

// mayMean reports whether one of the claims that found no resource may mean the unread
// one.
func mayMean(claims map[model.Ref][]*model.Claim, live map[model.Ref]bool, u *model.Unread) bool {
	for ref, list := range claims {
		if !live[ref] && slices.ContainsFunc(list, func(c *model.Claim) bool {
			return c.ByIdentity && slices.Contains(kinds(c), u.Kind) && mayBe(c, u)
		}) {
			return true
		}
	}
	return false
}

func findUnread(snapshot *model.Snapshot, ref model.Ref) (at int, found bool) {
	return slices.BinarySearchFunc(snapshot.Unread, ref, func(u model.Unread, r model.Ref) int { return compareRefs(u.Ref, r) })
}
