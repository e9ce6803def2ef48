package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// now is the moment at which every test report is read.
var now = time.Date(2026, 11, 20, 7, 30, 0, 0, time.UTC)

// digest is the mark that must never be seen in a report.
const digest = "d1ce57a0d1ce57a0d1ce57a0d1ce57a0"

func earlier(d time.Duration) time.Time { return now.Add(-d) }

func text(s string) *model.Value {
	v := model.StringOf(s)
	return &v
}

func number(n int64) *model.Value {
	v := model.IntOf(n)
	return &v
}

func sealed(suffix string) *model.Value {
	v := model.DigestOf(digest + suffix)
	return &v
}

func tree(name string, v model.Value) *model.Value {
	m := model.MapOf(model.Field{Name: "name", Value: model.StringOf(name)}, model.Field{Name: "value", Value: v})
	return &m
}

// finding returns a finding on a Kubernetes object, "Kind/place/name".
func finding(id string, verdict model.Verdict, severity model.Severity, object string) model.Finding {
	part := strings.SplitN(object, "/", 3)
	return model.Finding{
		ID: id, Verdict: verdict, Severity: severity,
		Key:   model.Key{Source: "prod", Kind: "kubernetes/" + part[0], ID: part[1] + "/" + part[2]},
		Place: part[1], Name: part[2], Declaration: "shop", Address: "deploy/" + part[2] + ".yaml:12",
		Actor:     model.Actor{Name: "kubectl-edit", At: earlier(2 * time.Hour), Via: "managedFields", Confidence: model.Likely},
		FirstSeen: earlier(90 * time.Minute), LastSeen: earlier(5 * time.Minute),
	}
}

const image = "spec.template.spec.containers[name=web].image"

func conflict() model.Finding {
	f := finding("c0ff11c7", model.Conflict, model.Critical, "Deployment.apps/shop/web")
	f.Links = []model.Link{{To: model.LinkLive, URL: "https://pve.example.org:8006/#v1:0:=qemu%2F101"},
		{To: model.LinkDeclared, URL: "https://github.com/acme/shop/blob/0123456789abcdef0123456789abcdef01234567/a%20b.yaml#L3"}}
	f.Changes = []model.Change{
		{Path: "spec.replicas", Declared: number(3), Recorded: number(4), Live: number(5),
			Actor: &model.Actor{Name: "alice@example.org", At: earlier(26 * time.Hour), Via: "audit log",
				Evidence: "audit/7f3a", Confidence: model.Exact}},
		{Path: image, Declared: text("registry.example.org/shop/web:1.4"),
			Recorded: text("registry.example.org/shop/web:1.3"), Live: text("registry.example.org/shop/web:1.5-hotfix")},
	}
	f.Reason = "an image that nobody declared is running"
	f.Owner, f.Flapping = "team-shop", true
	f.Decision = &model.Decision{ID: "dec1de00ac4d", Kind: model.Acknowledge, Finding: f.ID, By: "alice", At: earlier(time.Hour),
		Via: "slack", Reason: "on it", Until: earlier(-23 * time.Hour)}
	return f
}

// accepted returns an accepted finding, of which a rule hides a part.
func accepted() model.Finding {
	f := finding("acce97ed", model.Changed, model.High, "Secret/shop/tokens")
	f.Owner, f.Labels, f.Basis = "team-<b>", map[string]string{"tier": "", "team": "shop\x1b[2J"}, "0123456789abcdef"
	f.Hidden = "noise"
	f.Changes = []model.Change{{Path: "data.token", Declared: sealed("1"), Live: sealed("2"), Secret: true}}
	f.Ignored = []model.IgnoredChange{
		{Reason: "the operator writes it", Change: model.Change{Path: "metadata.annotations", Declared: text("a"), Live: text("b")}},
		{Reason: "rotates", Change: model.Change{Path: "finalizers[=" + digest + "9]", Live: sealed("9"), Running: sealed("8")}},
	}
	f.Flips = []model.Flip{{At: earlier(time.Hour), Basis: "never shown"}}
	f.Decision = &model.Decision{ID: "dec1de00acc0", Kind: model.Accept, Subject: model.Target{Key: f.Key, Verdict: f.Verdict}, Basis: f.Basis,
		By: "acceptances.yaml:12", Via: "acceptances.yaml:12", From: "agreed", Owner: "bob", Reason: "the sale\n| forged"}
	return f
}

