package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
)

// now is the time at which tests render every page.
func now() time.Time { return time.Date(2026, 11, 20, 3, 12, 0, 0, time.UTC) }

func earlier(d time.Duration) time.Time { return now().Add(-d) }

func text(s string) *model.Value {
	v := model.StringOf(s)
	return &v
}

func number(n int64) *model.Value {
	v := model.IntOf(n)
	return &v
}

func sealed(s string) *model.Value {
	v := model.NewSealer([]byte("a key of these tests")).Seal(s)
	return &v
}

// finding returns a finding on a Kubernetes object, "Kind/place/name".
func finding(id string, verdict model.Verdict, severity model.Severity, object string) model.Finding {
	part := strings.SplitN(object, "/", 3)
	return model.Finding{
		ID: id, Verdict: verdict, Severity: severity,
		Key:   model.Key{Source: "prod", Kind: "kubernetes/" + part[0], ID: part[1] + "/" + part[2]},
		Place: part[1], Name: part[2], Declaration: "shop", Address: "deploy/" + part[2] + ".yaml:12",
		Actor:     model.Actor{Name: "alice@example.org", At: earlier(2 * time.Hour), Via: "kubectl-edit", Evidence: "managedFields", Confidence: model.Likely},
		FirstSeen: earlier(90 * time.Minute), LastSeen: earlier(5 * time.Minute), Basis: "ba515" + id,
	}
}

const image = "spec.template.spec.containers[name=web].image"

const nginx = "server {\n  listen 80;\n  server_name shop.example.org;\n  root /srv/www;\n  location / {\n    try_files $uri =404;\n  }\n  gzip on;\n}\n"

func conflict() model.Finding {
	f := finding("c0ff11c7", model.Conflict, model.Critical, "Deployment.apps/shop/web")
	f.Changes = []model.Change{
		{Path: image, Declared: text("registry.example.org/shop/web:1.4.2"), Recorded: text("registry.example.org/shop/web:1.4.1"), Live: text("registry.example.org/shop/web:1.5.0-hotfix")},
		{Path: "spec.replicas", Declared: number(3), Recorded: number(4), Live: number(5),
			Actor: &model.Actor{Name: "bob@example.org", At: earlier(26 * time.Hour), Via: "audit log", Evidence: "audit/7f3a", Confidence: model.Exact}},
	}
	f.Reason, f.Owner = "an image that nobody declared is running", "team-shop"
	f.Labels = map[string]string{"team": "shop", "tier": "front"}
	return f
}

func firewall() model.Finding {
	f := finding("f17e0a11", model.Changed, model.Critical, "x/x/x")
	f.Key, f.Place, f.Name = model.Key{Source: "pve", Kind: "proxmox/firewall-rules", ID: "qemu/104"}, "", "db-01"
	f.Declaration, f.Address = "infra", "proxmox_virtual_environment_firewall_rules.db"
	f.Actor = model.Actor{Name: "carol@pve", At: earlier(7 * time.Minute), Via: "task log", Evidence: "UPID:pve1:0003A1", Confidence: model.Exact, Message: "quick test"}
	f.FirstSeen = earlier(6 * time.Minute)
	f.Changes = []model.Change{{Path: "rule[2].source", LivePath: "rules.2.source", Declared: text("10.20.0.0/16"), Recorded: text("10.20.0.0/16"), Live: text("0.0.0.0/0")}}
	return f
}

func missing() model.Finding {
	f := finding("5e1f0a11", model.Missing, model.High, "Service/shop/web")
	f.Actor = model.UnknownActor("the source keeps no record of deletions")
	return f
}

