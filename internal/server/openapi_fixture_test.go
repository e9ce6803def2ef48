package server

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// rich returns the API of a daemon with a store in which every optional field is set.
func rich(t *testing.T) API {
	t.Helper()
	s := emptyStore(t)
	t0, t1 := begin(), begin().Add(time.Hour)
	filed := filedDecisions()
	first := fullRun("run-1", t0)
	records := []store.Record{
		{Run: first, Findings: manyFindings(t0, time.Time{}), Decisions: map[string][]model.Decision{"agreed": filed}, Snapshots: snapshots(t0, "1.4", true)},
		{Run: fullRun("run-2", t1), Findings: manyFindings(t0, t1), Decisions: map[string][]model.Decision{"agreed": filed}, Snapshots: snapshots(t1, "1.5", false)},
	}
	for _, r := range records {
		index := model.IndexDecisions(filed)
		for i := range r.Findings {
			index.Settle(&r.Findings[i], t0)
		}
		if err := s.Save(r); err != nil {
			t.Fatal(err)
		}
	}
	return API{
		Store: s, Compare: compare, Version: "1.2.3", Now: now, Log: quiet(),
		Decider: storeDecider{s, now, bytes.NewReader(bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7}, 600))},
		Copy:    func(w io.Writer) (int64, error) { return io.Copy(w, strings.NewReader("pages")) },
		Verify: func() (store.Health, error) {
			return store.Health{Records: 7, Bytes: 4096, Damages: []string{"bucket runs, record number 3: the checksum does not match"}, More: 1}, nil
		},
		AuditLog: auditStub{}, Acting: actorStub{},
		Problems: func() []string { return []string{"the configuration was not reloaded: line 3"} },
		Box: func() *box.Report {
			return &box.Report{Seals: []string{"seccomp"}, Lacks: []string{"landlock (old kernel)"}}
		},
		Waiting: func() []string { return []string{"source edge: not scanned yet"} },
		Receivers: func() []model.ReceiverStatus {
			return []model.ReceiverStatus{
				{Name: "ops", Type: "slack", Queued: 3, Oldest: t0, Untold: 2, Delivered: t0, Error: "token revoked: make a new one", Stopped: true},
				{Name: "hook", Type: "webhook"},
			}
		},
		Scanner: scanner(func(_ context.Context, sources []string) (model.Report, error) {
			if slices.Contains(sources, "prd") {
				return model.Report{}, &Error{Status: http.StatusNotFound, Message: "unknown source", Hint: "want prod or edge", Candidates: []string{"prod", "edge"}}
			}
			open, err := s.OpenFindings()
			return model.Report{Version: model.ReportVersion, Scan: first.Scan(), Summary: first.Summary, Findings: open, Coverage: first.Coverage}, err
		}),
	}
}

// filedDecisions returns decisions in a file: one in force, one about no finding.
func filedDecisions() []model.Decision {
	agreed := model.Decision{
		ID: "f11e00", Kind: model.Accept, Basis: "basis of acce07", Reason: "sale", Owner: "bob", By: "bob", At: begin(),
		Subject: model.Target{Key: model.Key{Source: "prod", Kind: "kubernetes/Service", ID: "shop/web"}, Declaration: "shop", Verdict: model.Missing},
		Via:     "acceptances.yaml:3", From: "agreed", Until: now().Add(48 * time.Hour),
	}
	void := agreed
	void.ID, void.Basis, void.Subject = "f11e01", "", model.Target{Key: model.Key{Source: "old", Kind: "kubernetes/Service", ID: "shop/web"}, Verdict: model.Pending, Check: "flux/suspended", Unproven: true}
	void.Changes = []model.Change{{Path: "spec", Live: object(field("a", model.StringOf("tell nobody")))}, {Path: "data.password", Secret: true}}
	return []model.Decision{agreed, void}
}

func fullActor(at time.Time) model.Actor {
	return model.Actor{Name: "mara", At: at, Via: "NetBox changelog", Evidence: "object-change 5695", Confidence: model.Exact,
		Reason: "it names the field", Request: "5f2a", Message: "grow for the sale"}
}

