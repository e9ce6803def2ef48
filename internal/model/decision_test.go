package model

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func pointer(v Value) *Value { return &v }

// decided is a finding about which people decide.
func decided() *Finding {
	return &Finding{ID: "f1", Verdict: Changed, Key: Key{Source: "s", Kind: "test/Thing", ID: "p/a"}, Declaration: "d", Basis: "b1",
		Changes: []Change{
			{Path: "color", Declared: pointer(StringOf("blue")), Live: pointer(StringOf("red"))},
			{Path: "size", Declared: pointer(IntOf(1))},
		}}
}

func TestDecisionAbout(t *testing.T) {
	t.Parallel()
	key := decided().Key
	for reason, tc := range map[string]struct {
		decision Decision
		want     bool
	}{
		"the finding":                              {Decision{Finding: "f1"}, true},
		"another finding":                          {Decision{Finding: "f2"}, false},
		"the beginning of an ID is no ID":          {Decision{Finding: "f"}, false},
		"another finding of the same resource":     {Decision{Finding: "f2", Subject: Target{Key: key}}, false},
		"the finding, whatever names it to people": {Decision{Finding: "f1", Subject: Target{Key: Key{Source: "other"}}}, true},
		"the resource":                             {Decision{Subject: Target{Key: key}}, true},
		"the resource in the declaration":          {Decision{Subject: Target{Key: key, Declaration: "d"}}, true},
		"the resource in another declaration":      {Decision{Subject: Target{Key: key, Declaration: "e"}}, false},
		"the resource with the verdict":            {Decision{Subject: Target{Key: key, Verdict: Changed}}, true},
		"the resource with another verdict":        {Decision{Subject: Target{Key: key, Verdict: Missing}}, false},
		"another resource":                         {Decision{Subject: Target{Key: Key{Source: "s", Kind: "test/Thing", ID: "p/b"}}}, false},
		"the resource of another source":           {Decision{Subject: Target{Key: Key{Source: "t", Kind: "test/Thing", ID: "p/a"}}}, false},
		"nothing":                                  {Decision{}, false},
		"what it shows and when make no difference": {
			Decision{Finding: "f1", Basis: "b2", Until: noon.Add(-time.Hour)}, true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if got := tc.decision.About(decided()); got != tc.want {
				t.Errorf("%+v is about it: %t", tc.decision, got)
			}
		})
	}
}

