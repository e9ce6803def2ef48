package kubernetes_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
)

// application is one that Argo CD would sync the object of the tests of.
const application = `{"metadata":{"name":"shop","namespace":"argocd","uid":"a1","resourceVersion":"7"},
"spec":{"project":"default","destination":{"server":"https://kubernetes.default.svc","namespace":"shop"},"source":{"repoURL":"https://git.example.org/shop.git","path":"prod","helm":{"valueFiles":[]}},"syncPolicy":{"syncOptions":["ServerSideApply=true","CreateNamespace=true"]}},
"status":{"sync":{"status":"OutOfSync","revision":"` + commit + `"},"controllerNamespace":"control","operationState":{"phase":"Succeeded","operation":{"sync":{}}},
"history":[{"source":{"repoURL":"https://git.example.org/shop.git","path":"old"}},{"source":{"repoURL":"https://git.example.org/shop.git","path":"prod","helm":{}}}],
"resources":[{"group":"apps","version":"v1","kind":"Deployment","namespace":"shop","name":"web","status":"OutOfSync"},{"group":"apps","kind":"Deployment","namespace":"shop","name":"db","status":"OutOfSync"}]}}`

const (
	applicationPath = "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/shop"
	projectPath     = "/apis/argoproj.io/v1alpha1/namespaces/control/appprojects/default"
)

// serveArgo serves Applications, and their project with a spec.
func serveArgo(f *fake, applications, spec string) {
	f.kinds["/apis/argoproj.io/v1alpha1"] = `{"name":"applications","kind":"Application","namespaced":true,"verbs":["list"]},{"name":"appprojects","kind":"AppProject","namespaced":true,"verbs":["list"]}`
	f.objects["/apis/argoproj.io/v1alpha1/applications"] = `{"items":[` + applications + `]}`
	f.objects[applicationPath] = applications
	f.objects[projectPath] = `{"kind":"AppProject","metadata":{"name":"default"},"spec":` + spec + `}`
}

