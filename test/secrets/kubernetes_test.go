//go:build e2e

package secrets

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/kubetest"
)

// A side is a combination of sides on which a secret is planted.
type side struct {
	name string
	// declared, live and before report which sides have a secret: the declaration, the live
	// object, and an older commit. absent is the side without the object.
	declared, live, before bool
	absent                 string
	// verdicts are the verdicts of such findings.
	verdicts []model.Verdict
}

func sides() []side {
	return []side{
		{"both", true, true, true, "", []model.Verdict{model.Changed, model.Conflict}},
		{"declared", true, false, false, "", []model.Verdict{model.Changed, model.Conflict}},
		{"live", false, true, false, "", []model.Verdict{model.Changed, model.Undeclared}},
		{"missing", true, false, false, "live", []model.Verdict{model.Missing, model.Pending}},
		{"unmanaged", false, true, false, "declared", []model.Verdict{model.Unmanaged}},
	}
}

// An estate has the objects of all plants.
type estate struct {
	// before are the objects in the first commit, declared those in the last one.
	before, declared, live []object
	// expected are the expected findings.
	expected []expectation
}

// An expectation is a finding with one of some verdicts that names a field.
type expectation struct {
	what, resource, path string
	verdicts             []model.Verdict
}

func plantObjects(v *vault) estate {
	var e estate
	for n, p := range kubernetesPlants() {
		for _, s := range sides() {
			name := fmt.Sprintf("p%02d-%s", n, s.name)
			what := p.what + " (" + s.name + ")"
			text := func(wanted bool, of string) string {
				if !wanted {
					return ""
				}
				return p.form(v, what+" "+of)
			}
			declared, live, before := text(s.declared, "declared"), text(s.live, "live"), text(s.before, "in an old commit")
			if s.absent != "declared" {
				e.declared = append(e.declared, p.place(name, declared))
			}
			if s.before {
				e.before = append(e.before, p.place(name, before))
			}
			if s.absent != "live" {
				e.live = append(e.live, p.place(name, live))
			}
			path := p.path
			if s.absent != "" {
				path = ""
			}
			e.expected = append(e.expected, expectation{what, "shop/" + name, path, s.verdicts})
		}
	}
	return e
}

// expect checks that a source has the expected findings.
func (i *installation) expect(r model.Report, source string, list []expectation) {
	i.t.Helper()
	for _, want := range list {
		if !slices.ContainsFunc(r.Findings, func(f model.Finding) bool { return f.Source == source && want.isMetBy(f) }) {
			i.t.Errorf("%s: %s: nothing says that %s of %s changed%s", source, want.what, want.path, want.resource, findingsOf(r, source, want.resource))
		}
	}
}

func (e expectation) isMetBy(f model.Finding) bool {
	named := strings.HasSuffix(f.Key.ID, e.resource) || f.Address == e.resource
	return named && slices.Contains(e.verdicts, f.Verdict) &&
		(e.path == "" || slices.ContainsFunc(f.Changes, func(c model.Change) bool { return strings.Contains(c.Path, e.path) }))
}

// findingsOf returns the findings about a resource as text.
func findingsOf(r model.Report, source, resource string) string {
	var b strings.Builder
	for _, f := range r.Findings {
		if f.Source == source && (strings.HasSuffix(f.Key.ID, resource) || f.Address == resource) {
			fmt.Fprintf(&b, "; it is %s, %s", f.Verdict, f.Reason)
			for _, c := range f.Changes {
				b.WriteString(" " + c.Path)
			}
		}
	}
	return b.String()
}

// A shop is a cluster with the objects of an estate.
type shop struct {
	*installation
	cluster *kubetest.Cluster
	token   kubetest.User
}

func (i *installation) startShop() shop {
	i.t.Helper()
	cluster, err := kubetest.Start(i.t.Context(), kubetest.Options{Dir: i.path("cluster")})
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			i.t.Error(err)
		}
	})
	s := shop{i, cluster, cluster.TokenAdmin()}
	i.keep("token in the kubeconfig", s.token.Token)
	if err := cluster.WriteKubeconfig(i.path("kubeconfig"), "shop", s.token); err != nil {
		i.t.Fatal(err)
	}
	s.kubectl("", "create", "namespace", "shop")
	s.kubectl(databases, "create", "-f", "-")
	s.kubectl("", "wait", "--for=condition=Established", "--timeout=60s", "crd/databases.example.org")
	return s
}

func (s shop) kubectl(input string, args ...string) []byte {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), s.cluster.Kubectl(), append([]string{"--kubeconfig", s.path("kubeconfig")}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		errors.As(err, &exit)
		s.t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	return out
}

// apply applies the declarations, and changes the objects to the live ones by hand.
func (s shop) apply(e estate) {
	s.t.Helper()
	declared := map[string]object{}
	for _, o := range e.declared {
		declared[key(o)] = o
	}
	var applied, added, replaced []object
	for _, o := range e.live {
		was := declared[key(o)]
		if was == nil {
			added = append(added, o)
			continue
		}
		applied = append(applied, was)
		replaced = append(replaced, o)
	}
	s.kubectl(encoded(applied), "apply", "-f", "-")
	s.kubectl(encoded(added), "create", "-f", "-")
	// kubectl replace only keeps the annotation of the last apply if it is in the file.
	for n, o := range replaced {
		replaced[n] = annotated(o, declared[key(o)])
	}
	s.kubectl(encoded(replaced), "replace", "--field-manager=kubectl-edit", "-f", "-")
}

func key(o object) string { return fmt.Sprint(o["kind"], "/", o["metadata"].(object)["name"]) }