// full returns a finding with every field set.
func full(at time.Time) model.Finding {
	f := finding("f00d01", "prod", "Deployment.apps", model.Disputed, at, at)
	f.Actor, f.Reason, f.Owner, f.Basis = fullActor(at), "intent stands alone", "team-shop", "basis of f00d01"
	f.Rated, f.Exposure = &model.Rating{Was: model.Low, Reason: "customers notice"}, model.ExposesCode
	f.Labels, f.Flapping, f.Unproven, f.Replaces, f.Destroys = map[string]string{"team": "shop"}, true, true, true, true
	f.Objects, f.Unenforced = []string{"ConfigMap shop/cache"}, "Flux does not correct it"
	f.AlsoIn, f.Position = []string{"deploy/over/patch.yaml"}, "infra/main.tf:12"
	f.Links = []model.Link{{To: model.LinkLive, URL: "https://pve.example.org:8006/#v1:0:=qemu%2F101"}}
	f.Flips, f.WorseBasis = []model.Flip{{At: at, Basis: "a"}}, "b"
	f.Was, f.Merged, f.MergedInto = &model.Former{Verdict: model.Changed, At: at}, []string{"f00d03"}, "f00d04"
	old, fresh, hidden := model.IntOf(1), model.IntOf(2), sealer().Seal("hunter2")
	who := fullActor(at)
	who.Name, who.Confidence = "tom", model.Likely
	changes := []model.Change{
		{Path: "memory[0].dedicated", LivePath: "memory", Declared: &old, Recorded: &old, Live: &fresh, Running: &old, Names: map[string]string{"1": "storage", "2": ""}, Severity: model.Critical, Unproven: true, Actor: &who, LiveActor: &who,
			Rated: &model.Rating{Was: model.Low, Reason: "customers notice"}, Exposure: model.ExposesCode, Unenforced: "Argo CD ignores it",
			Claims: []model.ClaimedValue{{Declaration: "infra", Address: "vm.db", Position: "infra/main.tf:3", URL: "https://git.example.org/infra/main.tf#L3", Value: old, Actor: &who}, {Declaration: "intent", Address: "virtual-machines/6", Path: "memory", Value: fresh}}},
		{Path: "password", Declared: &hidden, Live: &hidden, Secret: true},
	}
	f.Changes = changes
	f.Ignored = []model.IgnoredChange{{Reason: "the operator writes it", Change: changes[0]}, {Reason: "noise", Change: changes[1]}}
	return f
}

// manyFindings returns findings of every verdict and every state. If later is not zero, some change then
// and one is resolved.
func manyFindings(first, later time.Time) []model.Finding {
	last := first
	if !later.IsZero() {
		last = later
	}
	var all []model.Finding
	for i, verdict := range model.Verdicts() {
		f := finding("0"+string(rune('a'+i))+"0000", "edge", "ConfigMap", verdict, first, last)
		f.Severity = model.Severities()[i%len(model.Severities())]
		f.Basis = "basis of " + f.ID
		if verdict == model.Violated || verdict == model.Nondeterministic {
			f.Check = "flux/suspended"
		}
		all = append(all, f)
	}
	hidden := finding("f00d02", "prod", "ConfigMap", model.Changed, first, last)
	hidden.Hidden = "noise"
	agreed := finding("acce07", "prod", "Service", model.Missing, first, last)
	agreed.Basis = "basis of acce07"
	over := finding("0ver01", "prod", "Role", model.Missing, first, first)
	whole := full(first)
	whole.LastSeen = last
	if !later.IsZero() {
		over.Resolved = later
		whole.Changes = whole.Changes[:1]
	}
	return append(all, hidden, agreed, over, whole)
}

