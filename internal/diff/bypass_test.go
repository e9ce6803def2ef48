package diff

import (
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// declaredBefore returns evidence that values were declared earlier, at unknown times.
func declaredBefore(values ...model.Value) *model.Evidence {
	e := &model.Evidence{}
	for i := range values {
		e.Versions = append(e.Versions, model.Version{Value: &values[i]})
	}
	return e
}

// hour returns a time of the tests' day.
func hour(h float64) time.Time { return created.Add(time.Duration(h * float64(time.Hour))) }

// observations returns the values of scans, newest first, of lines such as "12 {json}" and "12
// gone".
func observations(t *testing.T, lines ...string) []model.Observation {
	t.Helper()
	var list []model.Observation
	for _, line := range lines {
		at, text, _ := strings.Cut(line, " ")
		hours, err := time.ParseDuration(at + "h")
		if err != nil {
			t.Fatal(err)
		}
		o := model.Observation{At: created.Add(hours)}
		if text != "gone" {
			v := value(t, text)
			o.Value = &v
		}
		list = append(list, o)
	}
	return list
}

// version returns the value that a commit declared until another one replaced it at an hour.
func version(t *testing.T, text, commit, next string, at float64) model.Version {
	t.Helper()
	v := model.Version{From: model.Commit{Hash: commit}, Until: model.Commit{Hash: next, When: hour(at)}}
	if text != "" {
		val := value(t, text)
		v.Value = &val
	}
	return v
}

// TestRule checks the table of decision 24 for one field. It is declared as 2, live and
// recorded as 1, and applied at hour 10, unless a case differs.
func TestRule(t *testing.T) {
	t.Parallel()
	const window = time.Hour
	branch := func(text string) model.Version {
		v := version(t, text, "b0b0b0b0b0b0b0b0", "", 0)
		v.Branch, v.Until = "feature/x", model.Commit{}
		return v
	}
	old := func(superseded float64) []model.Version {
		return []model.Version{version(t, `{"port":2}`, "def456", "", 0), version(t, `{"port":1}`, "abc123", "def456", superseded)}
	}
	// between returns versions of the ref: a third value until one hour, then the live value until
	// another, then the declared one. twice has the declared value in place of the third.
	between := func(from, until float64) []model.Version {
		return []model.Version{version(t, `{"port":1}`, "c2", "c3", until), version(t, `{"port":3}`, "c1", "c2", from)}
	}
	twice := func(from, until float64) []model.Version {
		return []model.Version{version(t, `{"port":2}`, "c3", "", 0), version(t, `{"port":1}`, "c2", "c3", until), version(t, `{"port":2}`, "c1", "c2", from)}
	}
	for name, tc := range map[string]struct {
		reason   string
		evidence model.Evidence
		declared string
		live     string
		applied  float64
		want     string
	}{
		"never declared": {reason: "the whole history is known and has no such value",
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{version(t, `{"port":3}`, "abc", "def", 1)}}},
			want:     "bypassed: applied, and declared by no commit"},
		"declared for another resource only": {reason: "a version in which the resource is not declared declares no absence",
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{version(t, "", "abc", "def", 1)}}}, live: `{}`,
			want: "bypassed: applied, and declared by no commit"},
		"absence was declared": {reason: "absence is a value",
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{version(t, `{"cpu":1}`, "abc", "def", 11)}}}, live: `{}`,
			want: "pending"},
		"no longer declared and never declared": {reason: "a field that an apply added and no commit has", declared: `{}`,
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{version(t, `{}`, "abc", "def", 1)}}},
			want:     "bypassed: applied, and declared by no commit"},
		"another branch": {reason: "applied from a branch that is not merged",
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{branch(`{"port":1}`)}}},
			want:     "bypassed: applied from feature/x (commit b0b0b0b0b0b0), which is not merged"},
		"another branch, apply before merge": {reason: "the setting makes it the ordinary way",
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{branch(`{"port":1}`)}}, ApplyBeforeMerge: true},
			want:     "pending"},
		"apply before merge excuses no other value": {reason: "the branch declares something else",
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{branch(`{"port":7}`)}}, ApplyBeforeMerge: true},
			want:     "bypassed: applied, and declared by no commit"},
		"another branch, known although history is cut": {reason: "the branch is evidence enough",
			evidence: model.Evidence{Past: model.Past{Gap: "history is cut", Versions: []model.Version{branch(`{"port":1}`)}}},
			want:     "bypassed: applied from feature/x (commit b0b0b0b0b0b0), which is not merged"},
		"applied before the next commit": {reason: "git is ahead", evidence: model.Evidence{Past: model.Past{Versions: old(11)}}, want: "pending"},
		"applied at the end of the window": {reason: "a deploy may take as long as the window",
			evidence: model.Evidence{Past: model.Past{Versions: old(9)}}, want: "pending"},
		"applied after the window": {reason: "an older version came back",
			evidence: model.Evidence{Past: model.Past{Versions: old(8.9)}},
			want:     "bypassed: an older version (abc123) was applied after def456"},
		"the newest time of a value counts": {reason: "declared, superseded, declared and superseded again",
			evidence: model.Evidence{Past: model.Past{Versions: append(old(9.5), version(t, `{"port":1}`, "000", "111", 2))}}, want: "pending"},
		"seen live before the next commit": {reason: "an earlier scan takes precedence over the time of a writer",
			evidence: model.Evidence{Past: model.Past{Versions: old(4)}, Live: observations(t, `3 {"port":1}`)}, want: "pending"},
		"seen with another value after the next commit": {reason: "managedFields with a forged time do not help: driftd saw another value later", applied: 2,
			evidence: model.Evidence{Past: model.Past{Versions: old(4)}, Live: observations(t, `9 {"port":1}`, `8 {"port":3}`)},
			want:     "bypassed: an older version (abc123) was applied after def456"},
		"seen with another value within the window": {reason: "the deploy of the older version was under way", applied: 2,
			evidence: model.Evidence{Past: model.Past{Versions: old(4)}, Live: observations(t, `4.9 {"port":1}`, `4.5 {"port":3}`)}, want: "pending"},
		"seen with another value by the last scan": {reason: "a forged time does not help", applied: 2,
			evidence: model.Evidence{Past: model.Past{Versions: old(4)}, LastRead: hour(9), Live: observations(t, `4.5 {"port":3}`)},
			want:     "bypassed: an older version (abc123) was applied after def456"},
		"the last scan saw this value": {reason: "it may have come long before", applied: 2,
			evidence: model.Evidence{Past: model.Past{Versions: old(4)}, LastRead: hour(9), Live: observations(t, `4.9 {"port":1}`, `4.5 {"port":3}`)}, want: "pending"},
		"a writer's time in the future": {reason: "it was not applied after driftd saw it",
			evidence: model.Evidence{Past: model.Past{Versions: old(4)}, Live: observations(t, `4.9 {"port":1}`)}, applied: 99, want: "pending"},
		"a commit with a date in the future": {reason: "it was on the ref when driftd read it", applied: 10,
			evidence: model.Evidence{Past: model.Past{Versions: old(9999)}, Declared: observations(t, `8 {"port":2}`, `1 {"port":3}`)},
			want:     "bypassed: an older version (abc123) was applied after def456"},
		"driftd saw the superseding commit later than its date": {reason: "pushed long after it was committed",
			evidence: model.Evidence{Past: model.Past{Versions: old(2)}, Declared: observations(t, `10 {"port":2}`, `1 {"port":1}`)}, want: "pending"},
		"an old pipeline runs again": {reason: "driftd saw the declared value live, then the older one came back, whatever the window",
			evidence: model.Evidence{Past: model.Past{Versions: old(9.8)}, Live: observations(t, `10 {"port":1}`, `9.9 {"port":2}`, `1 {"port":1}`),
				Declared: observations(t, `9.8 {"port":2}`, `1 {"port":1}`)},
			want: "bypassed: an older version (abc123) was applied again after driftd saw the declared one live"},
		"an old pipeline runs again in this scan": {reason: "the newest value is not stored yet",
			evidence: model.Evidence{Past: model.Past{Versions: old(9.8)}, Live: observations(t, `9.9 {"port":2}`, `1 {"port":1}`),
				Declared: observations(t, `9.8 {"port":2}`, `1 {"port":1}`)},
			want: "bypassed: an older version (abc123) was applied again after driftd saw the declared one live"},
		"a revert commit": {reason: "live was as declared before the revert, and did not move since",
			evidence: model.Evidence{Past: model.Past{Versions: old(10)}, Live: observations(t, `5 {"port":1}`, `1 {"port":2}`),
				Declared: observations(t, `10 {"port":2}`, `5 {"port":1}`, `1 {"port":2}`)}, want: "pending"},
		"force-pushed away": {reason: "driftd read the value as declared; history does not have it any more",
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{version(t, `{"port":3}`, "abc", "def", 1)}},
				Live: observations(t, `3 {"port":1}`), Declared: observations(t, `2 {"port":1}`)}, want: "pending"},
		"force-pushed away, and applied again": {reason: "memory has the time, and no commit",
			evidence: model.Evidence{Live: observations(t, `9 {"port":3}`), Declared: observations(t, `4 {"port":2}`, `2 {"port":1}`)},
			want:     "bypassed: an older version was applied after another one was declared at 2026-01-01 04:00 UTC"},
		"a gap, and the live side moved": {reason: "only the live side changed",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {"port":2}`), Declared: observations(t, `1 {"port":2}`)},
			want:     "bypassed: the live side changed and the declaration did not"},
		"a gap, and the live side moved away from something else": {reason: "the value before need not have been the declared one",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {"port":5}`), Declared: observations(t, `1 {"port":2}`)},
			want:     "bypassed: the live side changed and the declaration did not"},
		"a gap, and the declaration moved": {reason: "live was as declared, and only the declaration changed",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {"port":1}`), Declared: observations(t, `1 {"port":1}`)},
			want:     "pending"},
		"a gap, and the declaration moved from another value": {reason: "live was not as declared before either: the apply is unknown",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `5 {"port":1}`, `1 {"port":3}`), Declared: observations(t, `1 {"port":3}`)},
			want:     "pending?: pending or bypassed: cut"},
		"deployed and reverted between two scans": {reason: "the value that driftd saw live as declared was of the run before", applied: 9.95,
			evidence: model.Evidence{Past: model.Past{Versions: twice(9.9, 10)}, Live: observations(t, `1 {"port":2}`), Declared: observations(t, `1 {"port":2}`)},
			want:     "pending"},
		"deployed and reverted between two scans, declared otherwise before": {reason: "the date of the revert counts", applied: 9.95,
			evidence: model.Evidence{Past: model.Past{Versions: twice(9.9, 10)}, Live: observations(t, `1 {"port":7}`),
				Declared: observations(t, `1 {"port":2}`, `0.5 {"port":7}`)}, want: "pending"},
		"deployed and reverted between two scans, and declared long ago, too": {reason: "driftd missed the last time", applied: 9.95,
			evidence: model.Evidence{Past: model.Past{Versions: append(twice(9.9, 10), version(t, `{"port":1}`, "c0", "c1", 2))}, Live: observations(t, `3 {"port":2}`, `1 {"port":1}`),
				Declared: observations(t, `2 {"port":2}`, `1 {"port":1}`)}, want: "pending"},
		"deployed and reverted between two scans, and replaced": {reason: "the value before is what driftd read last", applied: 9.95,
			evidence: model.Evidence{Past: model.Past{Versions: append([]model.Version{version(t, `{"port":2}`, "c4", "", 0)}, between(9.9, 10)...)},
				Live: observations(t, `1 {"port":3}`), Declared: observations(t, `1 {"port":3}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Bypassed, Live: pointer(model.IntOf(1))}}}, want: "pending"},
		"bypassed, then declared and reverted between two scans": {reason: "the live value was declared after the ruling",
			evidence: model.Evidence{Past: model.Past{Versions: twice(9.9, 10)}, Live: observations(t, `9 {"port":1}`, `1 {"port":2}`), Declared: observations(t, `1 {"port":2}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Bypassed, Live: pointer(model.IntOf(1))}}}, want: "pending"},
		"reverted between two scans, and bypassed since": {reason: "the ruling is younger than the revert", applied: 9.95,
			evidence: model.Evidence{Past: model.Past{Versions: twice(9.9, 10)}, Live: observations(t, `12 {"port":1}`, `1 {"port":2}`), Declared: observations(t, `1 {"port":2}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Bypassed, Live: pointer(model.IntOf(1))}}},
			want: "bypassed: an older version (c2) was applied after c3"},
		"reverted between two scans, and applied again long after": {reason: "the revert's date and the window", applied: 11.1,
			evidence: model.Evidence{Past: model.Past{Versions: twice(9.9, 10)}, Live: observations(t, `1 {"port":2}`), Declared: observations(t, `1 {"port":2}`)},
			want:     "bypassed: an older version (c2) was applied after c3"},
		"reverted before driftd looked, and applied again": {reason: "driftd saw the revert live", applied: 10.5,
			evidence: model.Evidence{Past: model.Past{Versions: twice(9.9, 10)}, Live: observations(t, `10.2 {"port":2}`), Declared: observations(t, `10.2 {"port":2}`)},
			want:     "bypassed: an older version (c2) was applied again after driftd saw the declared one live"},
		"bypassed, and the proof was deleted": {reason: "the ruling stands while live does not move", applied: 2,
			evidence: model.Evidence{Past: model.Past{Versions: old(4)}, Live: observations(t, `9 {"port":1}`), Declared: observations(t, `4 {"port":2}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Bypassed, Live: pointer(model.IntOf(1))}}},
			want: "bypassed: an older version (abc123) was applied after def456"},
		"maybe bypassed, and history is known now": {reason: "an unproven ruling does not stand",
			evidence: model.Evidence{Past: model.Past{Versions: old(11)}, Live: observations(t, `9 {"port":1}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Bypassed, Unproven: true, Live: pointer(model.IntOf(1))}}}, want: "pending"},
		"the ref cannot be read, and live moved": {reason: "the declaration may have moved, too",
			evidence: model.Evidence{Past: model.Past{Gap: "down"}, Behind: true, Live: observations(t, `1 {"port":2}`), Declared: observations(t, `1 {"port":2}`)},
			want:     "pending?: pending or bypassed: down"},
		"the ref cannot be read, and an older version came back": {reason: "it may be declared again by now",
			evidence: model.Evidence{Past: model.Past{Gap: "down"}, Behind: true, Live: observations(t, `5 {"port":2}`, `1 {"port":1}`),
				Declared: observations(t, `4 {"port":2}`, `1 {"port":1}`)},
			want: "pending?: pending or bypassed: down"},
		"the ref cannot be read, and it was bypassed": {reason: "the last verdict is kept",
			evidence: model.Evidence{Past: model.Past{Gap: "down"}, Behind: true, Live: observations(t, `1 {"port":1}`), Declared: observations(t, `1 {"port":2}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Bypassed, Live: pointer(model.IntOf(1))}}},
			want: "bypassed: the live side changed and the declaration did not"},
		"the ref cannot be read, and only the declaration moved": {reason: "live was declared when it was applied",
			evidence: model.Evidence{Past: model.Past{Gap: "down"}, Behind: true, Live: observations(t, `1 {"port":1}`), Declared: observations(t, `1 {"port":1}`)},
			want:     "pending"},
		"a gap, and both moved": {reason: "the order is unknown",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {"port":5}`), Declared: observations(t, `1 {"port":3}`)},
			want:     "pending?: pending or bypassed: cut"},
		"a gap, and no memory": {reason: "the first scan", evidence: model.Evidence{Past: model.Past{Gap: "cut"}}, want: "pending?: pending or bypassed: cut"},
		"a gap, and no memory of the live side": {reason: "both sides are needed",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Declared: observations(t, `1 {"port":2}`)}, want: "pending?: pending or bypassed: cut"},
		"a gap, and no memory of the declaration": {reason: "both sides are needed",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {"port":2}`)}, want: "pending?: pending or bypassed: cut"},
		"a gap, and nothing moved": {reason: "the last ruling stands",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {"port":1}`), Declared: observations(t, `1 {"port":2}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Bypassed, Live: pointer(model.IntOf(1))}}},
			want: "bypassed: the live side changed and the declaration did not"},
		"a gap, nothing moved, and the last ruling was pending": {reason: "the last ruling stands",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {"port":1}`), Declared: observations(t, `1 {"port":2}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Pending, Live: pointer(model.IntOf(1))}}},
			want: "pending"},
		"a gap, the declaration moved, and the last ruling was unproven": {reason: "the apply is as unproven as before",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {"port":1}`), Declared: observations(t, `1 {"port":3}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Pending, Unproven: true, Live: pointer(model.IntOf(1))}}},
			want: "pending?: pending or bypassed: cut"},
		"a gap, and the declaration moved after a bypass": {reason: "another commit does not make the apply declared",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {"port":1}`), Declared: observations(t, `1 {"port":3}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Bypassed, Live: pointer(model.IntOf(1))}}},
			want: "bypassed: the live side changed and the declaration did not"},
		"a gap, and live moved after a ruling": {reason: "a ruling is on one value",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {"port":8}`), Declared: observations(t, `1 {"port":2}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Pending, Live: pointer(model.IntOf(8))}}},
			want: "bypassed: the live side changed and the declaration did not"},
		"a ruling on an absent field": {reason: "absence is a value", live: `{}`,
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {}`), Declared: observations(t, `1 {"port":2}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Bypassed}}},
			want: "bypassed: the live side changed and the declaration did not"},
		"a ruling on a value is not one on its absence": {reason: "a ruling is on one value", live: `{}`,
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {}`), Declared: observations(t, `1 {"port":2}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Bypassed, Live: pointer(model.IntOf(1))}}},
			want: "pending?: pending or bypassed: cut"},
		"an expression": {reason: "an expression that only Terraform can evaluate may have had the value",
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{{Value: pointer(value(t, `{}`)), Unknown: []string{"port"}, From: model.Commit{Hash: "abc"}}}}},
			want:     "pending?: pending or bypassed: commit abc declares it by an expression"},
		"an expression elsewhere": {reason: "the field itself is known",
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{{Value: pointer(value(t, `{"port":3}`)), Unknown: []string{"ports"}}}}},
			want:     "bypassed: applied, and declared by no commit"},
		"an expression inside": {reason: "a part of the field is not known",
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{{Value: pointer(value(t, `{}`)), Unknown: []string{"port.number"}, From: model.Commit{Hash: "abc"}}}}},
			want:     "pending?: pending or bypassed: commit abc declares it by an expression"},
		"an expression around it": {reason: "the field is a part of what is not known", declared: `{"probe":{"path":"/b"}}`, live: `{"probe":{"path":"/a"}}`,
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{{Value: pointer(value(t, `{}`)), Unknown: []string{"probe"}, From: model.Commit{Hash: "abc"}}}}},
			want:     "pending?: pending or bypassed: commit abc declares it by an expression"},
		"declared earlier, and on a branch that may be applied": {reason: "a version of the ref takes precedence over a branch",
			evidence: model.Evidence{Past: model.Past{Versions: append(old(2), branch(`{"port":1}`))}, ApplyBeforeMerge: true},
			want:     "bypassed: an older version (abc123) was applied after def456"},
		"a commit later than the first look at its value": {reason: "driftd never saw another one: the date counts", applied: 10,
			evidence: model.Evidence{Past: model.Past{Versions: old(9.5)}, Declared: observations(t, `8 {"port":2}`)}, want: "pending"},
		"two branches": {reason: "the first one that has the value is named",
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{branch(`{"port":1}`), {Value: pointer(value(t, `{"port":1}`)), Branch: "other", From: model.Commit{Hash: "ccc"}}}}},
			want:     "bypassed: applied from feature/x (commit b0b0b0b0b0b0), which is not merged"},
		"declared, superseded, declared and superseded in memory": {reason: "the last time counts", applied: 8.5,
			evidence: model.Evidence{Declared: observations(t, `8 {"port":2}`, `6 {"port":1}`, `4 {"port":3}`, `2 {"port":1}`)}, want: "pending"},
		"no writer's time": {reason: "no proof that it was applied later", applied: -1,
			evidence: model.Evidence{Past: model.Past{Versions: old(4)}}, want: "pending"},
		"a gap, and only live was read before": {reason: "whether the declaration moved is not known",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {"port":1}`)}, want: "pending?: pending or bypassed: cut"},
		"a gap, and only the declaration was read before": {reason: "whether live moved is not known",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Declared: observations(t, `1 {"port":2}`)}, want: "pending?: pending or bypassed: cut"},
		"a gap, and live moved back to a ruled value": {reason: "a ruling ends when live moves",
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {"port":8}`), Declared: observations(t, `1 {"port":2}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Pending, Live: pointer(model.IntOf(1))}}},
			want: "bypassed: the live side changed and the declaration did not"},
		"a gap, and live was removed after a ruling": {reason: "a ruling ends when live moves", live: `{}`,
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {"port":8}`), Declared: observations(t, `1 {"port":2}`),
				Rulings: map[string]model.Ruling{"port": {Verdict: model.Pending}}},
			want: "bypassed: the live side changed and the declaration did not"},
		"a gap, absent before and now, without a ruling": {reason: "nothing was decided yet", live: `{}`,
			evidence: model.Evidence{Past: model.Past{Gap: "cut"}, Live: observations(t, `1 {}`), Declared: observations(t, `1 {"port":2}`)},
			want:     "pending?: pending or bypassed: cut"},
		"the whole resource is unknown": {reason: "the whole resource is made by an expression",
			evidence: model.Evidence{Past: model.Past{Versions: []model.Version{{Unknown: []string{""}, From: model.Commit{Hash: "abc"}}}}},
			want:     "pending?: pending or bypassed: commit abc declares it by an expression"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live, declared, applied := tc.live, tc.declared, tc.applied
			if live == "" {
				live = `{"port":1}`
			}
			if declared == "" {
				declared = `{"port":2}`
			}
			if applied == 0 {
				applied = 10
			}
			at := hour(applied)
			if applied < 0 {
				at = time.Time{}
			}
			tc.evidence.DeployWindow = window
			s := subject(value(t, declared), &model.Resource{Value: value(t, live), LastApplied: pointer(value(t, live)), OwnersFrom: "managedFields",
				Owners: []model.Owner{{Name: "laptop", Records: true, Fields: set("port"), At: at}}})
			s.Claims[0].Evidence = &tc.evidence
			s.Claims[0].AuditEvents = []model.AuditEvent{{Actor: model.Actor{Name: "committer", Confidence: model.Likely}}}
			outcomes := Compare(s, Options{})
			if len(outcomes) != 1 || len(outcomes[0].Changes) != 1 {
				t.Fatalf("%s: %+v, want one field", tc.reason, outcomes)
			}
			got, c := string(outcomes[0].Verdict), outcomes[0].Changes[0]
			if c.Unproven {
				got += "?"
			}
			if outcomes[0].Reason != "" {
				got += ": " + outcomes[0].Reason
			}
			if d := gocmp.Diff(tc.want, got); d != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, d)
			}
			who := "laptop"
			if got == "pending" {
				who = "committer"
			}
			if outcomes[0].Actor.Name != who {
				t.Errorf("%s: by %s, want %s: only what waits is the committer's", tc.reason, outcomes[0].Actor.Name, who)
			}
		})
	}
}

// TestAppliedBy names the actor that applied a value, also if the record of writers was
// rewritten.
func TestAppliedBy(t *testing.T) {
	t.Parallel()
	owner := model.Owner{Name: "apply", Records: true, Fields: set("port"), At: hour(10), User: "pipeline", Evidence: "audit 1"}
	event := func(writer, user string, at float64) model.AuditEvent {
		return model.AuditEvent{Writer: writer, Actor: model.Actor{Name: user, At: hour(at), Evidence: "audit 2", Confidence: model.Exact}}
	}
	for name, tc := range map[string]struct {
		reason string
		owners []model.Owner
		events []model.AuditEvent
		want   string
		seen   []model.Observation
	}{
		"an owner that a scan disproves": {reason: "another value was live after its last write", owners: []model.Owner{owner, {Name: "edit", Fields: set("cpu"), At: hour(13)}},
			events: []model.AuditEvent{event("edit", "mallory", 13)}, seen: observations(t, `11 {"port":2}`), want: "mallory likely: audit 2, a later write than the one that managedFields records"},
		"an owner that no scan disproves": {reason: "the value was live then", owners: []model.Owner{owner, {Name: "edit", Fields: set("cpu"), At: hour(13)}},
			events: []model.AuditEvent{event("edit", "alice", 13)}, seen: observations(t, `11 {"port":1}`), want: "pipeline exact: audit 1"},
		"a scan before the write": {reason: "the owner wrote since", owners: []model.Owner{owner, {Name: "edit", Fields: set("cpu"), At: hour(13)}},
			events: []model.AuditEvent{event("edit", "alice", 13)}, seen: observations(t, `10 {"port":2}`), want: "pipeline exact: audit 1"},
		"the owner": {reason: "the field's last writer", owners: []model.Owner{owner}, want: "pipeline exact: audit 1"},
		"a later write without an entry": {reason: "the record of writers was rewritten", owners: []model.Owner{owner},
			events: []model.AuditEvent{event("edit", "mallory", 11)}, want: "mallory likely: audit 2, a later write than the one that managedFields records"},
		"an earlier write without an entry": {reason: "the apply took its fields over", owners: []model.Owner{owner},
			events: []model.AuditEvent{event("edit", "alice", 9)}, want: "pipeline exact: audit 1"},
		"a write of the same second": {reason: "not later", owners: []model.Owner{owner},
			events: []model.AuditEvent{event("edit", "alice", 10)}, want: "pipeline exact: audit 1"},
		"a later write with an entry": {reason: "of another field", owners: []model.Owner{owner, {Name: "edit", Fields: set("cpu"), At: hour(11)}},
			events: []model.AuditEvent{event("edit", "alice", 11)}, want: "pipeline exact: audit 1"},
		"a deletion": {reason: "of an object of the same name", owners: []model.Owner{owner},
			events: []model.AuditEvent{{Action: model.Deleted, Writer: "edit", Actor: model.Actor{Name: "alice", At: hour(11)}}}, want: "pipeline exact: audit 1"},
		"a write by an unnamed writer": {reason: "the log has no writer", owners: []model.Owner{owner},
			events: []model.AuditEvent{event("", "alice", 11)}, want: "pipeline exact: audit 1"},
		"of several writers the last": {reason: "the field changed hands", owners: []model.Owner{owner, {Name: "other", Fields: set("port"), At: hour(12), User: "bob", Evidence: "audit 3"}},
			want: "bob exact: audit 3"},
		"no record of writers": {reason: "the source's logs name the field", events: []model.AuditEvent{{Fields: []string{"port"}, Actor: model.Actor{Name: "carol", Confidence: model.Exact, Evidence: "task"}}},
			want: "carol exact: task"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorded := value(t, `{"port":1}`)
			s := subject(value(t, `{"port":2}`), &model.Resource{Value: recorded, LastApplied: &recorded, OwnersFrom: "managedFields", Owners: tc.owners})
			s.AuditEvents, s.Claims[0].Evidence = tc.events, &model.Evidence{Live: tc.seen}
			outcomes := Compare(s, Options{})
			if len(outcomes) != 1 || outcomes[0].Verdict != model.Bypassed {
				t.Fatalf("%s: %+v, want one that is bypassed", tc.reason, outcomes)
			}
			a := outcomes[0].Actor
			if got := a.Name + " " + string(a.Confidence) + ": " + a.Evidence; got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestReportAbsent checks the verdict on a declared field that is not live and has no owner,
// after an apply that leaves no record of values.
func TestReportAbsent(t *testing.T) {
	t.Parallel()
	edit := model.Owner{Name: "edit", Edits: true, At: hour(12), Fields: set("mode")}
	since := func(h float64) *model.Evidence {
		return &model.Evidence{DeployWindow: time.Hour, Past: model.Past{Versions: []model.Version{
			version(t, `{"cpu":1,"port":1}`, "def", "", 0), version(t, `{"cpu":1}`, "abc", "def", h)}}}
	}
	folder := &model.Evidence{Past: model.Past{Gap: "no history"}}
	always := &model.Evidence{Past: model.Past{Versions: []model.Version{version(t, `{"cpu":1,"port":1}`, "abc", "", 0)}}}
	for name, tc := range map[string]struct {
		reason     string
		evidence   *model.Evidence
		owners     []model.Owner
		generation int64
		want       string
	}{
		"declared after the last apply":                        {"git is ahead", since(11), nil, 0, "pending committer"},
		"declared long before the last apply, and a hand came": {"the apply had it: it was removed by hand", since(2), []model.Owner{edit}, 0, "changed unknown"},
		"always declared, and a hand came":                     {"removed by hand", always, []model.Owner{edit}, 0, "changed unknown"},
		"always declared, and only applies came":               {"an apply that no commit holds left it out", always, nil, 0, "bypassed apply"},
		"not asked, never changed since it was made":           {"made anew, perhaps, without the field", nil, nil, 1, "pending? apply"},
		"no history, never changed since it was made":          {"made anew, perhaps, without the field", folder, nil, 1, "pending? apply"},
		"declared later, never changed since it was made":      {"git is ahead", since(11), nil, 1, "pending committer"},
		"not asked, changed since, and only applies came":      {"which is unknown", nil, nil, 3, "pending? apply"},
		"not asked, and a hand came":                           {"which is unknown", nil, []model.Owner{edit}, 3, "changed? unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owners := append([]model.Owner{{Name: "apply", Applies: true, At: hour(10), Fields: set("cpu")}}, tc.owners...)
			s := subject(value(t, `{"cpu":1,"port":1}`), &model.Resource{Value: value(t, `{"cpu":1}`), OwnersFrom: "managedFields", Owners: owners,
				Created: hour(1), Generation: tc.generation})
			s.Claims[0].Evidence = tc.evidence
			s.Claims[0].AuditEvents = []model.AuditEvent{{Actor: model.Actor{Name: "committer", Confidence: model.Likely}}}
			s.AuditEvents = []model.AuditEvent{}
			outcomes := Compare(s, Options{})
			if len(outcomes) != 1 || len(outcomes[0].Changes) != 1 {
				t.Fatalf("%s: %+v, want one field", tc.reason, outcomes)
			}
			got := string(outcomes[0].Verdict)
			if outcomes[0].Changes[0].Unproven {
				got += "?"
			}
			if got += " " + outcomes[0].Actor.Name; got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestDeclaredLater checks the verdict on a declared field that is not live, without evidence,
// by the time of the declaration and the number of changes.
func TestDeclaredLater(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		path       string
		since      time.Time
		generation int64
		want       string
	}{
		"declared after the last apply":                         {"port", hour(11), 0, "pending"},
		"declared before the last apply":                        {"port", hour(9), 1, "changed?"},
		"declared at the time of the last apply":                {"port", hour(10), 1, "changed?"},
		"the specification never changed":                       {"port", time.Time{}, 1, "pending"},
		"the source counts no changes":                          {"port", time.Time{}, 0, "changed?"},
		"metadata changes without being counted":                {"metadata", time.Time{}, 1, "changed?"},
		"metadata, declared after the last apply":               {"metadata", hour(11), 0, "pending"},
		"the specification changed, and by nothing but applies": {"port", time.Time{}, 5, "pending"},
	} {
		live := &model.Resource{Value: value(t, `{"cpu":1}`), OwnersFrom: "managedFields", Created: hour(1), Generation: tc.generation,
			Owners: []model.Owner{{Name: "apply", Applies: true, At: hour(10), Fields: set("cpu")}}}
		s := subject(value(t, `{"cpu":1,"`+tc.path+`":{"x":1}}`), live)
		s.Claims[0].Since = tc.since
		outcomes := Compare(s, Options{})
		if len(outcomes) != 1 {
			t.Fatalf("%s: %+v, want one outcome", reason, outcomes)
		}
		got := string(outcomes[0].Verdict)
		if outcomes[0].Verdict == model.Changed && outcomes[0].Changes[0].Unproven {
			got += "?"
		}
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", reason, got, tc.want)
		}
	}
}