func TestDecisionHolds(t *testing.T) {
	t.Parallel()
	color, size := Change{Path: "color"}, Change{Path: "size"}
	with := func(change func(*Change)) Change { c := Change{Path: "color"}; change(&c); return c }
	shows := func(changes ...Change) Decision {
		return Decision{Subject: Target{Key: decided().Key}, Changes: changes}
	}
	for reason, tc := range map[string]struct {
		decision Decision
		change   func(*Finding)
		want     bool
	}{
		"the basis is the same":              {Decision{Finding: "f1", Basis: "b1"}, nil, true},
		"the basis is another":               {Decision{Finding: "f1", Basis: "b2"}, nil, false},
		"it is about another":                {Decision{Finding: "f2", Basis: "b1"}, nil, false},
		"its time is not up":                 {Decision{Finding: "f1", Basis: "b1", Until: noon.Add(1)}, nil, true},
		"its time is up this moment":         {Decision{Finding: "f1", Basis: "b1", Until: noon}, nil, false},
		"it was replaced":                    {Decision{Finding: "f1", Basis: "b1", ReplacedBy: "d2", Replaced: noon.Add(-1)}, nil, false},
		"it was replaced by a clock ahead":   {Decision{Finding: "f1", Basis: "b1", ReplacedBy: "d2", Replaced: noon.Add(24 * time.Hour)}, nil, false},
		"the basis counts, not the changes":  {Decision{Finding: "f1", Basis: "b1", Changes: []Change{{Path: "other"}}}, nil, true},
		"the paths are shown":                {shows(color, size), nil, true},
		"in any order":                       {shows(size, color), nil, true},
		"one less than shown":                {shows(color), nil, false},
		"one more than shown":                {shows(color, size, Change{Path: "x"}), nil, false},
		"another path":                       {shows(color, Change{Path: "x"}), nil, false},
		"the same path twice is not two":     {shows(color, color), nil, false},
		"no path, of a finding that has any": {shows(), nil, false},
		"no path, of the whole resource":     {shows(), func(f *Finding) { f.Changes = nil }, true},
		"the live value":                     {shows(with(func(c *Change) { c.Live = pointer(StringOf("red")) }), size), nil, true},
		"another live value":                 {shows(with(func(c *Change) { c.Live = pointer(StringOf("green")) }), size), nil, false},
		"the declared value":                 {shows(with(func(c *Change) { c.Declared = pointer(StringOf("blue")) }), size), nil, true},
		"another declared value":             {shows(with(func(c *Change) { c.Declared = pointer(StringOf("red")) }), size), nil, false},
		"a recorded value that is not shown": {shows(with(func(c *Change) { c.Recorded = pointer(StringOf("blue")) }), size), nil, false},
		"a live value of what is not live":   {shows(color, Change{Path: "size", Live: pointer(IntOf(1))}), nil, false},
		"null is a value too":                {shows(with(func(c *Change) { c.Live = pointer(Value{}) }), size), nil, false},
		"a text is no number":                {shows(color, Change{Path: "size", Declared: pointer(StringOf("1"))}), nil, false},
		"a file cannot speak of a secret":    {shows(color, size), func(f *Finding) { f.Changes[1].Secret = true }, false},
		"a basis can":                        {Decision{Finding: "f1", Basis: "b1"}, func(f *Finding) { f.Changes[1].Secret = true }, true},
		"the paths are shown, too late": {
			Decision{Subject: Target{Key: decided().Key}, Changes: []Change{color, size}, Until: noon.Add(-1)}, nil, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			f := decided()
			if tc.change != nil {
				tc.change(f)
			}
			if got := tc.decision.Holds(f, noon); got != tc.want {
				t.Errorf("%+v holds: %t", tc.decision, got)
			}
		})
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	d := func(id string, kind DecisionKind, after time.Duration) Decision {
		return Decision{ID: id, Kind: kind, Finding: "f1", Basis: "b1", At: noon.Add(after)}
	}
	ended, gone, whole := d("a", Accept, 0), d("b", Accept, 0), d("c", Snooze, 0)
	ended.Until, gone.Basis = noon, "b0"
	whole.Finding, whole.Subject = "", Target{Key: decided().Key}
	for reason, tc := range map[string]struct {
		list []Decision
		want string
	}{
		"nobody decided":                       {nil, ""},
		"one":                                  {[]Decision{d("a", Snooze, 0)}, "a"},
		"the strongest":                        {[]Decision{d("a", Acknowledge, 2), d("b", Accept, 0), d("c", Snooze, 1)}, "b"},
		"of one kind the later":                {[]Decision{d("a", Snooze, 0), d("b", Snooze, 1)}, "b"},
		"of one kind and time the first ID":    {[]Decision{d("b", Snooze, 0), d("a", Snooze, 0)}, "a"},
		"what ended leaves room":               {[]Decision{ended, d("z", Acknowledge, 0)}, "z"},
		"what does not hold leaves room":       {[]Decision{gone, d("z", Acknowledge, 0)}, "z"},
		"nothing holds":                        {[]Decision{ended, gone}, ""},
		"about the finding or its resource":    {[]Decision{whole, d("z", Acknowledge, 0)}, "c"},
		"a kind that is not known is weakest":  {[]Decision{d("a", "shrug", 1), d("b", Acknowledge, 0)}, "b"},
		"and counts where there is none else":  {[]Decision{d("a", "shrug", 0)}, "a"},
		"what is about others does not matter": {[]Decision{{ID: "a", Kind: Accept, Finding: "f2", Basis: "b1"}, d("b", Snooze, 0)}, "b"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			index, f := IndexDecisions(tc.list), decided()
			if changed := index.Settle(f, noon); changed != (tc.want != "") {
				t.Errorf("changed: %t", changed)
			}
			if got := settled(f); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if index.Settle(f, noon) {
				t.Error("once more, and it changed")
			}
			if changed := (DecisionIndex{}).Settle(f, noon); changed != (tc.want != "") || f.Decision != nil {
				t.Errorf("without decisions it is %v, changed: %t", f.Decision, changed)
			}
		})
	}
}