// fullRun returns a run with every field set.
func fullRun(id string, at time.Time) model.Run {
	r := run(id, at)
	r.Summary.Accepted, r.Summary.Hidden, r.Summary.NotJudged = 1, 1, 1
	r.Summary.Exempt = 1
	r.Exempt = []model.Exemption{{Key: model.Key{Source: "prod", Kind: "kubernetes/Deployment.apps", ID: "shop/web"}, Declaration: "shop",
		Path: "metadata.annotations.a", Live: "b", Writer: "controller", Why: "in the table of known controllers"}}
	r.Scores = []model.Score{{Source: "prod", Owner: "team-shop", Live: 3, Declared: 2, Claims: 2, InSync: model.Checked{Good: 1, Unchecked: 1}}}
	r.NotJudged = []model.NotJudged{
		{Source: "prod", Declaration: "shop", Address: "deploy/broken.yaml:4", Reason: "cannot start any token", Count: 1,
			Resources: []model.NotJudgedResource{{Kind: "kubernetes/ConfigMap", ID: "shop/stray", Place: "shop"}}},
		{Source: "prod", Older: true, Reason: "outside the governed namespaces", Count: 1,
			Resources: []model.NotJudgedResource{{Kind: "kubernetes/Pod", ID: "other/tool", Place: "other", Watched: "it uses hostNetwork"}}},
	}
	r.NotGoverned = []model.NotGoverned{{Source: "prod", Place: "kube-system", Declaration: "shop", Remedy: "declare the Namespace"}}
	for i := range r.Sources {
		r.Sources[i].Version, r.Sources[i].Duration, r.Sources[i].Kinds = "v1.35.0", time.Second, map[string]int{"kubernetes/Service": 1}
	}
	r.Sources[0].Held, r.Sources[0].Err = true, "timeout: see whether it runs"
	d := &r.Declarations[0]
	d.Duration, d.Problems = time.Second, []model.Problem{{Address: "deploy/broken.yaml:4", Reason: "cannot start any token"}}
	d.Tally = &model.Tally{Resources: 9, Compared: 5, ExistenceOnly: 1, Without: 1, Unmapped: map[string]int{"aws_sqs_queue": 2}, Unchecked: 1}
	d.Notes = []model.Note{{Address: "infra/main.tf:3", Text: "runs a program"}}
	d.Objects = model.SampleObjects([]model.Claim{{Address: "lab_server.web", Kind: "terraform/lab_server", Name: "web-1"}})
	d.States = []model.StateRead{{Address: "s3://bucket/key", Lineage: "3f1c", Serial: 7, Hash: "ab12", Tool: "terraform 1.11.4",
		Version: "1.11.4", Newest: "1.12.0", PlannedBy: "1.11.4", Written: []time.Time{r.Started}, Kinds: []string{"proxmox/qemu"},
		Dependencies: []model.DependencyRead{{Address: "data.terraform_remote_state.net", Unread: true, Read: r.Started, Changed: []string{"vpc"}, Since: r.Started}}}}
	broken := model.DeclarationRun{Name: "infra", Type: "terraform", Err: "no such folder: name another"}
	r.Declarations = append(r.Declarations, broken)
	r.Coverage = append(r.Coverage, model.Coverage{Source: "prod", Kind: "kubernetes/Secret", Place: "kube-system", Skipped: true, Reason: "excluded"})
	r.Rules = []model.RuleRun{
		{Rule: "kind=Job.batch", Reason: "noise", Findings: 1, Fields: 2, Expires: at.Add(time.Hour)},
		{Rule: "kind=Event", Reason: "until it is gone", Expires: at, Ended: true},
	}
	r.Repeated = &model.Repeated{Runs: 3, FirstID: "run-0", FirstStarted: at.Add(-time.Hour), Shortest: time.Second, Longest: 2 * time.Second,
		Total: 4 * time.Second, LongestPause: 10 * time.Minute}
	r.SeverityRules = []model.RuleRun{{Rule: "source=prod", Reason: "customers notice", Set: model.Critical, Findings: 1, Fields: 1}}
	return r
}

// snapshots returns snapshots with resources that are added, removed and changed.
func snapshots(at time.Time, tag string, early bool) []model.Snapshot {
	web := object(field("image", model.StringOf("web:"+tag)), field("password", sealer().Seal("hunter"+tag)))
	list := []model.Resource{resource("prod", "Deployment.apps", "shop/web", web)}
	shared := object(field("data", model.StringOf("x")))
	for name, there := range maps.All(map[string]bool{"shop/old": early, "shop/new": !early, "shop/web": true}) {
		if there {
			list = append(list, resource("prod", "ConfigMap", name, shared))
		}
	}
	return []model.Snapshot{snapshot("prod", at, list...), snapshot("edge", at, resource("edge", "ConfigMap", "shop/web", shared))}
}