func missing() model.Finding {
	f := finding("5e1f0a11", model.Missing, model.Critical, "Service/shop/web")
	f.Actor = model.UnknownActor("the source keeps no record of deletions")
	return f
}

const nginx = `server {
  listen 80;
  server_name shop.example.org;
  root /srv/www;
  location / {
    try_files $uri =404;
  }
  gzip on;
}
`

func configMap() model.Finding {
	f := finding("c0f19a9e", model.Changed, model.High, "ConfigMap/shop/nginx")
	live := strings.NewReplacer("listen 80", "listen 8080", "  gzip on;\n", "").Replace(nginx)
	long := strings.Repeat("0123456789", 1000)
	f.Changes = []model.Change{
		{Path: `data["nginx.conf"]`, Declared: text(nginx), Recorded: text(nginx), Live: text(live)},
		{Path: `data["blob"]`, Declared: text(long), Recorded: text(long), Live: text(long[:7000] + "X" + long[7001:])},
		{Path: "data.port", Declared: text("80"), Recorded: text("80"), Live: number(80)},
		{Path: "data.newline", Declared: text("a\n"), Recorded: text("a\n"), Live: text("a")},
		{Path: "data.gone", Declared: text(""), Recorded: text("")},
	}
	return f
}

func secrets() model.Finding {
	f := finding("5ec7e700", model.Changed, model.High, "Secret/shop/db")
	f.Changes = []model.Change{
		{Path: "data.password", Declared: sealed("1"), Recorded: sealed("1"), Live: sealed("2")},
		{Path: "data.token", Live: sealed("3"), Secret: true},
		{Path: "data.unsealed", Declared: text("hunter2"), Live: text("hunter3"), Secret: true},
		{Path: "env[name=KEY]", Declared: tree("KEY", *sealed("4")), Live: tree("KEY", *sealed("5"))},
		{Path: "finalizers[=" + digest + "6]", Live: sealed("6")},
	}
	return f
}

func disputed() model.Finding {
	f := finding("d15b07ed", model.Disputed, model.Medium, "Deployment.apps/shop/api")
	f.Actor = model.UnknownActor("two declarations differ")
	f.Changes = []model.Change{
		{Path: "spec.paused", Declared: sealed("7"), Live: sealed("7"), Claims: []model.ClaimedValue{
			{Declaration: "infra", Address: "infra/api.yaml:3", Value: *sealed("8")},
			{Declaration: "shop", Address: "deploy/api.yaml:12", Value: *sealed("7")},
		}},
		{Path: "spec.replicas", Declared: number(3), Live: number(3), Claims: []model.ClaimedValue{
			{Declaration: "infra", Address: "infra/api.yaml:3", Value: *number(5)},
			{Declaration: "shop", Address: "deploy/api.yaml:12", Value: *number(3)},
		}},
	}
	return f
}

// hostile has a name and values that try to be more than text.
func hostile() model.Finding {
	f := finding("ba5eba11", model.Undeclared, model.Medium, "ConfigMap/shop/<script>alert(1)</script>")
	f.Name = "<!channel> @everyone | `rm -rf`"
	f.Address = "deploy/../<b>.yaml:7"
	f.Actor = model.Actor{Name: "\x1b]0;owned\a\x1b[31mroot\x1b[0m", Confidence: model.Likely, Via: "[click](https://evil.example.org)"}
	f.Reason = "line one\nCRITICAL  missing  Service forged/line\r\n]]> &amp; {0}"
	f.Changes = []model.Change{
		{Path: "data[\"\u202etxt.exe\"]", Live: text("\u202eevil\u202c \u200b \ufeff \u009b2J")},
		{Path: "data.emoji", Declared: text("日本語のテキスト"), Live: text("🚀 ok | `x` <img src=x onerror=alert(1)>")},
		{Path: "data.fence", Declared: text("a\n```\nb\n"), Live: text("a\n````\n<script>\n@team\nb\n")},
		{Path: "data.bytes", Declared: text("\xff\xfe\x00"), Live: text("]]></failure>{{.}}${x}")},
	}
	return f
}