// settled is the ID of the decision that is noted on a finding.
func settled(f *Finding) string {
	if f.Decision == nil {
		return ""
	}
	return f.Decision.ID
}

// TestSettleNotesWhatLasts: what a file's decision shows is neither repeated nor
// does it follow each commit; the decision itself stays as it is.
func TestSettleNotesWhatLasts(t *testing.T) {
	t.Parallel()
	f := decided()
	list := []Decision{{ID: "a", Kind: Accept, Subject: Target{Key: f.Key}, Changes: f.Changes, At: noon,
		Via: "accepted/acceptances.yaml:12", From: "accepted", Reason: "r"}}
	if !IndexDecisions(list).Settle(f, noon) {
		t.Fatal("it does not hold")
	}
	want := &Decision{ID: "a", Kind: Accept, Subject: Target{Key: f.Key}, Via: "accepted/acceptances.yaml", From: "accepted", Reason: "r"}
	if diff := cmp.Diff(want, f.Decision); diff != "" {
		t.Errorf("noted (-want +got):\n%s", diff)
	}
	if list[0].Changes == nil || list[0].At.IsZero() {
		t.Errorf("the decision became %+v", list[0])
	}
}

// anyDecision may be about the finding of decided, or not, and hold, or not.
func anyDecision(t *rapid.T, id string) Decision {
	d := Decision{ID: id, At: noon.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "at")) * time.Hour),
		Kind:  rapid.SampledFrom(DecisionKinds()).Draw(t, "kind"),
		Until: rapid.SampledFrom([]time.Time{{}, noon, noon.Add(time.Hour)}).Draw(t, "until"),
		Basis: rapid.SampledFrom([]string{"b1", "b1", "b2"}).Draw(t, "basis")}
	switch rapid.IntRange(0, 2).Draw(t, "about") {
	case 0:
		d.Finding = rapid.SampledFrom([]string{"f1", "f2"}).Draw(t, "finding")
	case 1:
		d.Subject = Target{Key: decided().Key, Verdict: rapid.SampledFrom([]Verdict{"", Changed, Missing}).Draw(t, "verdict")}
	case 2:
		d.Subject, d.Basis = Target{Key: decided().Key}, ""
		d.Changes = rapid.SampledFrom([][]Change{decided().Changes, {{Path: "x"}}}).Draw(t, "changes")
	}
	return d
}

// TestOrderOfDecisions: it never matters, and what is noted holds while nothing
// stronger does.
func TestOrderOfDecisions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var list []Decision
		for i := range rapid.IntRange(0, 6).Draw(t, "decisions") {
			list = append(list, anyDecision(t, string(rune('a'+i))))
		}
		one, other := decided(), decided()
		IndexDecisions(list).Settle(one, noon)
		IndexDecisions(rapid.Permutation(list).Draw(t, "order")).Settle(other, noon)
		if diff := cmp.Diff(one, other); diff != "" {
			t.Fatalf("the order of %+v matters (-one +other):\n%s", list, diff)
		}
		for i := range list {
			switch d := &list[i]; {
			case d.ID == settled(one) && !d.Holds(decided(), noon):
				t.Fatalf("%+v is noted and does not hold", d)
			case d.Holds(decided(), noon) && (one.Decision == nil || d.Kind.Rank() < one.Decision.Kind.Rank()):
				t.Fatalf("%+v holds, and what is noted is %+v", d, one.Decision)
			}
		}
	})
}