func configMap() model.Finding {
	f := finding("c0f19a9e", model.Changed, model.High, "ConfigMap/shop/nginx")
	live := strings.NewReplacer("listen 80", "listen 8080", "  gzip on;\n", "").Replace(nginx)
	f.Changes = []model.Change{
		{Path: `data["nginx.conf"]`, Declared: text(nginx), Recorded: text(nginx), Live: text(live)},
		{Path: "data.port", Declared: text("80"), Recorded: text("80"), Live: number(80)},
	}
	f.Decision = &model.Decision{ID: "dec1de00ac4d", Kind: model.Acknowledge, Finding: f.ID, By: "bob", At: earlier(time.Hour),
		Via: "web page", Reason: "rolling back", Until: earlier(-23 * time.Hour), Basis: f.Basis}
	return f
}

func secrets() model.Finding {
	f := finding("5ec7e700", model.Changed, model.High, "Secret/shop/db")
	f.Changes = []model.Change{
		{Path: "data.password", Declared: sealed("hunter2"), Recorded: sealed("hunter2"), Live: sealed("hunter3"), Secret: true},
		{Path: "data.token", Declared: text("hunter4"), Live: text("hunter5"), Secret: true},
	}
	return f
}

func disputed() model.Finding {
	f := finding("d15b07ed", model.Disputed, model.Medium, "Deployment.apps/shop/api")
	f.Actor = model.UnknownActor("two declarations differ")
	author, unsure := model.Actor{Name: "alice <b>", Via: "git", Evidence: "commit 4f1c2b9a7d3e", Confidence: model.Likely}, model.UnknownActor("a plain folder keeps no history")
	f.Changes = []model.Change{{Path: "spec.replicas", Declared: number(3), Live: number(3), LiveActor: &author, Claims: []model.ClaimedValue{
		{Declaration: "infra", Address: "infra/api.yaml:3", Value: *number(5), Actor: &unsure},
		{Declaration: "shop", Address: "deploy/api.yaml:12", URL: "https://git.example.org/shop/api.yaml#L12", Value: *number(3), Actor: &author},
	}}}
	return f
}

func restart() model.Finding {
	f := finding("4e57a470", model.PendingRestart, model.Low, "x/x/x")
	f.Key, f.Place, f.Name = model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "104"}, "", "db-01"
	f.Declaration, f.Address = "infra", "proxmox_virtual_environment_vm.db"
	f.Changes = []model.Change{{Path: "cpu[0].cores", LivePath: "cores", Declared: number(4), Recorded: number(4), Live: number(4), Running: number(2)}}
	return f
}

// group returns findings with a common cause.
func group() []model.Finding {
	var all []model.Finding
	for i := range 6 {
		f := finding(fmt.Sprintf("c40d000%d", i), model.Changed, model.Medium, fmt.Sprintf("Deployment.apps/shop/worker-%d", i))
		f.Actor.Request = "4711"
		f.Changes = []model.Change{{Path: "metadata.labels.tier", Declared: text("back"), Live: text("front"), Recorded: text("back")}}
		all = append(all, f)
	}
	return all
}

// hostile returns a finding with markup in its name and values.
func hostile() model.Finding {
	f := finding("ba5eba11", model.Undeclared, model.Info, "ConfigMap/shop/<script>alert(1)</script>")
	f.Name = "\"><img src=x onerror=alert(1)>"
	f.Address = "deploy/../<b>.yaml:7"
	f.Owner = `"><script>alert(2)</script>`
	f.Actor = model.Actor{Name: "\x1b]0;owned\a\x1b[31mroot\x1b[0m", Confidence: model.Likely, Via: "javascript:alert(3)"}
	f.Reason = "line one\nCRITICAL  missing  Service forged/line\r\n]]> &amp; {{.}}"
	f.Changes = []model.Change{
		{Path: "data[\"\u202etxt.exe\"]", Live: text("\u202eevil\u202c \u200b \ufeff \u009b2J")},
		{Path: "data.long", Declared: text(strings.Repeat("<&\"'", 20000)), Live: text(strings.Repeat("\u202e", 20000))},
		{Path: "data.many", Declared: text(strings.Repeat("<script>\n", 3000)), Live: text(strings.Repeat("</pre>\n", 3000))},
	}
	return f
}

