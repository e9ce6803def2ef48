package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A voice is what one claim says of one live field, in its own words.
type voice struct {
	claim *model.Claim
	// path is where it says so, and live the path of what it speaks of.
	path, live string
	// spot is that path in the claim; at and schema are that place in what the claim
	// sees.
	spot   path
	at     path
	schema *model.Schema
	// says is the declared value, view the live one in the same words.
	says, view model.Value
	// agrees tells that the two are equal.
	agrees bool
	// means is what the live field would hold if it were as the claim says; known
	// tells whether that can be told.
	means model.Value
	known bool
	// waits tells that the claim expects its own tool to bring the field about.
	waits bool
}

// speak notes what the claim says of the field at the walk's path.
func (w *walk) speak(schema *model.Schema, d, l model.Value) {
	if w.voices == nil || d.IsNull() {
		return
	}
	if lens := w.claim.Lens; lens != nil && lens.IsShared(w.path.String()) {
		return
	}
	live := w.livePath()
	if live == "" {
		return
	}
	v := voice{claim: w.claim, path: w.path.String(), live: live, spot: slices.Clone(w.path), at: slices.Clone(w.path.live()), schema: schema,
		says: d, view: l, agrees: Equal(schema, d, l)}
	if w.claim.Lens == nil {
		v.means, v.known = d, true
	} else {
		v.means, v.known = w.claim.Lens.LiveValue(w.live.Value, v.path, d)
	}
	*w.voices = append(*w.voices, v)
}

// inOtherWords tells whether claims on one resource are written in different
// words.
func inOtherWords(claims []*model.Claim) bool {
	return slices.ContainsFunc(claims, func(c *model.Claim) bool { return c.Lens != claims[0].Lens })
}

// hear returns what the claims say of each live field that several of them speak
// of, in the order of the claims.
func hear(s *model.Subject, claims []*model.Claim, differs [][]found, o Options) map[string][]voice {
	heard := map[string][]voice{}
	for i, c := range claims {
		if c.Value.IsNull() {
			continue
		}
		var said []voice
		w := newWalk(s, c, s.Live.Value, o)
		w.others, w.voices = sameWords(claims, i), &said
		w.run()
		for _, v := range said {
			v.waits = slices.ContainsFunc(differs[i], func(f found) bool {
				return f.change.Path == v.path && (f.verdict == model.Pending || f.verdict == model.Bypassed || f.verdict == model.Codified)
			})
			heard[v.live] = append(heard[v.live], v)
		}
	}
	for live, voices := range heard {
		if !inOtherWords(claimsOf(voices)) {
			delete(heard, live)
		}
	}
	return heard
}

func claimsOf(voices []voice) []*model.Claim {
	claims := make([]*model.Claim, len(voices))
	for i, v := range voices {
		claims[i] = v.claim
	}
	return claims
}

// disagree tells whether two of the voices cannot both be right.
func disagree(live model.Value, voices []voice) bool {
	if slices.ContainsFunc(voices, func(v voice) bool { return v.waits }) {
		return false
	}
	for i, a := range voices {
		for _, b := range voices[i+1:] {
			if can, known := bothRight(live, a, b); known && !can && a.claim != b.claim {
				return true
			}
		}
	}
	return false
}

// bothRight tells whether one live field can be as both voices say: whether one
// of them agrees, or would, where the field is as the other says. known is false
// where neither can tell what the field would hold.
func bothRight(live model.Value, a, b voice) (can, known bool) {
	for _, pair := range [][2]voice{{a, b}, {b, a}} {
		one, other := pair[0], pair[1]
		switch {
		case one.agrees:
			can, known = can || other.agrees, true
		case one.known:
			suits, told := other.suits(live, one.means)
			can, known = can || suits, known || told
		}
	}
	return can, known
}

