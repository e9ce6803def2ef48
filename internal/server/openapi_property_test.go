package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// schemas compiles the document's schemas by name when they are first used.
type schemas struct{ compiler *jsonschema.Compiler }

func compileSchemas(t *testing.T) schemas {
	t.Helper()
	text, err := json.Marshal(newOutline(t).written)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("urn:driftd", document); err != nil {
		t.Fatal(err)
	}
	s := schemas{c}
	for _, name := range []string{"report", "findings", "detail", "decisions", "history", "diff", "runs", "status", "error"} {
		if _, err := s.compiler.Compile("urn:driftd#/components/schemas/" + name); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s schemas) validate(name, text string) error {
	schema, err := s.compiler.Compile("urn:driftd#/components/schemas/" + name)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// TestAnyStoreIsAnsweredAsTheDocumentSays sends every request to APIs with random stores.
func TestAnyStoreIsAnsweredAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	schemas, s := compileSchemas(t), emptyStore(t)
	tick := begin()
	rapid.Check(t, func(rt *rapid.T) {
		tick = tick.Add(time.Hour)
		record := anyRecord(rt, tick)
		if err := s.Save(record); err != nil {
			rt.Fatal(err)
		}
		zone := anyZone().Draw(rt, "zone of the daemon")
		receivers := rapid.SliceOfN(anyReceiver(), 0, 2).Draw(rt, "receivers")
		a := API{Store: s, Compare: compare, Version: anyText().Draw(rt, "version"), Now: func() time.Time { return tick.Add(time.Minute).In(zone) }, Log: quiet(),
			Receivers: func() []model.ReceiverStatus { return receivers },
			Scanner: scanner(func(context.Context, []string) (model.Report, error) {
				return model.Report{Version: 1, Scan: record.Run.Scan(), Summary: record.Run.Summary, Findings: record.Findings, Coverage: record.Run.Coverage}, nil
			})}
		h := a.Handler()
		check := func(schema, method, target string) {
			status, body := get(t, h, method, target)
			if status != http.StatusOK {
				schema = "error"
			}
			if err := schemas.validate(schema, body); err != nil || status == http.StatusInternalServerError {
				rt.Fatalf("%s %s = %d: %v\n%s", method, target, status, err, body)
			}
		}
		check("report", http.MethodGet, "/api/v1/report?hidden=true&resolved=true")
		check("findings", http.MethodGet, "/api/v1/findings?hidden=true&resolved=true&since=2h")
		check("outlines", http.MethodGet, "/api/v1/outlines?hidden=true&resolved=true&since=2h")
		check("decisions", http.MethodGet, "/api/v1/decisions")
		check("diff", http.MethodGet, "/api/v1/diff?from=3h")
		check("runs", http.MethodGet, "/api/v1/runs?limit=2")
		check("status", http.MethodGet, "/api/v1/status")
		check("report", http.MethodPost, "/api/v1/scan")
		for _, f := range record.Findings {
			check("detail", http.MethodGet, "/api/v1/findings/"+f.ID)
			check("suggestion", http.MethodGet, "/api/v1/findings/"+f.ID+"/suggestion")
		}
		for _, r := range record.Snapshots[0].Resources {
			check("history", http.MethodGet, "/api/v1/history?key="+url.QueryEscape(r.Key.String()))
		}
	})
}

// anyText draws texts with special characters.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{"", "web", "<script>", "\x00secret:ab", "\xff\xfe", "\u202e", "null", "日本", "a/b"}), rapid.String())
}

// anyTime draws times in any zone, and sometimes the zero time.
func anyTime() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.IntRange(0, 4).Draw(t, "never") == 0 {
			return time.Time{}
		}
		return begin().Add(time.Duration(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "offset"))).In(anyZone().Draw(t, "zone"))
	})
}

func anyZone() *rapid.Generator[*time.Location] {
	return rapid.Custom(func(t *rapid.T) *time.Location {
		return time.FixedZone("", rapid.IntRange(-12, 12).Draw(t, "hours")*3600)
	})
}

func anyValue() *rapid.Generator[model.Value] {
	return rapid.Custom(func(t *rapid.T) model.Value {
		text := model.StringOf(anyText().Draw(t, "string"))
		return rapid.SampledFrom([]model.Value{{}, model.BoolOf(true), model.IntOf(1 << 62), text, sealer().Seal("x"), model.ListOf(text, sealer().Seal("y")),
			model.MapOf(field(anyText().Draw(t, "name"), text)), model.ListOf(), model.MapOf()}).Draw(t, "value")
	})
}