func quietOnes() []model.Finding {
	hidden := finding("41dde400", model.Changed, model.Low, "Deployment.apps/shop/mail")
	hidden.Hidden = "the autoscaler owns it"
	accepted := finding("acce97ed", model.Unmanaged, model.Low, "CronJob.batch/shop/debug")
	accepted.Declaration, accepted.Address = "", ""
	accepted.Decision = &model.Decision{ID: "dec1de00acc0", Kind: model.Accept, Finding: accepted.ID, By: "alice", At: earlier(time.Hour), Via: "web page",
		Owner: "bob", Reason: "kept for the sale", Until: earlier(-72 * time.Hour), Basis: accepted.Basis}
	unchecked := finding("0ff11e00", model.Unchecked, model.Info, "Secret/kube-system/token")
	unchecked.Reason = "forbidden: grant list on secrets"
	return []model.Finding{hidden, accepted, unchecked}
}

func run() model.Run {
	return model.Run{
		ID: "run-2", Started: earlier(6 * time.Minute), Finished: earlier(5 * time.Minute), Tool: "1.2.3",
		Scores: []model.Score{
			{Source: "prod", Owner: "team-web", Live: 40, Declared: 38, Claims: 39, InSync: model.Checked{Good: 38}, Deterministic: model.Checked{Good: 39}, Pinned: model.Checked{Good: 30, Unchecked: 2}},
			{Source: "prod", Live: 3, Claims: 3, InSync: model.Checked{Unchecked: 3}},
			{Source: "pve", Live: 85, Declared: 85, Claims: 85, InSync: model.Checked{Good: 84}, Deterministic: model.Checked{Unchecked: 85}, Pinned: model.Checked{Unchecked: 85}},
		},
		Sources: []model.SourceRun{
			{Name: "edge", Type: "kubernetes", Taken: earlier(26 * time.Hour), Resources: 40, Err: "dial tcp 192.0.2.7:6443: connection refused"},
			{Name: "prod", Type: "kubernetes", Version: "v1.36.0", Resources: 1204, Every: 10 * time.Minute, Taken: earlier(5 * time.Minute), Kinds: map[string]int{"kubernetes/Deployment.apps": 212, "kubernetes/ConfigMap": 640, "kubernetes/Service": 352}},
			{Name: "pve", Type: "proxmox", Version: "8.4", Resources: 85, Every: 10 * time.Minute, Taken: earlier(5 * time.Minute), Kinds: map[string]int{"proxmox/qemu": 61, "proxmox/lxc": 24}},
		},
		Declarations: []model.DeclarationRun{
			{Name: "infra", Type: "terraform", Claims: 412, Notes: []model.Note{{Address: "infra/main.tf:3", Text: `data "http" "<b>" sends a request`}, {Text: "and 3 more"}}, Tally: &model.Tally{Resources: 412, Compared: 385, Without: 3, Unmapped: map[string]int{"aws_sqs_queue": 19}}},
			{Name: "shop", Type: "manifests", Revision: "731e5b7a11c3f1d2b4c5d6e7f8091a2b3c4d5e6f", Claims: 877, Problems: []model.Problem{{Address: "deploy/broken.yaml:4", Reason: "found character that cannot start any token"}}},
		},
		Summary: model.Summary{Resources: 1289, InSync: 1237},
		Coverage: []model.Coverage{
			{Source: "prod", Complete: true}, {Source: "pve", Complete: true},
			{Source: "prod", Kind: "kubernetes/Secret", Place: "kube-system", Reason: "forbidden: grant list on secrets"},
			{Source: "edge", Reason: "dial tcp 192.0.2.7:6443: connection refused"},
		},
		Rules: []model.RuleRun{{Rule: "kind=Job.batch", Reason: "jobs come and go"}},
	}
}

// calmRun returns a run without gaps.
func calmRun() model.Run {
	r := run()
	r.Complete, r.Sources, r.Coverage = true, r.Sources[1:], r.Coverage[:2]
	r.Declarations[1].Problems = nil
	r.Summary.InSync = r.Summary.Resources
	return r
}