// suits tells whether the voice's claim would agree, if its live field held a
// value. told is false where it does not see that field, but what the system made
// of it: what a flavor gives a server does not follow from the flavor's id.
func (v *voice) suits(live, held model.Value) (suits, told bool) {
	if v.known && alikeInMeaning(v.means, held) {
		return true, true
	}
	changed, ok := replacedAt(live, v.live, held)
	if !ok || v.claim.Lens == nil {
		return false, true
	}
	seen, _ := lookUp(v.claim.Lens.View(changed), v.at)
	suits = Equal(v.schema, v.says, seen)
	return suits, suits || v.known || !Equal(v.schema, v.view, seen)
}

// replacedAt returns a tree in which the field at a path holds another value; ok
// is false where the path leads on through a list.
func replacedAt(v model.Value, path string, held model.Value) (changed model.Value, ok bool) {
	name, rest, nested := strings.Cut(path, ".")
	if strings.ContainsAny(path, `["`) || v.Kind() != model.Map && !v.IsNull() {
		return v, false
	}
	if nested {
		if held, ok = replacedAt(v.At(name), rest, held); !ok {
			return v, false
		}
	}
	if held.IsNull() {
		return v.Without(name), true
	}
	return v.With(name, held), true
}

// alikeInMeaning compares what two claims mean by what they say: in different words
// a number may be a text, and names and addresses may be written in any way.
func alikeInMeaning(a, b model.Value) bool {
	for _, format := range []model.Format{model.Plain, model.IntOrString, model.CaseFold, model.Address} {
		if Equal(&model.Schema{Format: format, List: model.Bag, Each: &model.Schema{Format: format}}, a, b) {
			return true
		}
	}
	return false
}

// echoes tells whether what b says is what another declaration said already.
func echoes(live model.Value, a, b voice) bool {
	if a.agrees || b.agrees || a.claim.Declaration == b.claim.Declaration {
		return false
	}
	can, _ := bothRight(live, a, b)
	return can
}

// reconcileWords looks for what claims in different words say of one live field.
// Where they disagree it returns that as a dispute; it takes out of what each
// claim differs in what is said otherwise: in a dispute, or by a claim before it.
func reconcileWords(s *model.Subject, claims []*model.Claim, differs [][]found, o Options) []dispute {
	if len(claims) < 2 || !inOtherWords(claims) || !slices.ContainsFunc(differs, func(f []found) bool { return len(f) > 0 }) {
		return nil
	}
	var disputes []dispute
	for _, voices := range inOrder(hear(s, claims, differs, o)) {
		if disagree(s.Live.Value, voices) {
			d := disputeBetween(s, voices)
			if f := said(claims, differs, voices[0]); f != nil {
				d.change.Running = f.change.Running
			}
			disputes = append(disputes, d)
			silence(claims, differs, voices)
			continue
		}
		for i, v := range voices {
			again := func(before voice) bool {
				return echoes(s.Live.Value, before, v) || restarts(claims, differs, before) && restarts(claims, differs, v)
			}
			if first := slices.IndexFunc(voices[:i], again); first >= 0 {
				if isMoved(claims, differs, v) {
					move(claims, differs, voices[first])
				}
				silence(claims, differs, voices[i:i+1])
			}
		}
	}
	return disputes
}

// said returns what the voice's claim differs in there, or nil.
func said(claims []*model.Claim, differs [][]found, v voice) *found {
	all := differs[slices.Index(claims, v.claim)]
	at := slices.IndexFunc(all, func(f found) bool { return f.change.Path == v.path })
	if at < 0 {
		return nil
	}
	return &all[at]
}

// restarts tells whether what the voice's claim says is held, and waits for a
// restart.
func restarts(claims []*model.Claim, differs [][]found, v voice) bool {
	f := said(claims, differs, v)
	return v.agrees && f != nil && f.verdict == model.PendingRestart
}

func inOrder(heard map[string][]voice) [][]voice {
	all := make([][]voice, 0, len(heard))
	for _, voices := range heard {
		all = append(all, voices)
	}
	slices.SortFunc(all, func(a, b []voice) int { return cmp.Compare(a[0].live, b[0].live) })
	return all
}

