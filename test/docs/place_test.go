package docs

import (
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack/slacktest"
	"golang.org/x/crypto/bcrypt"

	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
)

// parts are real servers and programs, if there are some.
type parts struct {
	// kubeconfig and kubectl are those of a cluster; "" without one.
	kubeconfig, kubectl string
	// tofu is the program, tofuConfig the CLI configuration with its providers.
	tofu, tofuConfig string
	// shell reports whether curl and openssl are available.
	shell bool
}

// A place is the environment of the commands of a page: a home folder with the files that the
// page mentions.
type place struct {
	t    *testing.T
	page Page
	parts
	dir string
	// background is the folder of background processes.
	background string
	env        []string
	// instead maps texts of the page to texts of this place.
	instead map[string]string
	// journey reports whether the page is a guide that writes its configurations.
	journey bool
	config  map[string]any
}

// newPlace makes the place of a page.
func newPlace(t *testing.T, page Page, have parts) *place {
	t.Helper()
	p := &place{t: t, page: page, dir: t.TempDir(), parts: have}
	p.background = filepath.Join(p.dir, ".run")
	for _, folder := range []string{".bin", ".run", "deploy", "infra", "etc/driftd/credentials", "usr/share/doc/driftd/examples/systemd", "var/lib", "var/backups", "var/log", "root"} {
		p.must(os.MkdirAll(filepath.Join(p.dir, folder), 0o750))
	}
	p.programs()
	p.env = []string{"HOME=" + p.dir, "PATH=" + filepath.Join(p.dir, ".bin") + ":" + os.Getenv("PATH"), runDir + "=" + p.background,
		"KUBECONFIG=" + p.kubeconfig}
	if p.tofu != "" {
		p.env = append(p.env, "TF_CLI_CONFIG_FILE="+p.tofuConfig)
	}
	p.instead = map[string]string{"2026-12-24": time.Now().AddDate(0, 0, 30).Format(time.DateOnly), " -g adm": ""}
	p.files()
	p.prepare()
	return p
}

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// programs puts the programs that pages call by name first in PATH.
func (p *place) programs() {
	p.t.Helper()
	own, err := os.Executable()
	p.must(err)
	programs := map[string]string{"driftd": own, "systemctl": own}
	if p.kubectl != "" {
		programs["kubectl"] = p.kubectl
	}
	if p.tofu != "" {
		programs["tofu"] = p.tofu
	}
	for name, path := range programs {
		p.must(os.Symlink(path, filepath.Join(p.dir, ".bin", name)))
	}
}

// files writes the files that pages assume: manifests, a dump, a root, a state.
func (p *place) files() {
	p.t.Helper()
	p.must(os.CopyFS(filepath.Join(p.dir, "deploy"), os.DirFS(filepath.Join(root, "testdata/demo/deploy"))))
	dump, err := os.ReadFile(filepath.Join(root, "testdata/demo/cluster.yaml"))
	p.must(err)
	p.write("cluster.yaml", string(dump))
	p.write("infra/main.tf", "resource \"terraform_data\" \"a\" {\n  input = \"a\"\n}\n")
	p.must(os.CopyFS(filepath.Join(p.dir, "usr/share/doc/driftd/examples/systemd"), os.DirFS(filepath.Join(root, "systemd/examples"))))
	p.write("usr/share/doc/driftd/examples/driftd.yaml", "{}\n")
	p.write("terraform.tfstate", state)
	if !slices.ContainsFunc(p.page.Blocks, func(b Block) bool { return strings.Contains(b.Text, "--fail") }) {
		p.write(".curlrc", "fail-with-body\n") // an HTTP error is a failure
	}
	for _, secret := range []string{"pve-token", "netbox-token", "slack-token", "secret"} {
		p.write(secret, "xoxb-secret-of-a-test\n")
	}
}

// state returns a state with one machine, of the provider bpg/proxmox.
const state = `{"version": 4, "terraform_version": "1.11.4", "serial": 3, "lineage": "c1f5e7d0-0000-4000-8000-000000000001", "outputs": {},
 "resources": [{"mode": "managed", "type": "proxmox_virtual_environment_pool", "name": "web", "provider": "provider[\"registry.terraform.io/bpg/proxmox\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "web", "pool_id": "web", "comment": "", "members": []}}]}]}
`

func (p *place) write(name, text string) {
	p.t.Helper()
	p.must(os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
}

// prepare makes the further files and servers of each page.
func (p *place) prepare() {
	p.t.Helper()
	address := p.address()
	p.instead["https://driftd.example.org"] = "http://" + address
	p.config = map[string]any{
		"state_dir":    filepath.Join(p.dir, "var/lib/driftd"),
		"server":       map[string]any{"listen": address},
		"sources":      []any{map[string]any{"name": "prod", "type": "kubernetes", "settings": map[string]any{"dump": "cluster.yaml"}}},
		"declarations": []any{map[string]any{"name": "shop", "type": "manifests", "governs": []any{"prod"}, "settings": map[string]any{"dir": "deploy"}}},
		"notify":       map[string]any{"receivers": []any{map[string]any{"name": "ops", "type": "webhook", "settings": map[string]any{"url": p.hook()}}}},
	}
	switch p.page.Name {
	case "docs/getting-started.md":
		p.journey = true
		delete(p.config, "notify")
		delete(p.config, "sources")
		delete(p.config, "declarations")
		p.estate()
	case "docs/api.md":
		p.known()
	case "docs/triggers.md":
		p.config["triggers"] = []any{map[string]any{"name": "deploy", "type": "github", "secret_file": "secret"}}
	}
	p.writeConfig()
	if p.journey {
		return
	}
	p.env = append(p.env, "DRIFTD_CONFIG="+filepath.Join(p.dir, "driftd.yaml"))
	p.driftd("scan")
	if !slices.Contains([]string{"README.md", "docs/commands.md", "docs/acceptance.md"}, p.page.Name) {
		p.driftd("serve") // These pages start the daemon themselves.
	}
}

// known adds the user mara with all rights.
func (p *place) known() {
	p.t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	p.must(err)
	p.write("users", "mara:"+string(hash)+"\n")
	server, _ := p.config["server"].(map[string]any)
	server["access"] = map[string]any{"users_file": "users", "roles": map[string]any{"approver": []any{"mara"}}}
}

// address returns a free address of this machine.
func (p *place) address() string {
	p.t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(p.t.Context(), "tcp", "127.0.0.1:0")
	p.must(err)
	p.must(listener.Close())
	return listener.Addr().String()
}

// hook starts a fake receiver.
func (p *place) hook() string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	p.t.Cleanup(server.Close)
	return server.URL
}

// estate starts a fake Proxmox VE, NetBox and Slack.
func (p *place) estate() {
	p.t.Helper()
	pve := httptest.NewServer(pvetest.New(pvetest.Lab(), rand.New(rand.NewPCG(1, 1))))
	p.t.Cleanup(pve.Close)
	netbox := httptest.NewServer(netboxtest.New(netboxtest.Small(), rand.New(rand.NewPCG(1, 1))))
	p.t.Cleanup(netbox.Close)
	slack := slacktest.NewTestServer()
	slack.Start()
	p.t.Cleanup(slack.Stop)
	p.instead["https://pve.example.org:8006"], p.instead["https://netbox.example.org"] = pve.URL, netbox.URL
	p.instead["https://slack.com/api/"] = slack.GetAPIURL()
}
