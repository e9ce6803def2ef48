package diff

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestReverted tests a field that is declared as 3, was declared as 1 until hour 4 and as 2
// until hour 9, and is live and recorded as 1, with different results of earlier scans. A
// writer claims that it was applied at hour 4.
func TestReverted(t *testing.T) {
	t.Parallel()
	const newer = "bypassed: an older version (v1) was applied again after driftd saw a newer one live"
	versions := []model.Version{version(t, `{"port":3}`, "v3", "", 0), version(t, `{"port":2}`, "v2", "v3", 9), version(t, `{"port":1}`, "v1", "v2", 4)}
	for name, tc := range map[string]struct {
		reason         string
		live, declared []model.Observation
		until          time.Time
		now            float64
		want           string
	}{
		"a newer one was live": {reason: "whatever a writer claims, and whatever waits now",
			live: observations(t, `10 {"port":1}`, `5 {"port":2}`), declared: observations(t, `9 {"port":3}`, `4 {"port":2}`, `1 {"port":1}`), want: newer},
		"a newer one was live, in this scan": {reason: "the live value is not stored yet",
			live: observations(t, `5 {"port":2}`), declared: observations(t, `9 {"port":3}`, `4 {"port":2}`, `1 {"port":1}`), want: newer},
		"a newer one was live, and declared is new": {reason: "the older value was seen declared, and not since",
			live: observations(t, `5 {"port":2}`), declared: observations(t, `4 {"port":2}`, `1 {"port":1}`), want: newer},
		"a newer one was live, and the older never seen declared": {reason: "driftd came later",
			live: observations(t, `6 {"port":2}`), declared: observations(t, `5 {"port":3}`), want: newer},
		"nothing else was seen declared": {reason: "all may have come since the last scan",
			live: observations(t, `4.2 {"port":2}`), want: "pending"},
		"came before the older one was superseded": {reason: "a deploy in order",
			live: observations(t, `3 {"port":1}`, `1 {"port":2}`), declared: observations(t, `9 {"port":3}`, `4 {"port":2}`, `1 {"port":1}`), want: "pending"},
		"an unknown value was live": {reason: "it is neither newer nor older: times decide",
			live: observations(t, `4.5 {"port":1}`, `4.2 {"port":7}`), declared: observations(t, `4.1 {"port":3}`), want: "pending"},
		"it was not there": {reason: "a resource that is gone is not one without the field",
			live: observations(t, `4.5 {"port":1}`, `4.2 gone`), declared: observations(t, `4.1 {"port":3}`), want: "pending"},
		"a date in the future": {reason: "it tells nothing, and neither does memory", until: hour(20), now: 10, want: "pending?: pending or bypassed: commit v2 has a date in the future"},
		"a date in the future, and memory": {reason: "only the live side moved", until: hour(20), now: 10,
			live: observations(t, `1 {"port":7}`), declared: observations(t, `1 {"port":3}`), want: "bypassed: the live side changed and the declaration did not"},
		"a date a little ahead": {reason: "clocks differ", until: hour(11), now: 10, want: "pending"},
		"no date":               {reason: "it is no proof of a deploy in time", until: time.Time{}, now: 10, want: "pending?: pending or bypassed: commit v2 has no date"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &model.Evidence{Past: model.Past{Versions: append([]model.Version(nil), versions...)}, Live: tc.live, Declared: tc.declared, DeployWindow: time.Hour}
			if tc.now > 0 {
				e.Now, e.Versions[2].Until.When = hour(tc.now), tc.until
			}
			recorded := value(t, `{"port":1}`)
			s := subject(value(t, `{"port":3}`), &model.Resource{Value: recorded, LastApplied: &recorded, OwnersFrom: "managedFields",
				Owners: []model.Owner{{Name: "apply", Records: true, Fields: set("port"), At: hour(4)}}})
			s.Claims[0].Evidence = e
			outcomes := Compare(s, Options{})
			if len(outcomes) != 1 || len(outcomes[0].Changes) != 1 {
				t.Fatalf("%s: %+v, want one change", tc.reason, outcomes)
			}
			got := string(outcomes[0].Verdict)
			if outcomes[0].Changes[0].Unproven {
				got += "?"
			}
			if outcomes[0].Reason != "" {
				got += ": " + outcomes[0].Reason
			}
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestRemovedAndMadeAgain tests a resource that is live and recorded, and was declared until
// hour 4, with different evidence.
func TestRemovedAndMadeAgain(t *testing.T) {
	t.Parallel()
	const again = "bypassed: made again after driftd saw it gone, and declared by no commit since; waits"
	for name, tc := range map[string]struct {
		reason         string
		live, declared []model.Observation
		created        float64
		want           string
	}{
		"removed and made again":               {"an old checkout was applied", observations(t, `8 {"port":1}`, `5 gone`, `1 {"port":1}`), observations(t, `4 gone`, `1 {"port":1}`), 0, again},
		"made again in this scan":              {"it is not stored yet", observations(t, `5 gone`, `1 {"port":1}`), observations(t, `4 gone`, `1 {"port":1}`), 0, again},
		"made again, and the commit came last": {"the removal is not applied yet", observations(t, `3 {"port":1}`, `2 gone`, `1 {"port":1}`), observations(t, `4 gone`, `1 {"port":1}`), 0, "pending: waits"},
		"declared at the last scan":            {"the commit is new", observations(t, `2 gone`, `1 {"port":1}`), observations(t, `1 {"port":1}`), 0, "pending: waits"},
		"never gone":                           {"the removal waits", observations(t, `1 {"port":1}`), observations(t, `4 gone`, `1 {"port":1}`), 9, "pending: waits"},
		"first look, made before":              {"the removal waits", nil, nil, 2, "pending: waits"},
		"first look, made within the window":   {"a pipeline takes its time", nil, nil, 5, "pending: waits"},
		"first look, made later":               {"an old checkout was applied", nil, nil, 5.1, "bypassed: made after def had removed it; waits"},
		"first look, creation not known":       {"nothing speaks against it", nil, nil, 0, "pending: waits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &model.Evidence{Past: model.Past{Versions: []model.Version{version(t, "", "def", "", 0), version(t, `{"port":1}`, "abc", "def", 4)}},
				Live: tc.live, Declared: tc.declared, DeployWindow: time.Hour}
			c := &model.Claim{Declaration: "d", ClaimApply: model.ClaimApply{Pending: "waits"}, ClaimHistory: model.ClaimHistory{Evidence: e}, Recorded: pointer(value(t, `{"port":1}`))}
			live := &model.Resource{Value: value(t, `{"port":1}`)}
			if tc.created > 0 {
				live.Created = hour(tc.created)
			}
			outcomes := Compare(&model.Subject{Live: live, Claims: []*model.Claim{c}}, Options{})
			if len(outcomes) != 1 {
				t.Fatalf("%s: %+v, want one outcome", tc.reason, outcomes)
			}
			if got := string(outcomes[0].Verdict) + ": " + outcomes[0].Reason; got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