// annotated returns a copy of an object with the annotation of the last apply.
func annotated(o, applied object) object {
	var c object
	text, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	last, lastErr := json.Marshal(applied)
	if err = errors.Join(err, lastErr); err != nil {
		panic(err)
	}
	meta := c["metadata"].(object)
	if meta["annotations"] == nil {
		meta["annotations"] = object{}
	}
	meta["annotations"].(object)["kubectl.kubernetes.io/last-applied-configuration"] = string(last) + "\n"
	return c
}

// commit creates a repository of two commits. Their messages and authors contain secrets, too.
func (i *installation) commit(e estate) string {
	i.t.Helper()
	git := func(args ...string) {
		i.t.Helper()
		cmd := exec.CommandContext(i.t.Context(), "git", append([]string{"-C", i.path("repository"), "-c", "user.email=a@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			i.t.Fatalf("git %s: %v: %s", args[0], err, out)
		}
	}
	i.write("repository/deploy/shop.yaml", encoded(e.before))
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("-c", "user.name=ci", "commit", "-q", "-m", "first")
	i.write("repository/deploy/shop.yaml", encoded(e.declared))
	message := "rotate the token " + shaped("ghp_", mixed, 36)(i.vault, "token in a commit message") +
		" of https://u:" + inURL(i.vault, "URL password in a commit message") + "@h/"
	git("add", ".")
	git("-c", "user.name="+shaped("ghp_", mixed, 36)(i.vault, "token for an author's name"), "commit", "-q", "-m", message)
	return "file://" + i.path("repository")
}

// TestKubernetes plants the table in a cluster, read from its API server and from a dump of it,
// and in a repository with a history.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	i := install(t)
	e := plantObjects(i.vault)
	s := i.startShop()
	s.apply(e)
	kinds := "deployments,configmaps,secrets,ingresses,databases"
	i.write("dump.yaml", string(s.kubectl("", "get", kinds, "-n", "shop", "-o", "yaml", "--show-managed-fields")))
	r := i.receive()
	i.write("audit-token", i.secret("token of the audit webhook"))
	i.write("hook-secret", i.secret("secret of a trigger"))
	i.env = []string{"VAULT_TOKEN=" + i.secret("variable VAULT_TOKEN of driftd"), "AWS_SECRET_ACCESS_KEY=" + i.secret("variable AWS_SECRET_ACCESS_KEY of driftd")}
	i.configure(fmt.Sprintf(`
sources:
- {name: api, type: kubernetes, settings: {kubeconfig: kubeconfig, namespaces: [shop], audit_webhook: {token_file: audit-token}}}
- {name: dump, type: kubernetes, settings: {dump: dump.yaml, dump_complete: true}}
declarations:
- {name: shop, type: manifests, governs: [api], settings: {git: "%s", path: deploy}}
- {name: folder, type: manifests, governs: [dump], settings: {dir: repository/deploy}}
triggers: [{name: deploy, type: github, secret_file: hook-secret}]
`, i.commit(e)) + r.config())
	d := i.serve()
	d.audit()
	report := i.scan()
	i.expect(report, "api", e.expected)
	i.expect(report, "dump", e.expected)
	r.notified()
	r.press("driftd_acknowledge")
	d.everything(report)
}

// audit posts audit events whose parts contain secrets, and requests with secrets that driftd
// refuses.
func (d *daemon) audit() {
	d.t.Helper()
	now := time.Now().UTC().Format(time.RFC3339Nano)
	token, err := os.ReadFile(d.path("audit-token"))
	if err != nil {
		d.t.Fatal(err)
	}
	event := object{"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": "a-1", "stage": "ResponseComplete", "verb": "update",
		"requestURI": "/api/v1/namespaces/shop/configmaps/p33-both?access_token=" + d.secret("audit event: token in the URI"),
		"user":       object{"username": "mallory", "groups": []any{"system:masters"}, "extra": object{"bearer": []any{d.secret("audit event: extra of the user")}}},
		"sourceIPs":  []any{"192.0.2.1"}, "userAgent": "curl/8 https://u:" + d.secret("audit event: user agent") + "@h/",
		"objectRef":                object{"resource": "configmaps", "namespace": "shop", "name": "p33-both", "apiVersion": "v1"},
		"requestObject":            setting("password", "%s")("p33-both", d.secret("audit event: request body")),
		"responseObject":           setting("password", "%s")("p33-both", d.secret("audit event: response body")),
		"annotations":              object{"authorization.k8s.io/reason": "token " + d.secret("audit event: annotation")},
		"requestReceivedTimestamp": now, "stageTimestamp": now, "responseStatus": object{"code": 200}}
	d.post("/hooks/audit/api", string(token), object{"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": []any{event}}, http.StatusOK)
	d.post("/hooks/audit/api", d.secret("wrong token of the audit webhook"), object{"items": []any{}}, http.StatusUnauthorized)
	d.post("/hooks/deploy", d.secret("wrong token of a trigger"), object{"password": d.secret("body of a trigger")}, http.StatusUnauthorized)
	_, _ = d.get("/login/oidc/callback?state=x&code=" + d.secret("code of a login")) // it is refused; the log is checked
	_, _ = d.get("/api/v1/findings?access_token=" + d.secret("token in a query"))
}

func (d *daemon) post(path, token string, body any, want int) {
	d.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		d.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, "http://"+d.address+path, strings.NewReader(string(text)))
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != want {
		d.t.Errorf("POST %s: %s, want %d", path, resp.Status, want)
	}
}