// argoActuator returns an actuator with a clock.
func argoActuator(t *testing.T, f *fake, now time.Time) *kubernetes.Actuator {
	t.Helper()
	a, err := kubernetes.New(kubernetes.Options{Source: "k8s", Writing: kubeapi.Access{Server: f.URL}, Timeout: time.Hour, Room: room(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestPlanSync plans to ask Argo CD for one object, and for nothing else.
func TestPlanSync(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.objects[webPath] = web
	serveArgo(f, application, `{"syncWindows":[]}`)
	s := webSubject()
	s.Revision, s.Note = commit, "driftd: finding f1, approved by bob"
	s.Others = []*model.Finding{{ID: "2", Key: model.Key{Source: s.Finding.Source, Kind: "kubernetes/Deployment.apps", ID: "shop/db"}}}
	c, err := argoActuator(t, f, time.Now()).Plan(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	p := c.Plan()
	if p.Asks != "Application argocd/shop of Argo CD to sync Deployment shop/web at "+commit || p.Person == "" || p.HandBack != "" || len(p.Changes) == 0 || len(p.Also) > 0 {
		t.Errorf("the plan is %+v", p)
	}
	_ = c.Rehearse(t.Context()) // the server cannot merge
	var body string
	for i, r := range f.requests {
		if strings.HasPrefix(r, "PATCH "+applicationPath) && strings.Contains(r, "dryRun=All") {
			body = f.bodies[i]
		}
	}
	sent := value(body)
	sync := sent.At("operation", "sync")
	if got := sync.String(); got != `{"resources":[{"group":"apps","kind":"Deployment","name":"web","namespace":"shop"}],"revision":"`+commit+`","syncOptions":["ServerSideApply=true"]}` {
		t.Errorf("it syncs %s", got)
	}
	if got := sent.At("metadata").String(); got != `{"resourceVersion":"7","uid":"a1"}` {
		t.Errorf("it is sent for %s", got)
	}
	if got := sent.At("operation", "info").Items()[1].String(); got != `{"name":"Reason","value":"`+s.Note+`"}` {
		t.Errorf("the reason is %s", got)
	}
}

// TestPlanSyncRefuses checks that Argo CD is not asked if it would do something else, or nothing, or at another time.
func TestPlanSyncRefuses(t *testing.T) {
	t.Parallel()
	edit := func(old, with string) string { return strings.Replace(application, old, with, 1) }
	another := strings.Replace(application, `"name":"shop"`, `"name":"copy"`, 1)
	option := func(name string) string { return edit("ServerSideApply=true", name) }
	for name, tc := range map[string]struct{ applications, commit, project, guard, want string }{
		"being deleted":         {edit(`"uid"`, `"deletionTimestamp":"2026-11-27T10:00:00Z","uid"`), "", "", "declarer", "is being deleted"},
		"an operation":          {edit(`"spec"`, `"operation":{"sync":{}},"spec"`), "", "", "still-so", "has an operation already"},
		"at work":               {edit(`"phase":"Succeeded"`, `"phase":"Running","message":"waiting"`), "", "", "still-so", "is at work: look again"},
		"terminating":           {edit(`"phase":"Succeeded"`, `"phase":"Terminating"`), "", "", "still-so", "is at work"},
		"cannot be rendered":    {edit(`"sync"`, `"conditions":[{"type":"ComparisonError","message":"no chart"}],"sync"`), "", "", "declarer", "cannot be synced because of its ComparisonError: see argocd app get shop"},
		"several sources":       {edit(`"source":{`, `"sources":[{"repoURL":"x"}],"source":{`), "", "", "declarer", "does not have exactly one spec.source"},
		"a chart":               {edit(`"path":"prod"`, `"chart":"shop"`), "", "", "declarer", "a chart of a Helm repository"},
		"another commit":        {application, "ffff", "", "scope", "declaration shop was read at ffff"},
		"no commit":             {edit(`"revision":"`+commit+`"`, `"revision":""`), "-", "", "scope", "would not apply what is declared here"},
		"an edited source":      {edit(`"path":"prod"`, `"path":"staging"`), "", "", "scope", "run argocd app sync shop --app-namespace=argocd first"},
		"never synced":          {strings.Replace(application, `"history"`, `"x"`, 1), "", "", "scope", "was changed since it was synced"},
		"an empty value":        {edit(`"valueFiles":[]`, `"valuesObject":{"probes":false}`), "", "", "scope", "was changed since it was synced"},
		"rolled back":           {strings.Replace(edit(`"history":[`, `"history":[{"revision":"a"},{"revision":"b"},`), `"helm":{}}}]`, `"helm":{}},"revision":"a"}]`, 1), "", "", "scope", "was rolled back to a"},
		"automated, failed":     {strings.Replace(edit(`"syncOptions"`, `"automated":{},"syncOptions"`), `"phase":"Succeeded"`, `"phase":"Failed","syncResult":{"revision":"`+commit+`"}`, 1), "", "", "scope", "is synced automatically"},
		"automated, not yet":    {edit(`"syncOptions"`, `"automated":{},"syncOptions"`), "", "", "scope", "is synced automatically"},
		"in sync":               {edit(`"name":"web","status":"OutOfSync"`, `"name":"web","status":"Synced"`), "", "", "declarer", "has it as Synced"},
		"a hook":                {edit(`"name":"web"`, `"hook":true,"name":"web"`), "", "", "declarer", "it is a hook"},
		"not in the commit":     {edit(`"name":"web"`, `"requiresPruning":true,"name":"web"`), "", "", "scope", "a sync would delete it"},
		"replaces":              {option("Replace=true"), "", "", "scope", "the sync option Replace=true"},
		"forces":                {option("Force=true"), "", "", "scope", "the sync option Force=true"},
		"another cluster":       {edit(`https://kubernetes.default.svc`, `https://edge.example.org`), "", "", "declarer", "nothing shows that this is the cluster of source"},
		"another cluster, name": {edit(`"server":"https://kubernetes.default.svc"`, `"name":"edge"`), "", "", "declarer", `applies to {"name":"edge","namespace":"shop"}`},
		"no project":            {application, "", "", "", ""},
		"another answer":        {application, "", "", "", ""},
		"a path as a project":   {edit(`"project":"default"`, `"project":"../../secrets/x"`), "", "", "", ""},
		"a window":              {application, "", `{"syncWindows":[{"kind":"deny","schedule":"* * * * *","duration":"1h","applications":["s*"]}]}`, "declarer", `the deny window "* * * * *" for 1h of project default may block the sync`},
		"an unreadable window":  {application, "", `{"syncWindows":[{"kind":"deny","schedule":"* * *","duration":"1h"}]}`, "declarer", "a sync window that driftd cannot read: schedule"},
		"two apply it":          {application + "," + another, "", "", "declarer", "both apply it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.objects[webPath] = web
			serveArgo(f, tc.applications, cmp.Or(tc.project, `{}`))
			switch name {
			case "no project":
				delete(f.objects, projectPath)
			case "another answer":
				f.objects[projectPath] = `{}`
			}
			s := webSubject()
			s.Revision = commit
			if tc.commit != "" {
				s.Revision = strings.Trim(tc.commit, "-")
			}
			_, err := argoActuator(t, f, time.Now()).Plan(t.Context(), s)
			if tc.guard == "" {
				if err == nil {
					t.Error("it was planned")
				}
			} else {
				checkRefusal(t, err, tc.guard, tc.want)
			}
			if n := len(f.writes()); n != 0 {
				t.Errorf("%d writes were sent", n)
			}
		})
	}
}

// TestPlanSyncReplaces checks that the options of the declared object count, too.
func TestPlanSyncReplaces(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.objects[webPath] = web
	serveArgo(f, application, `{}`)
	s := webSubject()
	s.Revision = commit
	s.Written = s.Written.With("metadata", value(`{"annotations":{"argocd.argoproj.io/sync-options":"Prune=false, Force=true"}}`))
	_, err := argoActuator(t, f, time.Now()).Plan(t.Context(), s)
	checkRefusal(t, err, "scope", "the sync option Force=true")
}

// TestSyncWindows checks when windows may block a sync. The expectations are those of the documentation of Argo CD, with 20 seconds
// before each end.
func TestSyncWindows(t *testing.T) {
	t.Parallel()
	window := func(kind, schedule, duration, rest string) string {
		return `{"kind":"` + kind + `","schedule":"` + schedule + `","duration":"` + duration + `",` + cmp.Or(rest, `"applications":["*"]`) + `}`
	}
	nightly, saturdays := window("deny", "0 22 * * *", "1h", ""), window("allow", "0 22 * * 6", "1h", "")
	always := func(rest string) string { return window("deny", "* * * * *", "1h", rest) }
	for name, tc := range map[string]struct {
		windows, at string
		blocks      bool
	}{
		"deny, before":            {nightly, "2026-11-28T21:59:00Z", false},
		"deny, at once":           {nightly, "2026-11-28T21:59:50Z", true},
		"deny, in it":             {nightly, "2026-11-28T22:30:00Z", true},
		"deny, after":             {nightly, "2026-11-28T23:00:01Z", false},
		"deny, over midnight":     {window("deny", "0 22 * * *", "4h", ""), "2026-11-29T01:30:00Z", true},
		"deny, another zone":      {window("deny", "0 22 * * *", "1h", `"namespaces":["shop"],"timeZone":"Asia/Tokyo"`), "2026-11-28T13:30:00Z", true},
		"deny, manual":            {always(`"applications":["*"],"manualSync":true`), "2026-11-28T22:30:00Z", false},
		"deny, another one":       {always(`"applications":["blog"],"namespaces":["blog"],"clusters":["edge"]`), "2026-11-28T22:30:00Z", false},
		"deny, a pattern":         {always(`"clusters":["https://kube*"]`), "2026-11-28T22:30:00Z", true},
		"deny, for none":          {always(`"applications":[]`), "2026-11-28T22:30:00Z", false},
		"allow, before":           {saturdays, "2026-11-28T21:30:00Z", true},
		"allow, in it":            {saturdays, "2026-11-28T22:30:00Z", false},
		"allow, another day":      {saturdays, "2026-11-27T22:30:00Z", true},
		"allow, over in 10 s":     {saturdays, "2026-11-28T22:59:50Z", true},
		"allow, manual":           {window("allow", "0 22 * * 6", "1h", `"applications":["shop"],"manualSync":true`), "2026-11-28T21:30:00Z", false},
		"two allow, in one":       {saturdays + "," + window("allow", "0 10 * * *", "1h", ""), "2026-11-28T22:30:00Z", false},
		"two allow, in none":      {saturdays + "," + window("allow", "0 10 * * *", "1h", ""), "2026-11-28T12:30:00Z", true},
		"another one's allow":     {saturdays + "," + window("allow", "0 10 * * *", "1h", `"applications":["blog"]`), "2026-11-28T10:30:00Z", true},
		"allow of a pattern":      {saturdays + "," + window("allow", "0 10 * * *", "1h", `"applications":["b*"]`), "2026-11-28T10:30:00Z", true},
		"allow and deny":          {saturdays + "," + nightly, "2026-11-28T22:30:00Z", true},
		"an unknown time zone":    {window("deny", "0 22 * * *", "1h", `"timeZone":"Mars"`), "2026-11-28T21:00:00Z", true},
		"no duration":             {window("deny", "0 22 * * *", "", ""), "2026-11-28T21:00:00Z", true},
		"a zone in the schedule":  {window("deny", "TZ=UTC", "1h", ""), "2026-11-28T21:00:00Z", true},
		"another form of a zone":  {window("deny", "CRON_TZ=UTC 0 22 * * *", "1h", ""), "2026-11-28T21:00:00Z", true},
		"both lists, not for all": {saturdays + "," + window("allow", "0 10 * * *", "1h", `"applications":["shop"],"namespaces":["blog"],"andOperator":true`), "2026-11-28T10:30:00Z", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, err := time.Parse(time.RFC3339, tc.at)
			if err != nil {
				t.Fatal(err)
			}
			f := newFake(t)
			f.objects[webPath] = web
			serveArgo(f, application, `{"syncWindows":[`+tc.windows+`]}`)
			s := webSubject()
			s.Revision = commit
			_, err = argoActuator(t, f, now).Plan(t.Context(), s)
			if tc.blocks {
				checkRefusal(t, err, "declarer", "window")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