// isMoved tells whether to the voice's claim another value means that the
// resource moved.
func isMoved(claims []*model.Claim, differs [][]found, v voice) bool {
	f := said(claims, differs, v)
	return f != nil && f.verdict == model.Moved
}

// move makes what the voice's claim differs in there a move.
func move(claims []*model.Claim, differs [][]found, v voice) {
	said := differs[slices.Index(claims, v.claim)]
	for i := range said {
		if said[i].change.Path == v.path && said[i].verdict == model.Changed {
			said[i].verdict = model.Moved
		}
	}
}

// silence takes what the voices say out of what their claims differ in.
func silence(claims []*model.Claim, differs [][]found, voices []voice) {
	for i, c := range claims {
		differs[i] = slices.DeleteFunc(differs[i], func(f found) bool {
			return slices.ContainsFunc(voices, func(v voice) bool { return v.claim == c && v.path == f.change.Path })
		})
	}
}

// disputeBetween shows what each claim says beside the live value, in the words
// of the first.
func disputeBetween(s *model.Subject, voices []voice) dispute {
	first := voices[0]
	change := model.Change{Path: first.path, LivePath: first.live, Declared: side(first.says), Live: side(first.view)}
	actor := tracedIn(s, first.live)
	wrote := actor
	change.LiveActor = &wrote
	for _, v := range telling(voices) {
		who := declaredBy(v.claim, v.schema, v.spot, v.says)
		claimed := model.ClaimedValue{Declaration: v.claim.Declaration, Address: v.claim.Address, Value: v.says, Actor: &who}
		if v.path != first.path {
			claimed.Path = v.path
		}
		change.Claims = append(change.Claims, claimed)
		change.Secret = change.Secret || v.says.HasSecret() || v.view.HasSecret()
		actor = latest(actor, who)
	}
	if c := against(voices); actor.Confidence == model.Unknown && len(c) == 1 && c[0].Unsigned != "" {
		// Who stands alone was changed: its log is the one that tells nothing.
		actor = model.UnknownActor(c[0].Unsigned)
	}
	change.Actor = &actor
	d := dispute{about: saying{first.claim.Lens, first.path}, change: change, reason: alone(s, voices)}
	for _, v := range voices {
		d.voices = append(d.voices, saying{v.claim.Lens, v.path})
	}
	return d
}

// telling returns the voices without those in which a claim agrees that disagrees
// in other ones.
func telling(voices []voice) []voice {
	wrong := against(voices)
	return slices.DeleteFunc(slices.Clone(voices), func(v voice) bool { return v.agrees && slices.Contains(wrong, v.claim) })
}

// join returns the disputes in the same words that none in different words is
// about, and those.
func join(same, crossing []dispute) []dispute {
	same = slices.DeleteFunc(same, func(d dispute) bool {
		return slices.ContainsFunc(crossing, func(c dispute) bool { return slices.Contains(c.voices, d.about) })
	})
	return append(same, crossing...)
}

// against returns the claims that the live value is not as they say.
func against(voices []voice) []*model.Claim {
	var claims []*model.Claim
	for _, v := range voices {
		if !v.agrees && !slices.Contains(claims, v.claim) {
			claims = append(claims, v.claim)
		}
	}
	return claims
}

// alone says which of the sides stands against the others.
func alone(s *model.Subject, voices []voice) string {
	var with, others []string
	for _, v := range voices {
		if v.agrees {
			with = append(with, v.claim.Declaration)
		} else if !slices.Contains(others, v.claim.Declaration) {
			others = append(others, v.claim.Declaration)
		}
	}
	slices.Sort(with)
	with = slices.DeleteFunc(slices.Compact(with), func(d string) bool { return slices.Contains(others, d) })
	switch {
	case len(others) == 1:
		return others[0] + " stands alone: " + strings.Join(append(with, s.Source), " and ") + " agree"
	case len(with) == 0 && len(others) == 2:
		return "no two of them agree: " + strings.Join(append(others, s.Source), ", ")
	}
	return ""
}
