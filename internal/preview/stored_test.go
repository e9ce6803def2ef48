package preview_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/preview"
)

// TestDestroyedOnce checks that a resource that is destroyed with manual changes is listed once.
func TestDestroyedOnce(t *testing.T) {
	t.Parallel()
	changed, pending := found(model.Changed, by("mara", time.Hour), model.Change{Path: "size", Recorded: text("2"), Live: text("8")}), found(model.Pending, model.Actor{})
	changed.Destroys, pending.Destroys = true, true
	other := pending
	other.Key.ID += "-2"
	p, err := preview.FromFindings(known(changed, pending, other), options())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Items) != 2 || p.Items[0].Verdict != model.Changed || p.Items[1].Key != other.Key {
		t.Errorf("got %v", lines(&p))
	}
}

func TestFromFindings(t *testing.T) {
	t.Parallel()
	change := model.Change{Path: "size", Declared: text("2"), Live: text("8")}
	doubtful := change
	doubtful.Unproven = true
	mara := by("mara", time.Hour)
	in := func(declaration string, f model.Finding) model.Finding { f.Declaration = declaration; return f }
	replaces := func(f model.Finding) model.Finding { f.Replaces = true; return f }
	destroys := func(f model.Finding) model.Finding { f.Destroys = true; return f }
	left := model.Change{Path: "mode", Declared: text("a"), Live: text("b"), Unenforced: "it is not set"}
	claim := func(declaration, value string) model.ClaimedValue {
		return model.ClaimedValue{Declaration: declaration, Value: model.StringOf(value)}
	}
	contested := model.Change{Path: "size", Live: text("8"), Claims: []model.ClaimedValue{claim("infra", "8"), claim("shop", "2")}}
	for name, tc := range map[string]struct {
		reason      string
		finding     model.Finding
		declaration string
		want        []string
		kept        int
	}{
		"changed":             {"an apply overwrites it", found(model.Changed, mara, change), "infra", []string{"overwrite changed lab_server.web size by mara"}, 0},
		"another declaration": {"it is not asked for", found(model.Changed, mara, change), "shop", nil, 0},
		"all declarations":    {"each is asked for", found(model.Changed, mara, change), "", []string{"overwrite changed lab_server.web size by mara"}, 0},
		"bypassed":            {"an apply overwrites it", found(model.Bypassed, mara, change), "infra", []string{"overwrite bypassed lab_server.web size by mara"}, 0},
		"conflict":            {"an apply overwrites it", found(model.Conflict, mara, change), "infra", []string{"overwrite conflict lab_server.web size by mara"}, 0},
		"moved":               {"an apply moves it back", found(model.Moved, mara, change), "infra", []string{"overwrite moved lab_server.web size by mara"}, 0},
		"missing":             {"an apply creates it again", found(model.Missing, mara), "infra", []string{"create missing lab_server.web by mara"}, 0},
		"pending":             {"no manual change", found(model.Pending, mara, change), "infra", nil, 0},
		"pending or bypassed": {"nothing proves that it is none", found(model.Pending, mara, change, doubtful), "infra", []string{"overwrite pending or bypassed lab_server.web size by mara"}, 0},
		"pending, replaced":   {"the object goes with all that is on it", replaces(found(model.Pending, mara, change)), "infra", []string{"replace pending lab_server.web size by mara"}, 0},
		"changed, replaced":   {"it cannot be changed in place", replaces(found(model.Changed, mara, change)), "infra", []string{"replace changed lab_server.web size by mara"}, 0},
		"changed, destroyed":  {"nothing declares it any more", destroys(found(model.Changed, mara, change)), "infra", []string{"destroy changed lab_server.web size by mara"}, 0},
		"pending, destroyed":  {"the object goes with all that is on it", destroys(found(model.Pending, mara)), "infra", []string{"destroy pending lab_server.web by mara"}, 0},
		"left alone":          {"no apply changes it back", found(model.Changed, mara, left), "infra", nil, 1},
		"left alone in part":  {"an apply changes only the other field back", found(model.Changed, mara, change, left), "infra", []string{"overwrite changed lab_server.web size by mara"}, 0},
		"left, manifests":     {"a sync may overwrite what does not start one", in("shop", found(model.Changed, mara, left)), "shop", []string{"overwrite changed lab_server.web mode by mara"}, 0},
		"left, destroyed":     {"the object goes with all that is on it", destroys(found(model.Changed, mara, left)), "infra", []string{"destroy changed lab_server.web mode by mara"}, 0},
		"undeclared, Terraform": {"an apply resets an attribute that the configuration does not set",
			found(model.Undeclared, mara, change), "infra", []string{"reset undeclared lab_server.web size by mara"}, 0},
		"undeclared, manifests": {"an apply keeps the fields of others", in("shop", found(model.Undeclared, mara, change)), "shop", nil, 1},
		"unmanaged":             {"no apply touches it", in("", found(model.Unmanaged, mara)), "", nil, 1},
		"codified":              {"live is what is declared", found(model.Codified, mara, change), "infra", nil, 0},
		"waiting":               {"it is declared so", found(model.PendingRestart, mara, change), "infra", nil, 0},
		"inventory":             {"no tool applies it", in("intent", found(model.Changed, mara, change)), "", nil, 0},
		"disputed, won":         {"live is the value of this declaration", found(model.Disputed, mara, contested), "infra", nil, 0},
		"disputed, lost":        {"an apply of this one overwrites it", found(model.Disputed, mara, contested), "shop", []string{"overwrite disputed lab_server.web size by mara"}, 0},
		"resolved": {"it is over", func() model.Finding {
			f := found(model.Changed, mara, change)
			f.Resolved = now
			return f
		}(), "infra", nil, 0},
		"of no source of the run": {"it is of another scan in the same folder", func() model.Finding {
			f := found(model.Changed, mara, change)
			f.Source = "elsewhere"
			return f
		}(), "infra", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options()
			o.Declaration = tc.declaration
			p, err := preview.FromFindings(known(tc.finding), o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, lines(&p)); diff != "" || len(p.Kept) != tc.kept {
				t.Errorf("%s: %d kept, want %d (-want +got):\n%s", tc.reason, len(p.Kept), tc.kept, diff)
			}
		})
	}
}

