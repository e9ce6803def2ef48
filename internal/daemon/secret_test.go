package daemon

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
)

// secretsOf returns a value with a secret in each field except plain.
func secretsOf(pw, plain string) model.Value {
	text := func(name, value string) model.Field { return model.Field{Name: name, Value: model.StringOf(value)} }
	variable := func(name, value string) model.Value { return model.MapOf(text("name", name), text("value", value)) }
	return model.MapOf(
		text("password", pw), text("url", "postgres://u:"+pw+"@db/"+plain), text("file", "user: u\npassword: "+pw+"\n"),
		text("json", `{"token": "`+pw+`"}`), text("size", plain),
		model.Field{Name: "env", Value: model.ListOf(variable("API_TOKEN", pw), variable("LEVEL", plain))},
		model.Field{Name: "args", Value: model.ListOf(model.StringOf("--db-password"), model.StringOf(pw), model.StringOf("--key="+plain))},
		model.Field{Name: "command", Value: model.ListOf(model.StringOf("sh"), model.StringOf("-c"), model.StringOf("curl -u a:"+pw+" https://x"))})
}

// A scripted source and declaration return the value of a test.
type scripted struct {
	pw, plain, reason string
	err               error
}

func (s *scripted) Collect(context.Context) (model.Snapshot, error) {
	value := secretsOf(s.pw, s.plain)
	return model.Snapshot{Source: "live", Taken: time.Now(), Coverage: []model.Coverage{{Source: "live", Complete: true}, {Source: "live", Kind: "x", Reason: s.reason}},
		Kinds:     map[string]*model.Kind{thing: {Name: thing, Namespaced: true}},
		Resources: []model.Resource{{Key: model.Key{Source: "live", Kind: thing, ID: "p/a"}, Place: "p", Name: "a", Value: value}}}, s.err
}

func (s *scripted) Load(context.Context) (model.Declaration, error) {
	value := secretsOf(s.pw, s.plain)
	var problems []model.Problem
	if s.reason != "" {
		problems = []model.Problem{{Address: "x", Reason: s.reason}}
	}
	return model.Declaration{Name: "git", Governs: []string{"live"}, Scopes: []model.Scope{{Place: "p"}}, Problems: problems,
		Claims: []model.Claim{{Declaration: "git", Address: "x.yaml", Kind: thing, ID: "p/a", Place: "p", Name: "a", Value: value, Recorded: &value}}}, s.err
}

func TestSecretsAreSealedOnce(t *testing.T) {
	t.Parallel()
	const first, second = "hunTer2x9Q", "hunTer3y0R"
	live, git := &scripted{pw: first, plain: "1"}, &scripted{pw: first, plain: "1"}
	b := newBench(t, 0, func(e *Estate) {
		e.Sources[0].Collector, e.Declarations[0].Loader = live, git
		e.Secrets = secret.New(model.NewSealer([]byte("key")), secret.Options{})
	})
	wantChanges := func(reason string, want ...string) {
		t.Helper()
		r := b.cycle(t)
		var got []string
		for _, f := range r.Findings {
			for _, c := range f.Changes {
				got = append(got, c.Path)
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: changed %v, want %v", reason, got, want)
		}
		if text := fmt.Sprintf("%+v", r); strings.Contains(text, first) || strings.Contains(text, second) {
			t.Errorf("%s: the report holds a secret: %s", reason, text)
		}
	}
	wantChanges("the same secrets on both sides")
	live.pw = second
	wantChanges("all secrets were rotated", "args", "command", "env[0].value", "file", "json", "password", "url")
	live.pw, live.plain = first, "2"
	wantChanges("only what is not secret differs", "args", "env[1].value", "size", "url")
	live.plain = "1"
	live.reason, git.reason = "get https://u:"+first+"@h: refused", "clone https://u:"+first+"@h: refused"
	wantChanges("a reason with a secret")
	live.err = fmt.Errorf("get https://u:%s@h: %w", first, os.ErrDeadlineExceeded)
	wantChanges("an error with a secret")
	runs, err := b.store.Runs(10)
	if err != nil || strings.Contains(fmt.Sprintf("%+v", runs), first) {
		t.Errorf("the run records hold a secret: %+v, %v", runs, err)
	}
	versions, err := b.store.History(model.Key{Source: "live", Kind: thing, ID: "p/a"})
	if err != nil || len(versions) < 3 || strings.Contains(fmt.Sprint(versions[0].Value), first) {
		t.Errorf("history: %+v, %v", versions, err)
	}
}

// TestSealedAnew starts with a store that was written without the room: values that are secret
// now are not reported as changes.
func TestSealedAnew(t *testing.T) {
	t.Parallel()
	const pw = "hunTer2x9Q"
	live, git := &scripted{pw: pw, plain: "1"}, &scripted{pw: pw, plain: "2"}
	var estate Estate
	b := newBench(t, 0, func(e *Estate) {
		e.Sources[0].Collector, e.Declarations[0].Loader = live, git
		estate = *e
	})
	before := b.cycle(t)
	if len(before.Findings) != 1 {
		t.Fatalf("%d findings", len(before.Findings))
	}
	accepted := model.Decision{ID: "d", Kind: model.Accept, Finding: before.Findings[0].ID, Basis: before.Findings[0].Basis, By: "alice", At: time.Now()}
	if err := b.store.Decide([]model.Decision{accepted}, time.Now()); err != nil {
		t.Fatal(err)
	}
	estate.Secrets = secret.New(model.NewSealer([]byte("key")), secret.Options{})
	if err := b.store.Reseal(Reseal(estate.Secrets)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []model.Key{{Source: "live", Kind: thing, ID: "p/a"}, {Source: model.DeclaredSource("git"), Kind: thing, ID: "p/a"}} {
		versions, err := b.store.History(key)
		if err != nil || len(versions) != 1 || strings.Contains(fmt.Sprint(versions[0].Value), pw) {
			t.Errorf("history of %s: %v, %v", key, versions, err)
		}
	}
	b.engine = b.restart(estate)
	if after := b.cycle(t); len(after.Findings) != 0 || after.Summary.Accepted != 1 {
		t.Errorf("%d findings, %d accepted: the acceptance must hold", len(after.Findings), after.Summary.Accepted)
	}
	versions, err := b.store.History(model.Key{Source: "live", Kind: thing, ID: "p/a"})
	if err != nil || len(versions) != 1 {
		t.Errorf("%d versions after a scan, %v", len(versions), err)
	}
}