func anyActor() *rapid.Generator[model.Actor] {
	return rapid.Custom(func(t *rapid.T) model.Actor {
		text := anyText()
		return model.Actor{Name: text.Draw(t, "name"), At: anyTime().Draw(t, "at"), Via: text.Draw(t, "via"), Evidence: text.Draw(t, "evidence"), Reason: text.Draw(t, "reason"),
			Request: text.Draw(t, "request"), Message: text.Draw(t, "message"),
			Confidence: rapid.SampledFrom([]model.Confidence{model.Exact, model.Likely, model.Unknown}).Draw(t, "confidence")}
	})
}

func anyChange() *rapid.Generator[model.Change] {
	return rapid.Custom(func(t *rapid.T) model.Change {
		side := rapid.Ptr(anyValue(), true)
		c := model.Change{Path: anyText().Draw(t, "path"), LivePath: anyText().Draw(t, "live path"), Secret: rapid.Bool().Draw(t, "secret"),
			Declared: side.Draw(t, "declared"), Recorded: side.Draw(t, "recorded"), Live: side.Draw(t, "live"), Running: side.Draw(t, "running"), Unproven: rapid.Bool().Draw(t, "unproven"),
			Actor: rapid.Ptr(anyActor(), true).Draw(t, "actor"), Severity: rapid.SampledFrom(append(model.Severities(), "")).Draw(t, "severity")}
		for range rapid.IntRange(0, 2).Draw(t, "claims") {
			c.Claims = append(c.Claims, model.ClaimedValue{Declaration: anyText().Draw(t, "declaration"), Path: anyText().Draw(t, "word"), Value: anyValue().Draw(t, "claim"), Actor: rapid.Ptr(anyActor(), true).Draw(t, "writer")})
			c.LiveActor = rapid.Ptr(anyActor(), true).Draw(t, "live actor")
		}
		return c
	})
}

func anyFinding(id string, at time.Time) *rapid.Generator[model.Finding] {
	return rapid.Custom(func(t *rapid.T) model.Finding {
		f := finding(id, rapid.SampledFrom([]string{"prod", "edge", "old"}).Draw(t, "source"), anyText().Draw(t, "kind"), rapid.SampledFrom(model.Verdicts()).Draw(t, "verdict"), at, at)
		f.Severity = rapid.SampledFrom(model.Severities()).Draw(t, "severity")
		f.Name, f.Place, f.Address, f.Reason, f.Owner = anyText().Draw(t, "name"), anyText().Draw(t, "place"), anyText().Draw(t, "address"), anyText().Draw(t, "reason"), anyText().Draw(t, "owner")
		f.Actor, f.Changes = anyActor().Draw(t, "actor"), rapid.SliceOfN(anyChange(), 0, 2).Draw(t, "changes")
		f.Basis, f.Hidden, f.Flapping = "basis of "+id, anyText().Draw(t, "hidden"), rapid.Bool().Draw(t, "flapping")
		f.Unproven = rapid.Bool().Draw(t, "unproven")
		f.Replaces = rapid.Bool().Draw(t, "replaces")
		f.Labels = rapid.MapOfN(anyText(), anyText(), 0, 2).Draw(t, "labels")
		for range rapid.IntRange(0, 1).Draw(t, "ignored") {
			f.Ignored = append(f.Ignored, model.IgnoredChange{Reason: anyText().Draw(t, "rule"), Change: anyChange().Draw(t, "ignored field")})
		}
		if rapid.Bool().Draw(t, "over") {
			f.Resolved = at
		}
		return f
	})
}

func anyReceiver() *rapid.Generator[model.ReceiverStatus] {
	return rapid.Custom(func(t *rapid.T) model.ReceiverStatus {
		return model.ReceiverStatus{Name: anyText().Draw(t, "name"), Type: anyText().Draw(t, "type"), Queued: rapid.IntRange(0, 9).Draw(t, "queued"), Oldest: anyTime().Draw(t, "oldest"),
			Delivered: anyTime().Draw(t, "delivered"), Error: anyText().Draw(t, "error"), Stopped: rapid.Bool().Draw(t, "stopped")}
	})
}

