package secret_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
)

// violations returns a failed check of each field that may have a secret.
func violations() []model.Violation {
	parameters := model.ListOf(model.MapOf(model.Field{Name: "name", Value: model.StringOf("db.password")}, model.Field{Name: "value", Value: model.StringOf(planted)}))
	return []model.Violation{{Path: "spec.password", Value: pointer(model.StringOf(planted)), Reason: leaky, Actor: model.Actor{Name: leaky}},
		{Path: "spec.source.helm.parameters", Value: &parameters}, {Path: "spec.source.helm.values", Value: pointer(model.StringOf("db:\n  password: " + planted + "\n"))}}
}

// leaky is a text that contains a secret.
const leaky = "GET https://u:" + planted + "@h: refused"

func lambda() model.Value {
	variables := model.MapOf(model.Field{Name: "API_TOKEN", Value: model.StringOf(planted)}, model.Field{Name: "LEVEL", Value: model.StringOf("debug")})
	environment := model.ListOf(model.MapOf(model.Field{Name: "variables", Value: variables}))
	return model.MapOf(model.Field{Name: "environment", Value: environment}, model.Field{Name: "note", Value: model.StringOf(leaky)})
}

func pointer(v model.Value) *model.Value { return &v }

func snapshot() model.Snapshot {
	key := model.Key{Source: "plan:infra", Kind: "terraform/aws_lambda_function", ID: "web"}
	actor := model.Actor{Name: "alice", Message: leaky, Reason: leaky, Evidence: leaky}
	return model.Snapshot{Source: "plan:infra", LogUnread: leaky,
		Resources: []model.Resource{{Key: key, Value: lambda(), LastApplied: pointer(lambda()), Running: lambda().Fields(), WriterUnknown: leaky, Violations: violations(),
			UnreadFields: []model.UnreadField{{Name: "x", Reason: leaky}}}},
		Coverage: []model.Coverage{{Reason: leaky}}, Unread: []model.Unread{{Reason: leaky}}, Stale: []model.Staleness{{Reason: leaky}},
		AuditEvents: []model.AuditEvent{{LastValue: lambda(), Texts: []string{leaky}, Actor: actor}}}
}

func declaration() model.Declaration {
	live := snapshot()
	return model.Declaration{Name: "infra", Live: &live, LogUnread: leaky, Problems: []model.Problem{{Reason: leaky}},
		Violations: []model.PartViolation{{Violation: violations()[0]}, {Violation: violations()[1]}, {Violation: violations()[2]}},
		Removals:   []model.Removal{{Actor: model.Actor{Message: leaky}}},
		Decisions:  []model.Decision{{Reason: leaky, Changes: []model.Change{{Path: "note", Live: pointer(model.StringOf(leaky))}}}},
		Claims: []model.Claim{{Kind: "terraform/aws_lambda_function", Value: lambda(), Recorded: pointer(lambda()), Written: pointer(lambda()), Otherwise: []model.Value{lambda()},
			Violations: violations(), Unchecked: leaky, ClaimApply: model.ClaimApply{Pending: leaky}, ClaimMatching: model.ClaimMatching{Doubt: leaky}, ClaimHistory: model.ClaimHistory{WriterUnknown: leaky, LogUnread: leaky, AuditEvents: snapshot().AuditEvents}}}}
}

