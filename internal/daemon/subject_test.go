package daemon

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// A spelled source stores quantities, ports and variables in another spelling than the declaration has.
type spelled struct{ live, stored string }

func spelledValue(text string) model.Value {
	v, err := decode.JSON([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

func (s *spelled) Collect(context.Context) (model.Snapshot, error) {
	return model.Snapshot{Source: "live", Taken: time.Now(), Coverage: []model.Coverage{{Source: "live", Complete: true}},
		Kinds: map[string]*model.Kind{thing: {Name: thing, Namespaced: true, Schema: &model.Schema{Fields: map[string]*model.Schema{
			"containers": {List: model.Keyed, Keys: []string{"name"}}}}}},
		Resources: []model.Resource{
			{Key: model.Key{Source: "live", Kind: "test/Place", ID: "p"}, Name: "p", Origin: model.Origin{UID: "uid-p"}},
			{Key: model.Key{Source: "live", Kind: thing, ID: "p/a"}, Place: "p", Name: "a", Value: spelledValue(s.live), Origin: model.Origin{UID: "uid-a"}}}}, nil
}

func (s *spelled) Canonicalize(_ context.Context, claims []model.Claim) ([]model.Claim, error) {
	if s.stored == "" {
		return claims, errors.New("it cannot be asked")
	}
	claims = slices.Clone(claims)
	written := claims[1].Value
	claims[1].Written, claims[1].Value = &written, spelledValue(s.stored)
	return claims, nil
}

const spelledDeclared = `{"containers":[{"name":"web","cpu":"1000m","port":"080","env":"TRUE"}]}`

func (s *spelled) Load(context.Context) (model.Declaration, error) {
	claim := func(name, value string) model.Claim {
		return model.Claim{Declaration: "git", Address: name + ".yaml", Kind: thing, ID: "p/" + name, Place: "p", Name: name, Value: spelledValue(value)}
	}
	return model.Declaration{Name: "git", Governs: []string{"live"}, Scopes: []model.Scope{{Place: "p"}},
		Claims: []model.Claim{claim("b", `{"containers":[]}`), claim("a", spelledDeclared)}}, nil
}

// TestSubjectIsCanonical checks that what is declared has the form of the finding for comparing, and that
// of the declaration for creating.
func TestSubjectIsCanonical(t *testing.T) {
	t.Parallel()
	const canonical = `{"containers":[{"name":"web","cpu":"1","port":"80","env":"true"}]}`
	tests := map[string]struct{ reason, stored, want string }{
		"asked":     {"the finding has the canonical values", canonical, canonical},
		"not asked": {"the finding has the declared values", "", spelledDeclared},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both := &spelled{live: `{"containers":[{"name":"web","cpu":"2","port":"81","env":"false"}]}`, stored: tt.stored}
			b := newBench(t, 0, func(e *Estate) { e.Sources[0].Collector, e.Declarations[0].Loader = both, both })
			report := b.cycle(t)
			at := slices.IndexFunc(report.Findings, func(f model.Finding) bool { return f.Name == "a" })
			if at < 0 {
				t.Fatalf("no finding in %+v", report.Findings)
			}
			f := &report.Findings[at]
			s, err := lastReads{b.engine}.Subject(f)
			if err != nil {
				t.Fatal(err)
			}
			if !s.Declared.Equal(spelledValue(tt.want)) || !s.Written.Equal(spelledValue(spelledDeclared)) {
				t.Errorf("%s: Subject() = %s and %s", tt.reason, s.Declared, s.Written)
			}
			element := s.Declared.At("containers").Items()[0]
			for _, c := range f.Changes {
				name := c.Path[len("containers[name=web]."):]
				if v := element.At(name); !v.Equal(*c.Declared) {
					t.Errorf("%s: %s is %s in the finding and %s in the subject", tt.reason, c.Path, c.Declared, v)
				}
			}
			if len(f.Changes) != 3 {
				t.Errorf("changes are %+v", f.Changes)
			}
		})
	}
}

func TestSubjectUID(t *testing.T) {
	t.Parallel()
	both := &spelled{live: `{"containers":[]}`}
	b := newBench(t, 0, func(e *Estate) { e.Sources[0].Collector, e.Declarations[0].Loader = both, both })
	report := b.cycle(t)
	at := slices.IndexFunc(report.Findings, func(f model.Finding) bool { return f.Name == "a" })
	s, err := lastReads{b.engine}.Subject(&report.Findings[at])
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[model.Ref]string{{Kind: thing, ID: "p/a"}: "uid-a", {Kind: "test/Place", ID: "p"}: "uid-p", {Kind: thing, ID: "p/b"}: "", {}: ""} {
		if got := s.UID(ref); got != want {
			t.Errorf("UID(%v) = %q, want %q", ref, got, want)
		}
	}
	if _, err = (lastReads{b.engine}).Subject(&model.Finding{Declaration: "git", Key: model.Key{Source: "live", Kind: thing, ID: "p/z"}, Name: "z"}); err == nil {
		t.Error("a resource that nothing declares has a subject")
	} else if r := (*reconcile.Refusal)(nil); !errors.As(err, &r) || r.Guard != "still-so" {
		t.Errorf("Subject() = %v", err)
	}
}
