package classify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// A tale is a series of scans of one resource, each with what the one before it
// left.
type tale struct {
	open, recent []model.Finding
	decisions    []model.Decision
	now          time.Time
	// letters are the names of IDs, in the order in which they came up.
	letters map[string]string
}

func newTale() *tale { return &tale{now: now, letters: map[string]string{}} }

// claims are what a subject of a tale is claimed by: "d" at two addresses, and "e".
func claims() []*model.Claim {
	return []*model.Claim{{Declaration: "d", Address: "d:1"}, {Declaration: "d", Address: "d:2"}, {Declaration: "e", Address: "e:1"}}
}

// outcome makes an outcome of "verdict claim field field …". The claim is d (the
// first of d), d2, e, - if there is no claim, or not-NAME if the declaration lacks one.
// Without a NAME one of several declarations lacks it.
func outcome(text string) model.Outcome {
	words := strings.Fields(text)
	o := model.Outcome{Verdict: model.Verdict(words[0])}
	all := claims()
	switch words[1] {
	case "d":
		o.Claim = all[0]
	case "d2":
		o.Claim = all[1]
	case "e":
		o.Claim = all[2]
	case "-":
	default:
		o.Declaration = strings.TrimPrefix(words[1], "not-")
	}
	for _, path := range words[2:] {
		path, live, _ := strings.Cut(path, "=")
		v := model.StringOf("x")
		c := model.Change{Path: path, LivePath: live, Declared: &v, Live: &v}
		if o.Verdict == model.Disputed {
			c.Claims = []model.ClaimedValue{{Declaration: "d", Value: v}, {Declaration: "e", Value: v}}
		}
		o.Changes = append(o.Changes, c)
	}
	return o
}

// input is the next scan, which found the outcomes.
func (s *tale) input(outcomes []string) Input {
	in := Input{Snapshots: []model.Snapshot{{Source: "s", Taken: s.now, Coverage: []model.Coverage{{Source: "s", Complete: true}}}},
		Declarations: []model.Declaration{{Name: "d", Governs: []string{"s"}}, {Name: "e", Governs: []string{"s"}}, {Name: "f", Governs: []string{"s"}}},
		Sources:      []string{"s"}, Earlier: s.open, Recent: s.recent, Decisions: s.decisions, Now: s.now}
	j := model.Judged{Subject: &model.Subject{Key: key, Place: "p", Name: "a", Claims: claims()}}
	for _, text := range outcomes {
		j.Outcomes = append(j.Outcomes, outcome(text))
	}
	if slices.Contains(outcomes, "unmanaged -") {
		j.Subject.Claims = nil
	}
	in.Judged = []model.Judged{j}
	return in
}

// scan makes the next scan, ten minutes later.
func (s *tale) scan(outcomes []string, change func(*Input)) Result {
	s.now = s.now.Add(10 * time.Minute)
	in := s.input(outcomes)
	if change != nil {
		change(&in)
	}
	r := Findings(in)
	s.open = r.Open()
	ended := r.Resolved
	s.recent = slices.DeleteFunc(s.recent, func(f model.Finding) bool {
		again := func(g model.Finding) bool { return g.ID == f.ID }
		return slices.ContainsFunc(s.open, again) || slices.ContainsFunc(ended, again)
	})
	s.recent = append(s.recent, ended...)
	return r
}

// letter names an ID.
func (s *tale) letter(id string) string {
	if s.letters[id] == "" {
		s.letters[id] = string(rune('A' + len(s.letters)))
	}
	return s.letters[id]
}