func TestEverythingIsSealed(t *testing.T) {
	t.Parallel()
	r := room(secret.Options{})
	past := model.Past{Gap: leaky, Versions: []model.Version{{Value: pointer(lambda()), From: model.Commit{Message: leaky}, Until: model.Commit{Message: leaky}}}}
	finding := model.Finding{Key: model.Key{Kind: "kubernetes/Pod"}, Reason: leaky, Actor: model.Actor{Message: leaky}, Changes: []model.Change{
		{Path: "spec.env[name=API_TOKEN].value", Live: pointer(model.StringOf(planted)), Declared: pointer(model.StringOf(leaky))},
		{Path: `data["db.password"]`, Claims: []model.ClaimedValue{{Value: model.StringOf(planted)}}}, {Path: "tokens[0]", Recorded: pointer(model.StringOf(planted))}},
		Ignored: []model.IgnoredChange{{Change: model.Change{Path: "spec.password", Live: pointer(model.StringOf(planted))}}}}
	r.Finding(&finding)
	for what, sealed := range map[string]any{
		"snapshot": r.Snapshot(snapshot()), "declaration": r.Declaration(declaration()), "derived": r.Derived(declaration()).Claims[0].Value,
		"pasts": r.Pasts([]*model.Claim{{}}, []model.Past{past}), "finding": finding, "error": r.Error(errors.New(leaky)).Error(),
		"observations": r.Observations("x", []model.Observation{{Value: pointer(lambda())}}),
		"canonical":    r.Canonical([]model.Claim{{}}, []model.Claim{{Value: lambda(), Written: &model.Value{}}})[0].Value,
	} {
		text, err := json.Marshal(sealed)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), planted) || !strings.Contains(string(text), "secret") {
			t.Errorf("%s: %s", what, text)
		}
		if what == "snapshot" && !strings.Contains(string(text), "debug") {
			t.Errorf("%s: text that is not secret is missing: %s", what, text)
		}
	}
}

// TestQuotes verifies that values which evidence quotes are hidden by the rules for their fields, and that others stay.
func TestQuotes(t *testing.T) {
	t.Parallel()
	const kind = "proxmox/qemu"
	disk := model.MapOf(model.Field{Name: "file", Value: model.StringOf("local:1")}, model.Field{Name: "serial", Value: model.StringOf("QX7")})
	// Each quote ends with the line, since its value may.
	const evidence = "update: -cores 4 -description licence QX7 -scsi0 local:1,serial=QX7 (on pve1)"
	end := strings.Index(evidence, " (on")
	at := func(option string) int { return strings.Index(evidence, option) + len(option) }
	quotes := []model.Quote{
		{Path: "scsi0", Value: disk, From: at("-scsi0 "), To: end},
		{Path: "description", Value: model.StringOf("licence QX7"), From: at("-description "), To: end},
		{Path: "cores", Value: model.IntOf(4), From: at("-cores "), To: end},
	}
	for name, c := range map[string]struct {
		rules secret.Options
		want  string
	}{
		"no rule":             {secret.Options{}, evidence},
		"another kind":        {secret.Options{Paths: []string{"proxmox/lxc description"}}, evidence},
		"a path":              {secret.Options{Paths: []string{kind + " description"}}, "update: -cores 4 -description <hidden> (on pve1)"},
		"a name":              {secret.Options{Names: []string{"description"}}, "update: -cores 4 -description <hidden> (on pve1)"},
		"a part":              {secret.Options{Paths: []string{"scsi0.serial"}}, "update: -cores 4 -description licence QX7 -scsi0 <hidden> (on pve1)"},
		"one after the other": {secret.Options{Paths: []string{"scsi0", "cores"}}, "update: -cores <hidden> (on pve1)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			event := model.AuditEvent{Ref: model.Ref{Kind: kind, ID: "100"}, Actor: model.Actor{Evidence: evidence}, Quotes: quotes}
			sealed := room(c.rules).Snapshot(model.Snapshot{AuditEvents: []model.AuditEvent{event}}).AuditEvents[0]
			if sealed.Actor.Evidence != c.want || len(sealed.Quotes) > 0 {
				t.Errorf("got %q with %d quotes, want %q", sealed.Actor.Evidence, len(sealed.Quotes), c.want)
			}
		})
	}
}

