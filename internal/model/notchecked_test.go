package model

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// whole is a run in which everything was checked, and the time of At.
func whole() (Run, time.Time) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return Run{
		Sources: []SourceRun{
			{Name: "edge", Taken: now.Add(-20 * time.Minute), Every: 10 * time.Minute},
			{Name: "prod", Taken: now.Add(-time.Minute)},
		},
		Declarations: []DeclarationRun{{Name: "shop"}},
		Coverage:     []Coverage{{Source: "edge", Complete: true}, {Source: "prod", Complete: true}, {Source: "prod", Kind: "kubernetes/Event", Skipped: true}},
	}, now
}

func unchecked(source, kind, id string) Finding {
	return Finding{Verdict: Unchecked, Key: Key{Source: source, Kind: kind, ID: id}, Declaration: "shop"}
}

func TestRunAt(t *testing.T) {
	t.Parallel()
	accepted := &Decision{Kind: Accept}
	for name, tt := range map[string]struct {
		reason string
		change func(*Run, time.Time)
		open   []Finding
		want   NotChecked
	}{
		"whole":       {reason: "nothing is missing"},
		"unreachable": {reason: "its last read failed", change: func(r *Run, _ time.Time) { r.Sources[0].Err = "refused" }, want: NotChecked{Unreachable: 1}},
		"all unreachable": {reason: "each counts", change: func(r *Run, _ time.Time) { r.Sources[0].Err, r.Sources[1].Err = "refused", "refused" },
			want: NotChecked{Unreachable: 2}},
		"failed coverage of it": {reason: "its scopes are not counted apart", change: func(r *Run, _ time.Time) {
			r.Sources[0].Err = "refused"
			r.Coverage[0] = Coverage{Source: "edge", Reason: "refused"}
		}, want: NotChecked{Unreachable: 1}},
		"held back": {reason: "it was read, and that is not believed", change: func(r *Run, _ time.Time) {
			r.Sources[0].Err, r.Sources[0].Held = "9 of 9 vanished", true
		}, want: NotChecked{Stale: 1}},
		"held back without a reason": {reason: "a record of an older version", change: func(r *Run, _ time.Time) { r.Sources[0].Held = true }, want: NotChecked{Stale: 1}},
		"stale": {reason: "three of its intervals have passed", change: func(r *Run, now time.Time) {
			r.Sources[0].Taken = now.Add(-30*time.Minute - time.Second)
		}, want: NotChecked{Stale: 1}},
		"read in the future": {reason: "the clock was set back, and it was not read since", change: func(r *Run, now time.Time) {
			r.Sources[0].Taken = now.Add(24 * time.Hour)
		}, want: NotChecked{Stale: 1}},
		"read a moment ahead": {reason: "NTP has corrected the clock", change: func(r *Run, now time.Time) { r.Sources[0].Taken = now.Add(time.Minute) }},
		"nearly stale":        {reason: "three of its intervals have not passed", change: func(r *Run, now time.Time) { r.Sources[0].Taken = now.Add(-30 * time.Minute) }},
		"old without a schedule": {reason: "an hour has passed", change: func(r *Run, now time.Time) {
			r.Sources[1].Taken = now.Add(-time.Hour - time.Second)
		}, want: NotChecked{Stale: 1}},
		"not so old without a schedule": {reason: "an hour has not passed", change: func(r *Run, now time.Time) { r.Sources[1].Taken = now.Add(-time.Hour) }},
		"never read":                    {reason: "nothing is known of it", change: func(r *Run, _ time.Time) { r.Sources[1].Taken = time.Time{} }, want: NotChecked{Stale: 1}},
		"scopes": {reason: "two kinds could not be read, one of them is there twice", change: func(r *Run, _ time.Time) {
			r.Coverage = append(r.Coverage, Coverage{Source: "prod", Kind: "a", Reason: "x"}, Coverage{Source: "prod", Kind: "a", Reason: "y"},
				Coverage{Source: "prod", Kind: "a", Place: "p"}, Coverage{Source: "prod", Kind: "b", Skipped: true})
		}, want: NotChecked{Scopes: 2}},
		"resources": {reason: "a resource counts once", open: []Finding{unchecked("prod", "a", "1"), unchecked("prod", "a", "1"), unchecked("prod", "a", "2")},
			want: NotChecked{Resources: 2}},
		"accepted": {reason: "somebody said that it need not be", open: []Finding{{Verdict: Unchecked, Key: Key{Source: "prod"}, Decision: accepted}}},
		"hidden":   {reason: "a rule says so", open: []Finding{{Verdict: Unchecked, Key: Key{Source: "prod"}, Hidden: "noise"}}},
		"snoozed": {reason: "that is not an acceptance", open: []Finding{{Verdict: Unchecked, Key: Key{Source: "prod"}, Decision: &Decision{Kind: Snooze}}},
			want: NotChecked{Resources: 1}},
		"resolved": {reason: "it is over", open: []Finding{{Verdict: Unchecked, Key: Key{Source: "prod"}, Resolved: time.Unix(1, 0)}}},
		"drift":    {reason: "it was checked", open: []Finding{{Verdict: Changed, Key: Key{Source: "prod"}}}},
		"foreign":  {reason: "another scan shares the folder", open: []Finding{unchecked("other", "a", "1")}},
		"problem": {reason: "a part has a finding", change: problem, open: []Finding{unchecked("prod", PartKind, PartID("shop", "a.yaml"))},
			want: NotChecked{Parts: 1}},
		"accepted problem": {reason: "its finding is accepted", change: problem,
			open: []Finding{{Verdict: Unchecked, Key: Key{Source: "prod", Kind: PartKind, ID: PartID("shop", "a.yaml")}, Declaration: "shop", Decision: accepted}}},
		"problem without a finding": {reason: "it counts all the same", change: problem, want: NotChecked{Parts: 1}},
		"declaration not read": {reason: "the declaration as a whole has a finding, under its own name", open: []Finding{unchecked("prod", PartKind, "shop")},
			change: func(r *Run, _ time.Time) {
				r.Declarations[0].Problems = []Problem{{Address: "shop", Reason: "no answer"}}
			}, want: NotChecked{Parts: 1}},
		"problem, and a finding of another": {reason: "both count", change: problem, open: []Finding{unchecked("prod", PartKind, PartID("shop", "b.yaml"))},
			want: NotChecked{Parts: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, now := whole()
			if tt.change != nil {
				tt.change(&before, now)
			}
			before.NotChecked, before.Complete = NotChecked{Parts: 99}, tt.want.Any()
			coverage := len(before.Coverage)
			got := before.At(now, tt.open)
			if diff := cmp.Diff(tt.want, got.NotChecked); diff != "" || got.Complete == tt.want.Any() {
				t.Errorf("%s: complete %v, (-want +got):\n%s", tt.reason, got.Complete, diff)
			}
			if scan := got.Scan(); scan.Complete != got.Complete || scan.NotChecked != got.NotChecked {
				t.Errorf("%s: the report says something else: %+v", tt.reason, scan)
			}
			if len(before.Coverage) != coverage {
				t.Errorf("%s: the run that was given changed", tt.reason)
			}
			if again := got.At(now, tt.open); again.NotChecked != got.NotChecked || !cmp.Equal(again.Coverage, got.Coverage) {
				t.Errorf("%s: a second time it is %+v", tt.reason, again)
			}
		})
	}
}