// others has one finding of each remaining verdict, on several sources.
func others() []model.Finding {
	unmanaged := finding("0a91ab1e", model.Unmanaged, model.Low, "CronJob.batch/shop/debug")
	unmanaged.Declaration, unmanaged.Address = "", ""
	moved := finding("0070ed00", model.Moved, model.Low, "x/x/x")
	moved.Key, moved.Place, moved.Name = model.Key{Source: "pve", Kind: "proxmox/qemu", ID: "104"}, "", "db-01"
	moved.Declaration, moved.Address = "infra", "proxmox_vm_qemu.db[0]"
	moved.Changes = []model.Change{{Path: "target_node", LivePath: "node", Recorded: text("pve1"), Live: text("pve2")},
		{Path: "vlan_id", LivePath: "vlan", Recorded: number(22), Live: number(23), Names: map[string]string{"22": "201 storage", "23": "<b>`|\x1b[31m → 24 (backup)"}}}
	restart := moved
	restart.ID, restart.Verdict = "4e57a470", model.PendingRestart
	restart.Changes = []model.Change{{Path: "cpu[0].cores", LivePath: "cores", Declared: number(4), Recorded: number(4), Live: number(4), Running: number(2), Severity: model.High}}
	pending := finding("9e0d1479", model.Pending, model.Info, "Deployment.apps/shop/worker")
	pending.Changes = []model.Change{{Path: "spec.paused", Recorded: text("yes"), Live: text("yes")}}
	codified := finding("c0d1f1ed", model.Codified, model.Info, "Deployment.apps/shop/mail")
	codified.Changes = []model.Change{{Path: "spec.replicas", Declared: number(2), Recorded: number(1), Live: number(2)}}
	over := finding("0ve40000", model.Changed, model.High, "Deployment.apps/shop/old")
	over.Changes = []model.Change{{Path: "spec.replicas", Declared: number(1), Live: number(2)}}
	over.Resolved = earlier(10 * time.Minute)
	return []model.Finding{unmanaged, moved, restart, pending, codified, over}
}

// unread returns findings that could not be looked at: many for one reason.
func unread() []model.Finding {
	var found []model.Finding
	for i := range 40 {
		f := finding(fmt.Sprintf("%08x", i), model.Unchecked, model.Info, fmt.Sprintf("Deployment.apps/edge/app-%02d", i))
		f.Source, f.Actor = "edge", model.UnknownActor("not checked")
		f.Reason = "source edge could not be read: dial tcp 192.0.2.7:6443: connection refused; check that the API server runs"
		found = append(found, f)
	}
	sops := finding("50950000", model.Unchecked, model.Info, "Secret/shop/mail")
	sops.Reason = "encrypted with SOPS"
	return append(found, sops, part("50950001", "deploy/broken.yaml:4"))
}

// part is a finding on a part of a declaration that cannot be read.
func part(id, address string) model.Finding {
	return model.Finding{
		ID: id, Verdict: model.Unchecked, Severity: model.Medium, Name: address,
		Key: model.Key{Source: "prod", Kind: "declaration/part", ID: "shop/" + address}, Declaration: "shop", Address: address,
		Actor: model.UnknownActor("not checked"), Reason: "found character that cannot start any token",
		FirstSeen: earlier(90 * time.Minute), LastSeen: earlier(5 * time.Minute),
	}
}

// commits are what the declarations of a report were read at.
func commits() []model.Revision {
	return []model.Revision{
		{Name: "infra", Notes: []model.Note{{Address: "infra/main.tf:3", Text: `data "http" "<b>" sends a request`}, {Text: "and 3 more"}}, Tally: &model.Tally{Resources: 412, Compared: 385, Without: 3, Unmapped: map[string]int{"aws_sqs_queue": 19, "local_file": 1}, Unchecked: 4}},
		{Name: "shop", Revision: "731e5b7a11c3f1d2b4c5d6e7f8091a2b3c4d5e6f"},
		{Name: "infra|<b>", Revision: "<script>"},
	}
}