func TestFromFindingsErrors(t *testing.T) {
	t.Parallel()
	for declaration, want := range map[string]string{
		"shpo":   `no declaration "shpo" was scanned: did you mean "shop"? (one of infra, intent, other, shop)`,
		"intent": "declaration intent is read from NetBox, and no tool applies it",
	} {
		o := options()
		o.Declaration = declaration
		if _, err := preview.FromFindings(known(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", declaration, err, want)
		}
	}
	o := options()
	o.Declaration = "infra"
	if _, err := preview.FromFindings(preview.Known{}, o); err == nil || !strings.Contains(err.Error(), "run driftd scan first") {
		t.Errorf("without a scan: %v", err)
	}
}

func TestGaps(t *testing.T) {
	t.Parallel()
	k := known(found(model.Unchecked, model.UnknownActor("")))
	k.Findings[0].Reason = "no permission"
	k.Run.Complete = false
	k.Run.Declarations[0].Err = "git is down"
	k.Run.Declarations[3].Problems = []model.Problem{{Address: "a.yaml", Reason: "no YAML"}}
	k.Run.Declarations[2].Governs, k.Run.Declarations[3].Governs = []string{"plan:other"}, []string{"prod"}
	k.Run.Coverage = []model.Coverage{{Source: "plan:infra", Reason: "git is down"}, {Source: "prod", Reason: "stale: not read yet"}}
	for declaration, want := range map[string][]preview.Gap{
		"":      {{"", "prod", "stale: not read yet"}, {"infra", "", "git is down"}, {"infra", "lab_server.web", "no permission"}, {"shop", "a.yaml", "no YAML"}},
		"shop":  {{"", "prod", "stale: not read yet"}, {"shop", "a.yaml", "no YAML"}},
		"other": nil,
		// Without a record of what it governs, each source counts.
		"infra": {{"", "prod", "stale: not read yet"}, {"infra", "", "git is down"}, {"infra", "lab_server.web", "no permission"}},
	} {
		o := options()
		o.Declaration = declaration
		p, err := preview.FromFindings(k, o)
		if diff := cmp.Diff(want, p.Gaps); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", declaration, err, diff)
		}
	}
	bare := known()
	bare.Run.Complete, bare.Run.NotChecked = false, model.NotChecked{Scopes: 2}
	if p, err := preview.FromFindings(bare, options()); err != nil || len(p.Gaps) != 1 || p.Gaps[0].Reason != "not checked: 2 scopes" {
		t.Errorf("an incomplete run without a reason: %v, %v", p.Gaps, err)
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	c, other := model.Change{Path: "a"}, model.Change{Path: "b"}
	earlier := by("ben", 50*time.Hour)
	other.Actor = &earlier
	future := by("mara", -time.Hour)
	for name, tc := range map[string]struct {
		reason string
		f      model.Finding
		age    time.Duration
		seen   bool
		old    bool
	}{
		"actor":       {"the time of the actor counts", found(model.Changed, by("mara", 2*time.Hour), c), 2 * time.Hour, false, false},
		"oldest":      {"of several changes the oldest counts", found(model.Changed, by("mara", 2*time.Hour), c, other), 50 * time.Hour, false, true},
		"unknown":     {"it is at least as old as its first scan", found(model.Changed, model.UnknownActor(""), c), time.Hour, true, false},
		"clock":       {"a time in the future is not trusted", found(model.Changed, future, c), time.Hour, true, false},
		"on the day":  {"the age itself is old", found(model.Missing, by("mara", 24*time.Hour)), 24 * time.Hour, false, true},
		"just before": {"a second less is not", found(model.Missing, by("mara", 24*time.Hour-time.Second)), 24*time.Hour - time.Second, false, false},
		"planned, by hand": {"a commit has no such age", func() model.Finding {
			f := found(model.Pending, by("lena", 90*time.Hour), c)
			f.Replaces = true
			return f
		}(), 0, false, false},
	} {
		p, err := preview.FromFindings(known(tc.f), options())
		if err != nil || len(p.Items) != 1 {
			t.Fatalf("%s: %v, %v", name, p.Items, err)
		}
		if it := p.Items[0]; it.AgeSeconds != int64(tc.age/time.Second) || it.SinceFirstSeen != tc.seen || it.Old != tc.old {
			t.Errorf("%s: %s: %d s, first seen %t, old %t", name, tc.reason, it.AgeSeconds, it.SinceFirstSeen, it.Old)
		}
	}
}

func TestHidden(t *testing.T) {
	t.Parallel()
	f := found(model.Changed, by("mara", time.Hour), model.Change{Path: "a"})
	f.Hidden = "noise"
	for shown, want := range map[bool][2]int{false: {0, 1}, true: {1, 0}} {
		o := options()
		o.Hidden = shown
		if p, err := preview.FromFindings(known(f), o); err != nil || [2]int{len(p.Items), p.Hidden} != want {
			t.Errorf("--hidden=%t: %d items, %d hidden, %v", shown, len(p.Items), p.Hidden, err)
		}
	}
}

// TestSorted checks, for any findings in any order: bypassed ones first, then by severity,
// declaration and address, and the same result for each order.
func TestSorted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		findings := make([]model.Finding, rapid.IntRange(0, 12).Draw(t, "n"))
		for i := range findings {
			f := found(rapid.SampledFrom(model.Verdicts()).Draw(t, "verdict"), by("mara", time.Duration(i)*time.Hour), model.Change{Path: "a", Live: text("1")})
			f.Severity = rapid.SampledFrom(model.Severities()).Draw(t, "severity")
			f.Declaration = rapid.SampledFrom([]string{"infra", "other", "shop", "intent"}).Draw(t, "declaration")
			f.Address = rapid.SampledFrom([]string{"a.b", "a.c", "x.y"}).Draw(t, "address")
			f.ID = fmt.Sprint(i)
			findings[i] = f
		}
		want, err := preview.FromFindings(known(findings...), options())
		if err != nil {
			t.Fatal(err)
		}
		got, err := preview.FromFindings(known(rapid.Permutation(findings).Draw(t, "order")...), options())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("another order (-want +got):\n%s", diff)
		}
		rank := func(it *preview.Item) string {
			last := 1
			if it.Verdict == model.Bypassed {
				last = 0
			}
			return fmt.Sprintf("%d %d %s %s", last, it.Severity.Rank(), it.Declaration, it.Address)
		}
		for i := 1; i < len(got.Items); i++ {
			if rank(&got.Items[i-1]) > rank(&got.Items[i]) {
				t.Fatalf("%s before %s", rank(&got.Items[i-1]), rank(&got.Items[i]))
			}
		}
	})
}