// sketch returns the current, the carried over and the resolved findings of a scan as text.
func (s *tale) sketch(r Result) string {
	var said []string
	for _, f := range r.Current {
		said = append(said, strings.TrimSpace(s.letter(f.ID)+" "+string(f.Verdict)+" "+strings.Join(pathsOf(&f), " ")))
	}
	for _, f := range r.Remembered {
		said = append(said, s.letter(f.ID)+" remembered")
	}
	for _, f := range r.Resolved {
		if f.MergedInto != "" {
			said = append(said, s.letter(f.ID)+" merged into "+s.letter(f.MergedInto))
		} else {
			said = append(said, s.letter(f.ID)+" resolved")
		}
	}
	slices.Sort(said)
	return strings.Join(said, ", ")
}

func pathsOf(f *model.Finding) []string {
	var paths []string
	for _, c := range f.Changes {
		paths = append(paths, c.Path)
	}
	return paths
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	type step struct {
		found []string
		want  string
	}
	for name, test := range map[string]struct {
		reason string
		steps  []step
	}{
		"reclassified": {"fields that move to another verdict keep the ID, there and back", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"disputed d a"}, "A disputed a"},
			{[]string{"changed d a"}, "A changed a"},
			{nil, "A resolved"},
		}},
		"all field verdicts": {"whichever field verdict it is", []step{
			{[]string{"pending d a"}, "A pending a"},
			{[]string{"bypassed d a"}, "A bypassed a"},
			{[]string{"conflict d a"}, "A conflict a"},
			{[]string{"codified d a"}, "A codified a"},
			{[]string{"undeclared d a"}, "A undeclared a"},
			{[]string{"pending-restart d a"}, "A pending-restart a"},
			{[]string{"moved d a"}, "A moved a"},
		}},
		"the verdict of the fingerprint comes again": {"a new finding does not take the ID of a reclassified one", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"disputed d a"}, "A disputed a"},
			{[]string{"disputed d a", "changed d b"}, "A disputed a, B changed b"},
			{[]string{"disputed d a"}, "A disputed a, B resolved"},
			{[]string{"disputed d a", "changed d b"}, "A disputed a, B changed b"},
			{[]string{"changed d b"}, "A resolved, B changed b"},
		}},
		"it comes again after the reclassified one is over": {"also within the time in which it may come back", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"disputed d a"}, "A disputed a"},
			{nil, "A resolved"},
			{[]string{"changed d b"}, "B changed b"},
		}},
		"came back with its first verdict": {"the same fields under the verdict of the fingerprint are the same thing", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"disputed d a"}, "A disputed a"},
			{nil, "A resolved"},
			{[]string{"changed d a"}, "A changed a"},
		}},
		"came back with its last verdict": {"and so are those under the last verdict", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"disputed d a"}, "A disputed a"},
			{nil, "A resolved"},
			{[]string{"disputed d a"}, "A disputed a"},
		}},
		"later, something else": {"what is over does not become another verdict's finding", []step{
			{[]string{"changed d a"}, "A changed a"},
			{nil, "A resolved"},
			{[]string{"pending d a"}, "B pending a"},
		}},
		"came back whole": {"a whole resource comes back as itself", []step{
			{[]string{"missing d"}, "A missing"},
			{nil, "A resolved"},
			{[]string{"missing d"}, "A missing"},
		}},
		"other fields come back": {"the same claim and verdict come back, with whatever fields", []step{
			{[]string{"changed d a"}, "A changed a"},
			{nil, "A resolved"},
			{[]string{"changed d b"}, "A changed b"},
		}},
		"other fields": {"other fields of the same claim and verdict are the same finding", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"changed d b"}, "A changed b"},
		}},
		"other fields take the verdict": {"the ID follows the fields, not the verdict", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"disputed d a", "changed d b"}, "A disputed a, B changed b"},
		}},
		"exchange": {"also where two exchange their verdicts", []step{
			{[]string{"changed d a", "pending d b"}, "A changed a, B pending b"},
			{[]string{"changed d b", "pending d a"}, "A pending a, B changed b"},
		}},
		"same verdict first": {"the verdict decides where fields do not", []step{
			{[]string{"changed d a b", "pending d c"}, "A changed a b, B pending c"},
			{[]string{"changed d b c", "pending d a"}, "A changed b c, B pending a"},
		}},
		"merge into the older": {"the younger merges into the older, whose fields grow", []step{
			{[]string{"disputed d b"}, "A disputed b"},
			{[]string{"disputed d b", "changed d a"}, "A disputed b, B changed a"},
			{[]string{"disputed d a b"}, "A disputed a b, B merged into A"},
			{nil, "A resolved"},
		}},
		"merge of the older": {"where the older one moves, its ID stays", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"changed d a", "disputed d b"}, "A changed a, B disputed b"},
			{[]string{"disputed d a b"}, "A disputed a b, B merged into A"},
		}},
		"merge of the rest": {"a finding of which a part is still wrong is merged, not resolved", []step{
			{[]string{"disputed d b"}, "A disputed b"},
			{[]string{"disputed d b", "changed d a c"}, "A disputed b, B changed a c"},
			{[]string{"disputed d a b"}, "A disputed a b, B merged into A"},
		}},
		"resolved and taken over": {"the fields decide which of two goes on in the finding that is left", []step{
			{[]string{"disputed d b"}, "A disputed b"},
			{[]string{"disputed d b", "changed d a c"}, "A disputed b, B changed a c"},
			{[]string{"disputed d a"}, "A resolved, B disputed a"},
		}},
		"merge into the one with most fields": {"an ended finding merges into the finding that has most of its fields", []step{
			{[]string{"disputed d a"}, "A disputed a"},
			{[]string{"disputed d a", "pending d b c"}, "A disputed a, B pending b c"},
			{[]string{"disputed d a", "pending d b c", "conflict e a b c"}, "A disputed a, B pending b c, C conflict a b c"},
			{[]string{"disputed d a", "pending d b c"}, "A disputed a, B pending b c, C merged into B"},
		}},
		"merge into the one with the first field": {"whichever of them was found first", []step{
			{[]string{"pending d b c"}, "A pending b c"},
			{[]string{"disputed d a", "pending d b c"}, "A pending b c, B disputed a"},
			{[]string{"disputed d a", "pending d b c", "conflict e a b c"}, "A pending b c, B disputed a, C conflict a b c"},
			{[]string{"disputed d a", "pending d b c"}, "A pending b c, B disputed a, C merged into A"},
		}},
		"merge of three": {"any number merges into the oldest", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"changed d a", "pending d b"}, "A changed a, B pending b"},
			{[]string{"changed d a", "pending d b", "undeclared d c"}, "A changed a, B pending b, C undeclared c"},
			{[]string{"conflict d a b c"}, "A conflict a b c, B merged into A, C merged into A"},
		}},
		"merged and back": {"what parts again gets its ID back", []step{
			{[]string{"pending d a b"}, "A pending a b"},
			{[]string{"pending d a", "bypassed d b"}, "A pending a, B bypassed b"},
			{[]string{"pending d a b"}, "A pending a b, B merged into A"},
			{[]string{"pending d a", "bypassed d b"}, "A pending a, B bypassed b"},
			{[]string{"pending d a b"}, "A pending a b, B merged into A"},
		}},
		"nothing of it is left": {"what is wholly over is resolved, not merged", []step{
			{[]string{"disputed d b", "changed d a"}, "A changed a, B disputed b"},
			{[]string{"disputed d b"}, "A resolved, B disputed b"},
		}},
		"fields move between two that stay": {"both go on", []step{
			{[]string{"changed d a b", "pending d c"}, "A changed a b, B pending c"},
			{[]string{"changed d a", "pending d b c"}, "A changed a, B pending b c"},
		}},
		"split by count": {"a finding whose fields divide goes with most of them", []step{
			{[]string{"changed d a b c"}, "A changed a b c"},
			{[]string{"pending d a b", "conflict d c"}, "A pending a b, B conflict c"},
		}},
		"split by severity": {"and of as many with the worse ones", []step{
			{[]string{"changed d a b"}, "A changed a b"},
			{[]string{"pending d a", "conflict d b"}, "A conflict b, B pending a"},
		}},
		"split within the verdict": {"the same verdict goes before both", []step{
			{[]string{"changed d a b c"}, "A changed a b c"},
			{[]string{"changed d a", "conflict d b c"}, "A changed a, B conflict b c"},
		}},
		"one vanished, one appeared": {"of one claim, that is the same thing", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"pending d b"}, "A pending b"},
		}},
		"one vanished, one appeared, and one stays": {"what stays does not become another finding", []step{
			{[]string{"changed d a", "pending d b"}, "A changed a, B pending b"},
			{[]string{"changed d a", "conflict d c"}, "A changed a, B conflict c"},
		}},
		"two vanished, one appeared": {"nothing says which of them it was", []step{
			{[]string{"changed d a", "undeclared d b"}, "A changed a, B undeclared b"},
			{[]string{"pending d c"}, "A resolved, B resolved, C pending c"},
		}},
		"one vanished, two appeared": {"nor which it became", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"pending d b", "undeclared d c"}, "A resolved, B undeclared c, C pending b"},
		}},
		"one vanished, another claim's appeared": {"another claim is another thing", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"changed d2 b"}, "A resolved, B changed b"},
			{[]string{"pending e c"}, "B resolved, C pending c"},
		}},
		"another declaration": {"one field is one thing, whoever declares it", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"changed e a"}, "A changed a"},
			{[]string{"disputed d a"}, "A disputed a"},
			{[]string{"changed e a"}, "A changed a"},
		}},
		"declarations exchange fields": {"the ID follows the fields there too", []step{
			{[]string{"changed d a", "changed e b"}, "A changed a, B changed b"},
			{[]string{"changed d b", "changed e a"}, "A changed a, B changed b"},
		}},
		"live paths": {"declarations have words of their own for a live field", []step{
			{[]string{"changed d title=name"}, "A changed title"},
			{[]string{"disputed e label=name"}, "A disputed label"},
			{[]string{"changed e name"}, "A changed name"},
		}},
		"parts of a field": {"a field and what it is a part of are the same thing", []step{
			{[]string{"changed d spec.a.b", "pending d z"}, "A changed spec.a.b, B pending z"},
			{[]string{"conflict d spec", "undeclared d z"}, "A conflict spec, B undeclared z"},
			{[]string{"changed d spec[0].x", "bypassed d z"}, "A changed spec[0].x, B bypassed z"},
		}},
		"a field and its part": {"whichever of the two it was before", []step{
			{[]string{"changed d spec.a.b"}, "A changed spec.a.b"},
			{[]string{"conflict d spec", "undeclared d z"}, "A conflict spec, B undeclared z"},
			{[]string{"changed d spec.c", "codified d y", "undeclared d z"}, "A changed spec.c, B undeclared z, C codified y"},
		}},
		"a list and its element": {"so it is with elements", []step{
			{[]string{"changed d spec"}, "A changed spec"},
			{[]string{"conflict d spec[0]", "undeclared d z"}, "A conflict spec[0], B undeclared z"},
		}},
		"whole for its claim": {"a finding on the whole of a claim has every field of it", []step{
			{[]string{"codified d"}, "A codified"},
			{[]string{"disputed d a", "pending d b"}, "A disputed a, B pending b"},
		}},
		"split by severity, whatever the verdicts are called": {"the worse one goes on", []step{
			{[]string{"changed d a b"}, "A changed a b"},
			{[]string{"codified d a", "disputed d b"}, "A disputed b, B codified a"},
		}},
		"names that begin alike": {"a field that begins like another is no part of it", []step{
			{[]string{"changed d spec", "undeclared d x"}, "A changed spec, B undeclared x"},
			{[]string{"pending d specs", "conflict d y"}, "A resolved, B resolved, C conflict y, D pending specs"},
		}},
		"deleted": {"a resource that is gone has all that was wrong with it", []step{
			{[]string{"changed d a", "pending d b", "undeclared e c"}, "A changed a, B undeclared c, C pending b"},
			{[]string{"missing d"}, "A missing, B merged into A, C merged into A"},
			{[]string{"changed d a", "pending d b"}, "A changed a, C pending b"},
		}},
		"created again": {"a resource that is made again in another form is the same", []step{
			{[]string{"missing d"}, "A missing"},
			{[]string{"changed d a"}, "A changed a"},
		}},
		"missed by another": {"which declaration misses it does not matter", []step{
			{[]string{"changed e a"}, "A changed a"},
			{[]string{"missing d"}, "A missing"},
			{[]string{"missing e"}, "A missing"},
		}},
		"no longer declared": {"what nobody declares any more is unmanaged, and the same", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"unmanaged -"}, "A unmanaged"},
			{[]string{"changed e a b"}, "A changed a b"},
		}},
		"not in an inventory": {"that one of the declarations lacks it is a thing of its own", []step{
			{[]string{"changed d a", "unmanaged not-f"}, "A changed a, B unmanaged"},
			{[]string{"unmanaged not-f"}, "A resolved, B unmanaged"},
			{[]string{"changed d a"}, "A changed a, B resolved"},
		}},
		"in the inventory, and different there": {"the inventory that lacked it disputes a field now", []step{
			{[]string{"unmanaged not-e"}, "A unmanaged"},
			{[]string{"disputed d a"}, "A disputed a"},
		}},
		"several may lack it": {"what has no declaration although others claim it ends as such", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"changed d a", "unmanaged not-"}, "A changed a, B unmanaged"},
			{[]string{"changed d a"}, "A changed a, B resolved"},
		}},
		"not declared by one of several": {"what is only unmanaged where it has claims ends the findings on these", []step{
			{[]string{"changed d a"}, "A changed a"},
			{[]string{"unmanaged not-"}, "A resolved, B unmanaged"},
		}},
		"claims of one declaration": {"each claim keeps its own", []step{
			{[]string{"changed d a", "changed d2 b"}, "A changed a, B changed b"},
			{[]string{"disputed d2 b", "disputed d a"}, "A disputed a, B disputed b"},
			{[]string{"disputed d2 b c"}, "A resolved, B disputed b c"},
		}},
		"unchecked": {"what could not be compared is no other form of what differs", []step{
			{[]string{"unchecked d"}, "A unchecked"},
			{[]string{"changed d a"}, "A resolved, B changed a"},
			{[]string{"unchecked d"}, "A unchecked, B remembered"},
			{[]string{"pending d a"}, "A resolved, B pending a"},
			{[]string{"pending d a", "unchecked e"}, "B pending a, C unchecked"},
			{[]string{"undeclared d a", "unchecked e"}, "B undeclared a, C unchecked"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTale()
			for i, step := range test.steps {
				if diff := cmp.Diff(step.want, s.sketch(s.scan(step.found, nil))); diff != "" {
					t.Errorf("%s: scan %d (-want +got):\n%s", test.reason, i+1, diff)
				}
			}
		})
	}
}

