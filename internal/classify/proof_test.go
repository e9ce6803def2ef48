package classify

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestGone reports whether the source or the declaration of a finding left the
// estate.
func TestGone(t *testing.T) {
	t.Parallel()
	p := newProof(&Input{Sources: []string{"s"}, Declarations: []model.Declaration{{Name: "d"}}})
	for reason, tc := range map[string]struct {
		source, declaration string
		want                bool
	}{
		"both are there":                         {"s", "d", false},
		"the source left":                        {"t", "d", true},
		"the declaration left":                   {"s", "e", true},
		"both left":                              {"t", "e", true},
		"no declaration, and the source stays":   {"s", "", false},
		"no declaration, and the source left":    {"t", "", true},
		"no source, and the declaration stays":   {"", "d", false},
		"no source, and the declaration left":    {"", "e", true},
		"neither a source nor a declaration":     {"", "", false},
		"names are compared as they are spelled": {"S", "d", true},
	} {
		f := model.Finding{Key: model.Key{Source: tc.source}, Declaration: tc.declaration}
		if got := p.isRemoved(&f); got != tc.want {
			t.Errorf("%s: got %t", reason, got)
		}
	}
}

// TestOver decides on findings that a scan did not make again, one input each.
func TestOver(t *testing.T) {
	t.Parallel()
	finding := model.Finding{Verdict: model.Changed, Key: key, Place: "p", Name: "a", Declaration: "d"}
	part := model.Finding{Verdict: model.Unchecked, Key: model.Key{Source: "s", Kind: PartKind, ID: "d/x"}, Declaration: "d"}
	record := model.Finding{Verdict: model.Changed, Key: model.Key{Source: "s", Kind: RecordKind, ID: "a"}, Declaration: "d", Address: "a"}
	unchecked := finding
	unchecked.Verdict = model.Unchecked
	foreign := finding
	foreign.Declaration = "left"
	unclaimed := finding
	unclaimed.Verdict, unclaimed.Declaration = model.Missing, ""
	for reason, tc := range map[string]struct {
		finding model.Finding
		change  func(*Input)
		want    bool
	}{
		"all was read":                        {finding, nil, true},
		"its declaration is not of this scan": {foreign, nil, false},
		"its declaration left the estate":     {foreign, func(in *Input) { in.Whole = true }, true},
		"the source left the estate":          {finding, func(in *Input) { in.Whole, in.Sources, in.Snapshots = true, nil, nil }, true},
		"the source was not read":             {finding, func(in *Input) { in.Whole, in.Snapshots = true, nil }, false},
		"the source may have an old copy":     {finding, func(in *Input) { in.Snapshots[0].Doubt(model.Scope{}, "no quorum") }, false},
		"its resource was not read":           {finding, func(in *Input) { in.Snapshots[0].Unread = []model.Unread{{Ref: model.Ref{Kind: key.Kind, ID: key.ID}}} }, false},
		"its list was not read": {finding, func(in *Input) {
			in.Snapshots[0].Unread = []model.Unread{{Ref: model.Ref{Kind: key.Kind, ID: "p/"}, All: true}}
		}, false},
		"another list was not read": {finding, func(in *Input) {
			in.Snapshots[0].Unread = []model.Unread{{Ref: model.Ref{Kind: key.Kind, ID: "p/b"}, All: true}}
		}, true},
		"a list of another kind was not read": {finding, func(in *Input) {
			in.Snapshots[0].Unread = []model.Unread{{Ref: model.Ref{Kind: "test/Other", ID: "p/"}, All: true}}
		}, true},
		"another resource was not read": {finding, func(in *Input) { in.Snapshots[0].Unread = []model.Unread{{Ref: model.Ref{Kind: key.Kind, ID: "p/b"}}} }, true},
		"its kind was not read":         {finding, func(in *Input) { in.Snapshots[0].Coverage[0].Complete = false }, false},
		"the source has no such kind":   {finding, func(in *Input) { in.Snapshots[0].Coverage = []model.Coverage{{Kind: "test/Other"}} }, true},
		"the source has the kind, but did not read it": {finding, func(in *Input) {
			in.Snapshots[0].Coverage, in.Snapshots[0].Kinds = []model.Coverage{{Kind: "test/Other"}}, map[string]*model.Kind{key.Kind: {}}
		}, false},
		"a group of kinds with it was not read": {finding, func(in *Input) { in.Snapshots[0].Coverage = []model.Coverage{{Kind: "test/*."}} }, false},
		"a claim on such a kind is gone":        {unchecked, func(in *Input) { in.Snapshots[0].Coverage = []model.Coverage{{Kind: "test/*.", Skipped: true}} }, true},
		"a claim on a kind that failed is gone": {unchecked, func(in *Input) {
			in.Snapshots[0].Coverage, in.Snapshots[0].Kinds = []model.Coverage{{Kind: key.Kind}}, map[string]*model.Kind{key.Kind: {}}
		}, false},
		"a part was read again":                {part, func(in *Input) { in.Snapshots = nil }, true},
		"a part of a declaration that was not": {part, func(in *Input) { in.Declarations = nil }, false},
		"a part, and another one is broken":    {part, func(in *Input) { in.Declarations[0].Problems = []model.Problem{{Address: "y"}} }, true},
		"a part may declare it": {finding, func(in *Input) {
			in.Declarations[0].Problems = []model.Problem{{Address: "y", Bounded: true, Extents: []model.Extent{{Kind: "kubernetes/Job.batch"}, {Place: "p"}}}}
		}, false},
		"a part declares other resources": {finding, func(in *Input) {
			in.Declarations[0].Problems = []model.Problem{{Address: "y", Bounded: true, Extents: []model.Extent{{Kind: "kubernetes/Job.batch"}, {Place: "q"}, {Place: "p", Name: "other"}}}}
		}, true},
		"a part may declare anything": {finding, func(in *Input) {
			in.Declarations[0].Problems = []model.Problem{{Address: "y", Bounded: true}, {Address: "z"}}
		}, false},
		"a record was read again":                {record, func(in *Input) { in.Declarations[0].States = []model.StateRead{{Address: "b"}, {Address: "a"}} }, true},
		"another record was read":                {record, func(in *Input) { in.Declarations[0].States = []model.StateRead{{Address: "b"}} }, false},
		"no record was read":                     {record, nil, false},
		"the record's declaration was not read":  {record, func(in *Input) { in.Declarations = nil }, false},
		"no declaration, and all is readable":    {unclaimed, nil, true},
		"no declaration, and a part is not":      {unclaimed, func(in *Input) { in.Declarations[0].Problems = []model.Problem{{Address: "x"}} }, false},
		"no declaration, and nothing governs it": {unclaimed, func(in *Input) { in.Declarations[0].Governs = nil }, false},
		"no declaration, and nothing governs it in the whole estate": {unclaimed, func(in *Input) {
			in.Whole, in.Declarations[0].Governs = true, nil
		}, true},
		"no declaration, and a part is not readable in the whole estate": {unclaimed, func(in *Input) {
			in.Whole, in.Declarations[0].Problems = true, []model.Problem{{Address: "x"}}
		}, false},
		"no declaration, and a part elsewhere": {unclaimed, func(in *Input) {
			in.Declarations = append(in.Declarations, model.Declaration{Name: "e", Governs: []string{"t"}, Problems: []model.Problem{{Address: "x"}}})
		}, true},
		"an unclear claim may mean it": {finding, func(in *Input) {
			in.Judged[0].Subject.Key.ID = "other"
			in.Judged[0].Outcomes = []model.Outcome{{Verdict: model.Unchecked, Claim: &model.Claim{Declaration: "d", ClaimMatching: model.ClaimMatching{Covers: []model.Ref{{Kind: key.Kind, ID: key.ID}}}}}}
		}, false},
		"a clear claim stands for it": {finding, func(in *Input) {
			in.Judged[0].Subject.Key.ID = "other"
			in.Judged[0].Outcomes = []model.Outcome{{Verdict: model.Changed, Claim: &model.Claim{Declaration: "d", ClaimMatching: model.ClaimMatching{Covers: []model.Ref{{Kind: key.Kind, ID: key.ID}}}}}}
		}, true},
		"no claim at all": {finding, func(in *Input) {
			in.Judged[0].Subject.Key.ID = "other"
			in.Judged[0].Outcomes = []model.Outcome{{Verdict: model.Unchecked}, {Verdict: model.Unmanaged}}
		}, true},
	} {
		in := input()
		in.Judged[0].Subject.Key.ID = "elsewhere"
		in.Sources, in.Earlier = []string{"s"}, []model.Finding{tc.finding}
		if tc.change != nil {
			tc.change(&in)
		}
		if got := newProof(&in).isResolved(&tc.finding); got != tc.want {
			t.Errorf("%s: got %t", reason, got)
		}
	}
}