// estate returns all findings of these tests.
func estate() []model.Finding {
	all := append(group(), conflict(), firewall(), missing(), configMap(), secrets(), disputed(), restart(), hostile())
	return append(all, quietOnes()...)
}

func emptyStore(tb testing.TB) *store.Store {
	tb.Helper()
	// A key that only signs the logs of this test.
	key, err := audit.ParseKey("PRIVATE+KEY+driftd/fixture+5568350e+AQTx7OlxEy9TeSJqzwbJ34lN7K9JA0lP2NqNSCUB6lW7")
	if err != nil {
		tb.Fatal(err)
	}
	s, err := store.Open(tb.TempDir(), store.Options{Now: now, Audit: &key})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func save(tb testing.TB, s *store.Store, r store.Record) {
	tb.Helper()
	if err := s.Save(r); err != nil {
		tb.Fatal(err)
	}
	var decisions []model.Decision
	for i := range r.Findings {
		if d := r.Findings[i].Decision; d != nil && r.Findings[i].Resolved.IsZero() {
			decisions = append(decisions, *d)
		}
	}
	if err := s.Decide(decisions, now()); err != nil {
		tb.Fatal(err)
	}
}

// filled returns a store with the estate's findings open and one resolved.
func filled(tb testing.TB) *store.Store {
	tb.Helper()
	s := emptyStore(tb)
	early := run()
	early.ID, early.Started, early.Finished = "run-1", earlier(90*time.Minute), earlier(89*time.Minute)
	old := finding("01d00000", model.Missing, model.High, "Ingress.networking.k8s.io/shop/web")
	before := conflict()
	before.Verdict, before.Severity, before.Basis, before.Changes = model.Changed, model.High, "before", before.Changes[1:]
	save(tb, s, store.Record{Run: early, Findings: []model.Finding{old, before}})
	old.Resolved = earlier(5 * time.Minute)
	save(tb, s, store.Record{Run: run(), Findings: append(estate(), old)})
	return s
}

// people is a fake Gate.
type people struct {
	mu     sync.Mutex
	out    bool
	forged bool
	refuse error
	openID bool
}

func (p *people) Passwords() bool { return true }
func (p *people) OpenID() bool    { return p.openID }
func (p *people) Login(_ http.ResponseWriter, _ *http.Request, name, password string) error {
	if p.refuse != nil {
		return p.refuse
	}
	if name != "alice" || password != "right" {
		return &access.Refused{Status: http.StatusUnauthorized, Message: "name or password is wrong", Hint: "try again"}
	}
	return nil
}
func (p *people) Logout(http.ResponseWriter, *http.Request) { p.leave() }
func (p *people) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out = true
}
func (p *people) BeginOpenID(w http.ResponseWriter, r *http.Request, next string) error {
	if p.refuse != nil {
		return p.refuse
	}
	http.Redirect(w, r, "https://id.example.org/?state="+url.QueryEscape(next), http.StatusSeeOther)
	return nil
}
func (p *people) EndOpenID(http.ResponseWriter, *http.Request) (string, error) {
	return "//evil.example.org/", p.refuse
}
func (p *people) Token(http.ResponseWriter, *http.Request) string { return "t0ken" }
func (p *people) Genuine(r *http.Request) error {
	if r.PostFormValue("csrf") != "t0ken" || p.forged {
		return &access.Refused{Status: http.StatusForbidden, Message: "this was not sent by one of our pages", Hint: "load the page again"}
	}
	return nil
}
func (p *people) Still(context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.out
}

// decider makes decisions in a store, as the daemon does.
type decider struct {
	*store.Store
	mu      sync.Mutex
	decided int
}

func (d *decider) Decide(_ context.Context, ids []string, r decide.Request) ([]model.Decision, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var findings []model.Finding
	for _, id := range ids {
		f, _, err := d.Finding(id)
		if err != nil {
			return nil, err
		}
		findings = append(findings, f)
	}
	made, err := decide.Make(findings, r, now(), strings.NewReader(strings.Repeat(string(rune('a'+d.decided)), 60)))
	if err != nil {
		return nil, err
	}
	d.decided++
	return made, d.Store.Decide(made, now())
}