// TestIdentityWhereNotAllWasRead: what cannot be judged again keeps its ID, and
// gives it to no other finding.
func TestIdentityWhereNotAllWasRead(t *testing.T) {
	t.Parallel()
	unread := func(in *Input) {
		in.Declarations[1].Problems = []model.Problem{{Address: "all", Reason: "502"}}
		in.Judged[0].Subject.Claims = claims()[:2]
	}
	for name, test := range map[string]struct {
		reason        string
		before, found []string
		change        func(*Input)
		want          string
	}{
		"another claim's finding": {"a finding of a declaration that was not read is no other's", []string{"changed e a b"}, []string{"changed d a"}, unread,
			"A remembered, B unchecked, C changed a"},
		"a dispute": {"what a dispute holds is not judged without one of its parties", []string{"disputed d a"}, []string{"changed d a c"}, unread,
			"A remembered, B unchecked, C changed c"},
		"a dispute over other fields": {"nor does another dispute continue it", []string{"disputed d a"}, []string{"disputed d c"}, unread,
			"A remembered, B unchecked, C disputed c"},
		"a dispute over the same fields": {"but it is found again", []string{"disputed d a"}, []string{"disputed d a"}, unread,
			"A disputed a, B unchecked"},
		"its own claim": {"a claim that was compared judges its own finding", []string{"changed d a"}, []string{"conflict d a"}, unread,
			"A conflict a, B unchecked"},
		"the source was not read": {"nothing is over", []string{"changed d a"}, nil, func(in *Input) { in.Snapshots, in.Judged = nil, nil },
			"A remembered"},
		"one of its declaration's claims could not be compared": {"its own claim was", []string{"pending d a"}, []string{"bypassed d a", "unchecked d2"}, nil,
			"A bypassed a, B unchecked"},
		"its field is said of another claim": {"what was compared is judged, whatever else could not be", []string{"changed e a b"}, []string{"unchecked d2", "changed d a"}, nil,
			"A changed a, B unchecked"},
		"its own claim could not be compared": {"nor is it another claim's then", []string{"changed e a b"}, []string{"unchecked e", "changed d a"}, nil,
			"A remembered, B changed a, C unchecked"},
		"one claim could not be compared": {"another claim's finding waits", []string{"changed e a"}, []string{"unchecked e", "pending d b"}, nil,
			"A remembered, B unchecked, C pending b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTale()
			for _, f := range s.scan(test.before, nil).Current {
				s.letter(f.ID)
			}
			if diff := cmp.Diff(test.want, s.sketch(s.scan(test.found, test.change))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestIdentityKeepsWhatIsKnown(t *testing.T) {
	t.Parallel()
	s := newTale()
	began := s.scan([]string{"changed d a"}, nil).Current[0]
	r := s.scan([]string{"disputed d a"}, nil)
	f := r.Current[0]
	if !f.FirstSeen.Equal(began.FirstSeen) || f.Was == nil || f.Was.Verdict != model.Changed || !f.Was.At.Equal(s.now) || len(f.Flips) != 2 {
		t.Errorf("after a reclassification: first seen %s, was %v, %d flips", f.FirstSeen, f.Was, len(f.Flips))
	}
	at := f.Was.At
	if f = s.scan([]string{"disputed d a"}, nil).Current[0]; f.Was == nil || !f.Was.At.Equal(at) || len(f.Flips) != 2 {
		t.Errorf("a scan later: was %v, %d flips", f.Was, len(f.Flips))
	}
	s.scan([]string{"disputed d a", "changed d b"}, nil)
	r = s.scan([]string{"disputed d a b"}, nil)
	if got := r.Resolved[0]; got.MergedInto != began.ID || !got.Resolved.Equal(s.now) || !slices.Equal(r.Current[0].Merged, []string{got.ID}) {
		t.Errorf("%s was merged into %q, which has merged %v", got.ID, got.MergedInto, r.Current[0].Merged)
	}
	merged := r.Resolved[0].ID
	if f = s.scan([]string{"disputed d a b"}, nil).Current[0]; !slices.Equal(f.Merged, []string{merged}) {
		t.Errorf("a scan later it has merged %v", f.Merged)
	}
	for _, f := range s.scan([]string{"disputed d a", "changed d b"}, nil).Current {
		if f.MergedInto != "" || len(f.Merged) > 0 {
			t.Errorf("%s parted again: merged %v, into %q", f.ID, f.Merged, f.MergedInto)
		}
	}
}