// rich is a report that holds every verdict and everything awkward.
func rich() model.Report {
	findings := append(unread(), hostile(), disputed(), secrets(), configMap(), missing(), conflict())
	findings = append(findings, others()...)
	return model.Report{
		Version: model.ReportVersion,
		Scan: model.Scan{ID: "20261120T072400Z-1", Started: earlier(6 * time.Minute), Finished: earlier(5 * time.Minute), Declarations: commits(),
			NotChecked: model.NotChecked{Unreachable: 1, Scopes: 3, Parts: 1, Resources: 41},
			NotJudged:  unjudged(), NotGoverned: []model.NotGoverned{{Source: "prod", Place: "kube-system", Declaration: "shop",
				Remedy: "declare the Namespace, or set namespaces: [kube-system] on shop"}}},
		Summary:  model.Summary{Resources: 1289, InSync: 1237, Findings: 11, Unchecked: 42, Accepted: 3, Hidden: 2, NotJudged: 3},
		Findings: findings,
		Coverage: []model.Coverage{
			{Source: "prod", Complete: true},
			{Source: "prod", Kind: "kubernetes/Secret", Place: "kube-system", Reason: "forbidden: grant list on secrets"},
			{Source: "prod", Kind: "kubernetes/ConfigMap", Reason: "forbidden: grant list on secrets"},
			{Source: "prod", Kind: "kubernetes/*.metrics.k8s.io", Reason: "the aggregated API is down"},
			{Source: "edge", Reason: "dial tcp 192.0.2.7:6443: connection refused"},
		},
	}
}

func calm() model.Report {
	return model.Report{
		Version:  model.ReportVersion,
		Scan:     model.Scan{ID: "20261120T072400Z-2", Started: earlier(6 * time.Minute), Finished: earlier(5 * time.Minute), Complete: true},
		Summary:  model.Summary{Resources: 412, InSync: 412},
		Coverage: []model.Coverage{{Source: "prod", Complete: true}},
	}
}

func write(t *testing.T, format string, r model.Report, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, format, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// rules are ignore rules: two that share a reason, one that hides nothing, and
// one that is over.
func rules() []model.RuleRun {
	return []model.RuleRun{
		{Rule: "kind=Secret resource=shop/*", Reason: "noise", Findings: 1, Expires: earlier(-48 * time.Hour)},
		{Rule: "path=metadata.annotations", Reason: "the operator writes it", Fields: 2},
		{Rule: "path=metadata.annotations.x", Reason: "the operator writes it", Fields: 1},
		{Rule: "kind=Job.batch", Reason: "jobs \x1b[2J come and go"},
		{Rule: "source=old", Reason: "until it is gone", Expires: earlier(time.Hour), Ended: true},
	}
}

// quiet returns findings that are accepted, or hidden as a whole or in part.
func quiet() []model.Finding {
	agreed := accepted()
	agreed.ID, agreed.Hidden, agreed.Key.ID = "acce97e0", "", "shop/agreed"
	partly := configMap()
	partly.Ignored = accepted().Ignored[:1]
	return []model.Finding{missing(), partly, agreed, accepted()}
}

func decisions() []model.DecisionStatus {
	filed, acknowledged := *accepted().Decision, *conflict().Decision
	ended := acknowledged
	ended.ID, ended.Until, ended.Kind = "dec1de00e4de", earlier(time.Hour), model.Snooze
	ended.Subject = model.Target{Key: missing().Key, Verdict: model.Missing}
	void := ended
	void.ID, void.Until, void.By = "dec1de000000", earlier(-time.Hour), "\x1b[31mmallory"
	return []model.DecisionStatus{{Decision: ended, Holds: []string{}, Why: "it has ended"}, {Decision: void, Holds: []string{}, Why: "no source is named \"\x1b[2J\""},
		{Decision: filed, Holds: []string{"acce97ed", "acce97e0"}}, {Decision: acknowledged, Holds: []string{"c0ff11c7"}}}
}