// TestStoredEvidence verifies that the values in the evidence of stored actors are hidden, because the fields that they belong
// to are not known.
func TestStoredEvidence(t *testing.T) {
	t.Parallel()
	const line = "update VM 100: -description licence: (QX7) -name web (pvedaemon on pve1)"
	logged := model.Actor{Name: "alice@pam", Via: model.ViaClusterLog, Evidence: line}
	task := model.Actor{Name: "alice@pam", Via: "task log", Evidence: "UPID:pve1: x"}
	f := model.Finding{Actor: logged, Changes: []model.Change{
		{Path: "name", Actor: &logged, LiveActor: &logged, Claims: []model.ClaimedValue{{Actor: &logged}}},
		{Path: "cores", Actor: &task},
	}}
	r := room(secret.Options{Names: []string{"description"}})
	r.Finding(&f)
	r.Finding(&f) // again
	c := f.Changes[0]
	for what, a := range map[string]*model.Actor{"finding": &f.Actor, "change": c.Actor, "live": c.LiveActor, "claim": c.Claims[0].Actor} {
		if want := "update VM 100: <hidden> (pvedaemon on pve1)"; a.Evidence != want {
			t.Errorf("%s: got %q, want %q", what, a.Evidence, want)
		}
	}
	if got := f.Changes[1].Actor.Evidence; got != task.Evidence {
		t.Errorf("task: got %q", got)
	}
	if logged.Evidence != line {
		t.Error("the actor of the caller was modified")
	}
}

// TestStoredPaths checks that the operator's paths match stored changes like trees.
func TestStoredPaths(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, rule, path string }{
		{"a field", "spec.code", "spec.code"},
		{"a field of an element", "rules.code", "rules[name=a].code"},
		{"a field of an element whose key has a bracket", "rules.code", `rules[name="a]b"].code`},
		{"a quoted field with a bracket", `rules\["a]b"].code`, `rules[0]["a]b"].code`},
		{"below a quoted field with a bracket", `rules\["a]b"]`, `rules[0]["a]b"].code`},
	} {
		f := model.Finding{Changes: []model.Change{{Path: tc.path, Live: pointer(model.StringOf("plain"))}}}
		room(secret.Options{Paths: []string{tc.rule}}).Finding(&f)
		if live := f.Changes[0].Live; live.Kind() != model.Secret {
			t.Errorf("%s: %s is %s", tc.reason, tc.path, live.AppendJSON(nil))
		}
	}
}

// A renamed lens shows the live field pin as code.
type renamed struct{}

func (renamed) Schema() *model.Schema { return nil }
func (renamed) View(live model.Value) model.Value {
	return model.MapOf(model.Field{Name: "code", Value: live.At("text")}, model.Field{Name: "db_password", Value: live.At("pw")}, model.Field{Name: "token", Value: live.At("env")})
}
func (renamed) LivePath(model.Value, string) string { return "" }
func (renamed) LiveValue(model.Value, string, model.Value) (model.Value, bool) {
	return model.Value{}, false
}
func (renamed) IsShared(string) bool        { return false }
func (renamed) Misfit(*model.Schema) string { return "" }

func TestLensesSealLiveValuesLikeClaims(t *testing.T) {
	t.Parallel()
	r := room(secret.Options{})
	text := func(name, value string) model.Field { return model.Field{Name: name, Value: model.StringOf(value)} }
	live := model.MapOf(text("text", leaky), text("pw", "https://u:"+planted+"@h"), text("env", planted))
	declared := renamed{}.View(live)
	// The state marks code as sensitive; the others are sealed by name.
	declared = declared.With("code", r.Sealer().SealTree(declared.At("code")))
	claims := r.Declaration(model.Declaration{Claims: []model.Claim{{Value: declared, Lens: renamed{}}, {Value: model.MapOf(), Lens: renamed{}}, {Value: model.MapOf(), Lens: renamed{}}}}).Claims
	seen := claims[0].Lens.View(r.Snapshot(model.Snapshot{Resources: []model.Resource{{Value: live}}}).Resources[0].Value)
	if !seen.Equal(claims[0].Value) {
		t.Errorf("live %s, declared %s", seen.AppendJSON(nil), claims[0].Value.AppendJSON(nil))
	}
	if claims[1].Lens != claims[2].Lens {
		t.Error("claims without secrets do not share their lens")
	}
}