// TestParties names the declarations that a finding is about.
func TestParties(t *testing.T) {
	t.Parallel()
	p := newProof(&Input{Declarations: []model.Declaration{{Name: "tool", Governs: []string{"s"}},
		{Name: "z-inventory", Inventory: true, Governs: []string{"s"}}, {Name: "a-inventory", Inventory: true, Governs: []string{"s"}},
		{Name: "other", Inventory: true, Governs: []string{"t"}}}})
	dispute := []model.Change{{Claims: []model.ClaimedValue{{Declaration: "z"}, {Declaration: "d"}}}, {Claims: []model.ClaimedValue{{Declaration: "a"}}}}
	for reason, tc := range map[string]struct {
		finding model.Finding
		want    []string
	}{
		"its own":              {model.Finding{Verdict: model.Changed, Declaration: "d"}, []string{"d"}},
		"none":                 {model.Finding{Verdict: model.Unmanaged}, nil},
		"those that dispute":   {model.Finding{Verdict: model.Disputed, Declaration: "d", Changes: dispute}, []string{"a", "d", "z"}},
		"inventories of moves": {model.Finding{Verdict: model.Moved, Declaration: "m", Key: key}, []string{"a-inventory", "m", "z-inventory"}},
	} {
		if diff := cmp.Diff(tc.want, p.parties(&tc.finding)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestReadAt checks when a resource was read, with the rest of its source or again, or now if that failed.
func TestReadAt(t *testing.T) {
	t.Parallel()
	again := model.Reread{Ref: model.Ref{Kind: "k", ID: "again"}, At: earlier.Add(time.Minute)}
	p := newProof(&Input{Now: now, Snapshots: []model.Snapshot{{Source: "s", Taken: earlier, Reread: []model.Reread{again}}, {Source: "timeless"}}})
	for key, want := range map[model.Key]time.Time{{Source: "s", Kind: "k", ID: "1"}: earlier, {Source: "s", Kind: "k", ID: "again"}: again.At,
		{Source: "timeless"}: now, {Source: "unread"}: now} {
		if got := p.readAt(key); !got.Equal(want) {
			t.Errorf("%s: got %s, want %s", key, got, want)
		}
	}
}
