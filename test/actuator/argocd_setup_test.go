//go:build e2e

package actuator

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/test/process"
)

// An argo is the genuine Argo CD, without its API server, and an Application whose source is a repository of a test.
type argo struct {
	*desk

	dir, repository string
	controller      *process.Process
	// name is that of the Application.
	name string
}

// configmap is the second manifest of the repository.
const configmap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {level: info}\n"

func newArgo(t *testing.T) *argo {
	t.Helper()
	a := startArgo(t, "shop")
	a.commit("web.yaml", deployment, "settings.yaml", configmap)
	a.object("argoproj.io/v1alpha1", "Application", "shop", fmt.Sprintf(`"spec":{"project":"default","destination":{"server":%q,"namespace":%q},"source":{"repoURL":"file://%s","path":".","targetRevision":"main"}},
"operation":{"sync":{}}`, cluster.URL(), a.namespace, a.repository))
	a.wait("the first sync", func() bool {
		return a.app("{.status.operationState.phase} {.status.sync.status}") == "Succeeded Synced"
	})
	return a
}

// startArgo runs Argo CD with an empty repository. name is that of its Application: no other test has
// one of this name, because Argo CD finds its objects by a label with the name.
func startArgo(t *testing.T, name string) *argo {
	t.Helper()
	a := &argo{desk: newDesk(t), dir: t.TempDir(), name: name}
	a.repository = filepath.Join(a.dir, "repository")
	bin := needs(t, "DRIFTD_TEST_ARGOCD_BIN", "sh tools/build.sh argocd")
	a.settings()
	a.run(bin)
	a.git("init", "--quiet", "--initial-branch=main", a.repository)
	a.object("argoproj.io/v1alpha1", "AppProject", "default", `"spec":{"sourceRepos":["*"],"destinations":[{"namespace":"*","server":"*"}],"clusterResourceWhitelist":[{"group":"*","kind":"*"}]}`)
	return a
}

// settings makes what Argo CD needs in its namespace.
func (a *argo) settings() {
	a.Helper()
	for _, name := range []string{"argocd-cm", "argocd-cmd-params-cm", "argocd-gpg-keys-cm", "argocd-rbac-cm", "argocd-ssh-known-hosts-cm", "argocd-tls-certs-cm"} {
		a.object("v1", "ConfigMap", name, `"data":{}`)
	}
	a.object("v1", "Secret", "argocd-secret", `"stringData":{"server.secretkey":"key","admin.password":"x","admin.passwordMtime":"2026-11-28T00:00:00Z"}`)
	ca := a.kubectl("config", "view", "--raw", "--output=jsonpath={.clusters[0].cluster.certificate-authority-data}")
	login, err := json.Marshal(map[string]any{"bearerToken": cluster.TokenAdmin().Token, "tlsClientConfig": map[string]any{"caData": ca}})
	if err != nil {
		a.Fatal(err)
	}
	a.object("v1", "Secret", "cluster", fmt.Sprintf(`"stringData":{"name":"tested","server":%q,"config":%q}`, cluster.URL(), login))
	a.in("label", "secret/cluster", "argocd.argoproj.io/secret-type=cluster")
}