func problem(r *Run, _ time.Time) {
	r.Declarations[0].Problems = []Problem{{Address: "a.yaml", Reason: "no YAML"}}
}

// TestStaleSourceIsInTheCoverage holds that a report lists why a source is stale.
func TestStaleSourceIsInTheCoverage(t *testing.T) {
	t.Parallel()
	r, now := whole()
	r.Sources[0].Taken = now.Add(-45 * time.Minute)
	r.Sources[1].Taken = now.Add(-25 * time.Hour)
	got := r.At(now, nil).Coverage
	want := append(r.Coverage, Coverage{Source: "edge", Reason: "stale: not read for 4 of its intervals of 10m0s"},
		Coverage{Source: "prod", Reason: "stale: not read for more than 1h0m0s"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.Sources[0].Err, r.Sources[0].Held = "5 vanished", true
	if got := r.At(now, nil).Coverage; len(got) != len(r.Coverage)+1 {
		t.Errorf("what has a reason of its own has a second one: %+v", got)
	}
}

func TestNotCheckedString(t *testing.T) {
	t.Parallel()
	for want, n := range map[string]NotChecked{
		"":                        {},
		"1 source unreachable":    {Unreachable: 1},
		"2 sources stale":         {Stale: 2},
		"1 scope, 2 resources":    {Scopes: 1, Resources: 2},
		"3 parts of declarations": {Parts: 3},
		"2 sources unreachable, 1 source stale, 2 scopes, 1 part of a declaration, 1 resource": {Unreachable: 2, Stale: 1, Scopes: 2, Parts: 1, Resources: 1},
	} {
		if got := n.String(); got != want || n.Any() != (want != "") {
			t.Errorf("%+v is %q, %v; want %q", n, got, n.Any(), want)
		}
	}
	if n := (NotChecked{Unreachable: 2, Stale: 1, Scopes: 9}); n.Sources() != 3 {
		t.Errorf("%d sources", n.Sources())
	}
}