// anyDecisions draws decisions in a file, about findings and about none.
func anyDecisions(t *rapid.T, findings []model.Finding) []model.Decision {
	var all []model.Decision
	for i := range rapid.IntRange(0, 2).Draw(t, "decisions") {
		d := model.Decision{ID: fmt.Sprintf("f11e%02d", i), Kind: rapid.SampledFrom(model.DecisionKinds()).Draw(t, "kind"), Subject: model.Target{Key: model.Key{Source: "prod"}},
			Reason: anyText().Draw(t, "why"), Owner: anyText().Draw(t, "owner"), By: anyText().Draw(t, "by"), At: anyTime().Draw(t, "at"), Via: anyText().Draw(t, "via"),
			From: "agreed", Until: anyTime().Draw(t, "until"), Changes: rapid.SliceOfN(anyChange(), 0, 2).Draw(t, "shown")}
		if len(findings) > i {
			d.Subject, d.Basis = model.Target{Key: findings[i].Key, Verdict: findings[i].Verdict}, findings[i].Basis
		}
		all = append(all, d)
	}
	return all
}

// anyRecord draws a record of a scan at a time.
func anyRecord(t *rapid.T, at time.Time) store.Record {
	r := store.Record{Run: anyRun(t, at), Decisions: map[string][]model.Decision{}}
	for i := range rapid.IntRange(0, 3).Draw(t, "findings") {
		r.Findings = append(r.Findings, anyFinding(fmt.Sprintf("%x-%d", at.Unix(), i), at).Draw(t, "finding"))
	}
	r.Decisions["agreed"] = anyDecisions(t, r.Findings)
	index := model.IndexDecisions(r.Decisions["agreed"])
	for i := range r.Findings {
		index.Settle(&r.Findings[i], at)
	}
	web := resource("prod", "Deployment.apps", "shop/web", object(field("spec", anyValue().Draw(t, "spec"))))
	web.Owners = []model.Owner{{Name: anyText().Draw(t, "writer"), At: anyTime().Draw(t, "written")}}
	resources := []model.Resource{web}
	if rapid.Bool().Draw(t, "another") {
		resources = append(resources, resource("prod", "ConfigMap", "shop/web", object(field("data", anyValue().Draw(t, "data")))))
	}
	r.Snapshots = []model.Snapshot{snapshot("prod", at, resources...)}
	return r
}

func anyRun(t *rapid.T, at time.Time) model.Run {
	zone := anyZone().Draw(t, "zone")
	r := model.Run{ID: anyText().Draw(t, "run"), Started: at.In(zone), Finished: at.Add(time.Second).In(zone), Complete: rapid.Bool().Draw(t, "complete"), Tool: anyText().Draw(t, "tool"),
		Summary: model.Summary{Resources: 3, Accepted: rapid.IntRange(0, 1).Draw(t, "accepted")}}
	for _, name := range []string{"prod", "edge"}[:rapid.IntRange(1, 2).Draw(t, "sources")] {
		r.Sources = append(r.Sources, model.SourceRun{Name: name, Type: anyText().Draw(t, "type"), Version: anyText().Draw(t, "version"), Taken: anyTime().Draw(t, "taken"),
			Kinds: rapid.MapOfN(anyText(), rapid.IntRange(0, 9), 0, 2).Draw(t, "kinds"), Held: rapid.Bool().Draw(t, "held"), Err: anyText().Draw(t, "error"),
			Every: time.Duration(rapid.IntRange(0, 3).Draw(t, "every")) * time.Hour})
	}
	for range rapid.IntRange(0, 2).Draw(t, "declarations") {
		d := model.DeclarationRun{Name: "shop", Revision: anyText().Draw(t, "revision"), Tally: rapid.Ptr(rapid.Just(model.Tally{Resources: 1, Unmapped: map[string]int{}}), true).Draw(t, "tally")}
		for range rapid.IntRange(0, 1).Draw(t, "problems") {
			d.Problems = append(d.Problems, model.Problem{Address: anyText().Draw(t, "address"), Reason: anyText().Draw(t, "reason")})
			d.Notes = append(d.Notes, model.Note{Address: anyText().Draw(t, "place"), Text: anyText().Draw(t, "note")})
		}
		r.Declarations = append(r.Declarations, d)
	}
	for range rapid.IntRange(0, 2).Draw(t, "scopes") {
		r.Coverage = append(r.Coverage, model.Coverage{Source: "prod", Kind: anyText().Draw(t, "kind"), Complete: rapid.Bool().Draw(t, "read"), Skipped: rapid.Bool().Draw(t, "skipped"), Reason: anyText().Draw(t, "why")})
	}
	for range rapid.IntRange(0, 1).Draw(t, "rules") {
		r.Rules = append(r.Rules, model.RuleRun{Rule: anyText().Draw(t, "rule"), Expires: anyTime().Draw(t, "expires"), Ended: rapid.Bool().Draw(t, "ended")})
	}
	return r
}