// object creates an object in the namespace. rest is its fields but for those that each object has.
func (a *argo) object(version, kind, name, rest string) {
	a.Helper()
	object := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"labels":{"app.kubernetes.io/part-of":"argocd"}},%s}`, version, kind, name, rest)
	if _, err := a.try(object, "--namespace="+a.namespace, "create", "--filename=-"); err != nil {
		a.Fatal(err)
	}
}

// run runs Redis, the repository server and the application controller.
func (a *argo) run(bin string) {
	a.Helper()
	ports, err := process.FreePorts(4)
	if err != nil {
		a.Fatal(err)
	}
	port := func(n int) string { return fmt.Sprint(ports[n]) }
	redis, server := "localhost:"+port(0), "localhost:"+port(1)
	if err := os.Symlink(filepath.Join(bin, "argocd"), filepath.Join(a.dir, "argocd")); err != nil {
		a.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+a.dir+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+a.dir, "TMPDIR="+a.dir, "ARGOCD_GPG_ENABLED=false", "KUBECONFIG="+kubeconfig)
	a.start(process.Options{Program: needs(a.T, "DRIFTD_TEST_REDIS", "sh tools/redis.sh"), Args: []string{"--bind", "127.0.0.1", "--port", port(0), "--save", "", "--dir", a.dir}, Log: filepath.Join(a.dir, "redis.log"), Env: env})
	a.start(process.Options{Program: filepath.Join(bin, "argocd"), Log: filepath.Join(a.dir, "server.log"), Env: append(env, "ARGOCD_BINARY_NAME=argocd-repo-server"),
		Args: []string{"--redis", redis, "--disable-tls", "--address", "127.0.0.1", "--port", port(1), "--metrics-port", port(2)}})
	a.controller = a.start(process.Options{Program: filepath.Join(bin, "argocd"), Log: filepath.Join(a.dir, "controller.log"), Env: append(env, "ARGOCD_BINARY_NAME=argocd-application-controller"),
		Args: []string{"--namespace", a.namespace, "--redis", redis, "--repo-server", server, "--repo-server-plaintext", "--metrics-port", port(3), "--kubectl-parallelism-limit", "4"}})
}

func (a *argo) start(o process.Options) *process.Process {
	a.Helper()
	p, err := process.Start(o)
	if err != nil {
		a.Fatal(err)
	}
	a.Cleanup(func() {
		if err := p.Kill(); err != nil {
			a.Error(err)
		}
		if a.Failed() {
			a.Logf("log of %s:\n%s", filepath.Base(o.Log), p.Log())
		}
	})
	return p
}

// git runs git, and returns its output.
func (a *argo) git(args ...string) string {
	a.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=alice", "GIT_AUTHOR_EMAIL=alice@example.org", "GIT_COMMITTER_NAME=alice", "GIT_COMMITTER_EMAIL=alice@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		a.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits files to the repository: names and contents.
func (a *argo) commit(files ...string) {
	a.Helper()
	for i := 0; i < len(files); i += 2 {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(a.repository, files[i])), 0o700); err != nil {
			a.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(a.repository, files[i]), []byte(files[i+1]), 0o600); err != nil {
			a.Fatal(err)
		}
	}
	a.git("-C", a.repository, "add", "--all")
	a.git("-C", a.repository, "commit", "--quiet", "--message=declare")
}

// head returns the newest commit.
func (a *argo) head() string {
	a.Helper()
	return a.git("-C", a.repository, "rev-parse", "HEAD")
}

// app returns a part of the Application, or nothing before it exists.
func (a *argo) app(path string) string {
	a.Helper()
	return a.in("get", "applications.argoproj.io", a.name, "--ignore-not-found", "--output=jsonpath="+path)
}

// patch merges fields into an object of Argo CD.
func (a *argo) patch(object, fields string) {
	a.Helper()
	a.in("patch", object, "--type=merge", "--patch="+fields)
}

// refresh makes Argo CD compare the Application now.
func (a *argo) refresh() {
	a.Helper()
	a.in("annotate", "applications.argoproj.io/"+a.name, "argocd.argoproj.io/refresh=normal")
}

// seen waits until Argo CD has an object as status.
func (a *argo) seen(kind, status string) {
	a.Helper()
	a.wait("Argo CD", func() bool { return a.app(fmt.Sprintf(`{.status.resources[?(@.kind==%q)].status}`, kind)) == status })
}

// drifted changes the Deployment by hand, and returns the finding.
func (a *argo) drifted() reconcile.Subject {
	a.Helper()
	a.in("set", "image", "deployment/web", "web=evil:1")
	a.seen("Deployment", "OutOfSync")
	s := a.subject(model.Changed, "deployment", "web", deployment)
	s.Revision, s.Note = a.head(), "driftd: finding 1, approved by bob"
	return s
}

// stop stops the controller for the time of a function.
func (a *argo) stop(during func()) {
	a.Helper()
	if err := a.controller.Signal(syscall.SIGSTOP); err != nil {
		a.Fatal(err)
	}
	during()
	if err := a.controller.Signal(syscall.SIGCONT); err != nil {
		a.Fatal(err)
	}
}