func (d *decider) Revoke(_ context.Context, id, by string) (model.Decision, error) {
	return d.Store.Revoke(id, by, now())
}

// auditLog is the audit log of a store. The pages do not verify it.
type auditLog struct{ *store.Store }

func (auditLog) Check(context.Context) (h server.AuditHealth, err error) { return h, nil }

func (l auditLog) State() (server.AuditState, error) {
	key, err := l.AuditKey()
	return server.AuditState{Entries: 5, Key: key.String(), Verified: earlier(3 * time.Hour),
		Witnesses: []server.WitnessState{{Name: "the file /mnt/witness/driftd.heads", Sent: 5}, {Name: "https://hooks.example.org", Error: "status 503 <gone>"}}}, err
}

func (auditLog) Send(context.Context) (s server.AuditSent, err error) { return s, nil }

func (auditLog) Settle(context.Context, string, string) (t audit.Trust, err error) { return t, nil }

// scanner is a daemon whose scans end at once.
type scanner struct{ fails bool }

func (s scanner) Scan(context.Context, []string) (model.Report, error) {
	if s.fails {
		return model.Report{}, errors.New("the token is s3cret")
	}
	return model.Report{}, nil
}

// A fakeSite is a site with the fakes behind it.
type fakeSite struct {
	*site
	handler http.Handler
	people  *people
	decider *decider
}

func newHouse(tb testing.TB, s *store.Store, change func(*Options)) *fakeSite {
	tb.Helper()
	h := &fakeSite{people: &people{}, decider: &decider{Store: s}}
	o := Options{News: NewNews(), Now: now, Log: quiet(),
		API: server.API{Store: s, AuditLog: auditLog{s}, Decider: h.decider, Scanner: scanner{}, Version: "1.2.3", Now: now, Log: quiet(),
			Receivers: func() []model.ReceiverStatus {
				return []model.ReceiverStatus{{Name: "oncall", Type: "slack", Delivered: earlier(5 * time.Minute)},
					{Name: "tickets", Type: "webhook", Queued: 3, Oldest: earlier(time.Hour), Error: "503: try again", Stopped: true}}
			}}}
	if change != nil {
		change(&o)
	}
	made, err := newSite(o)
	if err != nil {
		tb.Fatal(err)
	}
	made.authenticator, made.provider, made.guard = h.people, h.people, h.people
	h.site, h.handler = made, made.handler()
	return h
}

func visitor(role access.Role) access.Visitor {
	return access.Visitor{Name: "alice", Role: role, Via: access.Session}
}

// An answer is a response.
type answer struct {
	StatusCode int
	Status     string
	Header     http.Header
	Body       string
}

// ask sends a request of a visitor with a role.
func (h *fakeSite) ask(tb testing.TB, role access.Role, method, target string, form url.Values) answer {
	tb.Helper()
	who := visitor(role)
	if role == access.Nobody {
		who = access.Visitor{}
	}
	return h.askAs(tb, who, method, target, form, nil)
}

func (h *fakeSite) askAs(tb testing.TB, who access.Visitor, method, target string, form url.Values, header http.Header) answer {
	tb.Helper()
	r := httptest.NewRequestWithContext(access.With(tb.Context(), who), method, target, strings.NewReader(form.Encode()))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return answer{w.Code, strconv.Itoa(w.Code) + " " + http.StatusText(w.Code), w.Header(), w.Body.String()}
}

// page returns a page as an operator sees it.
func (h *fakeSite) page(tb testing.TB, target string) string {
	tb.Helper()
	got := h.ask(tb, access.Operator, http.MethodGet, target, nil)
	if got.StatusCode != http.StatusOK {
		tb.Fatalf("%s: %s\n%.2000s", target, got.Status, got.Body)
	}
	return got.Body
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }
