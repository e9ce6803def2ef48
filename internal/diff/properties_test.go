package diff

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// world draws a subject: a declared, a recorded and a live tree, writers with any fields and
// times, a log, and evidence or none.
func world(t *rapid.T) *model.Subject {
	paths := []string{"cpu", "port", "mode", "labels/a", "probe/path", "args", "verbs", "policy", "free"}
	s := subject(tree().Draw(t, "declared"), &model.Resource{Value: tree().Draw(t, "live"), Created: created, OwnersFrom: "managedFields"})
	for i := range rapid.IntRange(0, 4).Draw(t, "owners") {
		s.Live.Owners = append(s.Live.Owners, model.Owner{
			Name:    string(rune('a' + i)),
			Applies: rapid.Bool().Draw(t, "applies"), Edits: rapid.Bool().Draw(t, "edits"),
			At:     hour(float64(2*i) + 1),
			Fields: set(rapid.SliceOfDistinct(rapid.SampledFrom(paths), func(p string) string { return p }).Draw(t, "fields")...),
		})
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "events") {
		s.AuditEvents = append(s.AuditEvents, model.AuditEvent{Writer: rapid.SampledFrom([]string{"a", "b", "curl"}).Draw(t, "writer"),
			Actor: model.Actor{Name: string(rune('p' + i)), At: hour(float64(2*i) + 2), Confidence: model.Exact}})
	}
	if rapid.Bool().Draw(t, "recorded") {
		s.Claims[0].Recorded = pointer(tree().Draw(t, "record"))
	}
	if rapid.Bool().Draw(t, "evidence") {
		s.Claims[0].Evidence = declaredBefore(tree().Draw(t, "declared before"))
	}
	return s
}

// verdicts formats outcomes without their actors.
func verdicts(outcomes []model.Outcome) string {
	var lines []string
	for _, o := range outcomes {
		for _, c := range o.Changes {
			line := string(o.Verdict) + " " + c.Path
			if c.Unproven {
				line += "?"
			}
			lines = append(lines, line+" "+texts(deref(c.Recorded), deref(c.Live)))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestOrderOfOwners checks that the order of writers with different names and times that
// declare nothing has no effect.
func TestOrderOfOwners(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := world(t)
		// The declarer is the writer that left the record; of others that agree as much, the
		// first one counts.
		s.Live.Owners = append(s.Live.Owners, model.Owner{Name: "kubectl", Records: true, At: hour(1), Fields: set("cpu")})
		want := verdicts(Compare(s, Options{}))
		s.Live.Owners = rapid.Permutation(s.Live.Owners).Draw(t, "order")
		if got := verdicts(Compare(s, Options{})); got != want {
			t.Fatalf("in another order:\n%s\nwant\n%s", got, want)
		}
	})
}

// TestOrderOfAuditEvents checks that the order of audit events only affects actors, not
// verdicts, without exemptions.
func TestOrderOfAuditEvents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := world(t)
		want := verdicts(Compare(s, Options{}))
		s.AuditEvents = rapid.Permutation(s.AuditEvents).Draw(t, "order")
		if got := verdicts(Compare(s, Options{})); got != want {
			t.Fatalf("in another order:\n%s\nwant\n%s", got, want)
		}
		s.AuditEvents = nil
		if got := verdicts(Compare(s, Options{})); got != want {
			t.Fatalf("without a log:\n%s\nwant\n%s", got, want)
		}
	})
}

// TestOrderOfClaims checks that the order of claims has no effect on the fields that are drift.
func TestOrderOfClaims(t *testing.T) {
	t.Parallel()
	paths := func(outcomes []model.Outcome) string {
		var all []string
		for _, o := range outcomes {
			for _, c := range o.Changes {
				all = append(all, c.Path)
			}
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	scalars := rapid.Map(rapid.MapOf(rapid.SampledFrom([]string{"cpu", "port", "mode", "free"}), rapid.IntRange(1, 3)), func(m map[string]int) model.Value {
		v := model.MapOf()
		for name, n := range m {
			v = v.With(name, model.IntOf(int64(n)))
		}
		return v
	})
	rapid.Check(t, func(t *rapid.T) {
		s := subject(model.Value{}, &model.Resource{Value: scalars.Draw(t, "live")})
		s.Claims = nil
		for i := range rapid.IntRange(2, 4).Draw(t, "claims") {
			s.Claims = append(s.Claims, &model.Claim{Declaration: string(rune('a' + i)), Value: scalars.Draw(t, "declared")})
		}
		want := paths(Compare(s, Options{}))
		s.Claims = rapid.Permutation(s.Claims).Draw(t, "order")
		if got := paths(Compare(s, Options{})); got != want {
			t.Fatalf("in another order %q, want %q", got, want)
		}
	})
}

// TestEveryFieldOnce checks that no field is reported with two verdicts, and that each declared
// scalar that differs is reported.
func TestEveryFieldOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := world(t)
		reported := map[string]model.Verdict{}
		for _, o := range Compare(s, Options{}) {
			for _, c := range o.Changes {
				// Elements named by a number and by its text have one path.
				if before, twice := reported[c.Path]; twice && !strings.Contains(c.Path, "[") {
					t.Fatalf("%s is both %s and %s", c.Path, before, o.Verdict)
				}
				reported[c.Path] = o.Verdict
			}
		}
		for _, name := range []string{"cpu", "port", "mode", "free"} {
			declared, live := s.Claims[0].Value.At(name), s.Live.Value.At(name)
			differs := !Equal(s.Kind.Schema.Field(name), declared, live)
			if _, ok := reported[name]; differs && !ok && declared.Kind() > model.Null && declared.Kind() < model.List && live.Kind() < model.List {
				t.Fatalf("%s is declared as %s, live as %s, and not reported", name, texts(declared), texts(live))
			}
		}
	})
}

// TestSecretsStaySecret checks that a secret on any side is reported as a digest that is marked
// secret.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := world(t)
		digest := model.DigestOf("feedface")
		switch rapid.SampledFrom([]string{"declared", "live", "recorded", "all"}).Draw(t, "side") {
		case "declared":
			s.Claims[0].Value = s.Claims[0].Value.With("port", digest)
		case "live":
			s.Live.Value = s.Live.Value.With("port", digest)
		case "recorded":
			s.Claims[0].Recorded = pointer(model.MapOf(model.Field{Name: "port", Value: digest}))
		default:
			s.Claims[0].Value, s.Live.Value = s.Claims[0].Value.With("port", digest), s.Live.Value.With("port", model.DigestOf("deadbeef"))
		}
		j := Judge(s, Options{Exempt: func(*model.Write) string { return "evidence" }})
		for _, e := range j.Exempt {
			if strings.Contains(e.Live, "feedface") || strings.Contains(e.Live, "deadbeef") {
				t.Fatalf("an exemption shows a secret: %+v", e)
			}
		}
		for _, o := range j.Outcomes {
			for _, c := range o.Changes {
				for _, v := range []*model.Value{c.Declared, c.Recorded, c.Live, c.Running} {
					if v != nil && v.HasSecret() && !c.Secret {
						t.Fatalf("%s holds a secret and is not marked: %+v", c.Path, c)
					}
				}
				if strings.Contains(c.Path+o.Reason, "feedface") {
					t.Fatalf("a text shows a secret: %s %s", c.Path, o.Reason)
				}
			}
		}
	})
}

// TestSelfIsInSyncOfAnyWriter checks that a value that is as declared and recorded is in sync,
// for any writers and log.
func TestSelfIsInSyncOfAnyWriter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := world(t)
		s.Claims[0].Value, s.Claims[0].Recorded = s.Live.Value, &s.Live.Value
		if got := Compare(s, Options{}); len(got) != 0 {
			t.Fatalf("it differs from itself: %s", show(got))
		}
	})
}

// TestForgedOwners checks that no entry in the record of owners hides a declared scalar that
// differs, for any name, fields and times.
func TestForgedOwners(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		forged := model.Owner{
			Name:    rapid.SampledFrom([]string{"apply", "kube-controller-manager", "", "kubectl-edit"}).Draw(t, "name"),
			Applies: rapid.Bool().Draw(t, "applies"), Delivers: rapid.Bool().Draw(t, "delivers"),
			Records: rapid.Bool().Draw(t, "records"), Edits: rapid.Bool().Draw(t, "edits"), Inherits: rapid.Bool().Draw(t, "inherits"),
			Through: rapid.SampledFrom([]string{"", "scale"}).Draw(t, "subresource"),
			Fields:  set(rapid.SliceOf(rapid.SampledFrom([]string{"port", "cpu", "mode"})).Draw(t, "fields")...),
		}
		if rapid.Bool().Draw(t, "timed") {
			forged.At = hour(rapid.Float64Range(-1e5, 1e5).Draw(t, "at"))
		}
		s := subject(literal(`{"cpu":1,"port":1}`), &model.Resource{Value: literal(`{"cpu":1,"port":2}`), Created: created, OwnersFrom: "managedFields",
			Owners: []model.Owner{{Name: "apply", Applies: true, At: hour(1), Fields: set("cpu")}, forged}})
		o := Options{Controller: func(string) bool { return true }, Exempt: func(*model.Write) string { return "evidence" }}
		if outcomes := Compare(s, o); len(outcomes) != 1 || len(outcomes[0].Changes) != 1 || outcomes[0].Changes[0].Path != "port" {
			t.Fatalf("with %+v: %s", forged, show(outcomes))
		}
	})
}

// literal parses a tree from valid JSON.
func literal(text string) model.Value {
	var v model.Value
	if err := v.UnmarshalJSON([]byte(text)); err != nil {
		panic(err)
	}
	return v
}
