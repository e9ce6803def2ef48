package docs

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// An exception is a line of a page that is checked instead of run.
type exception struct {
	// reason is why the line is not run.
	reason string
	// without reports whether the line cannot be run with the parts; nil means never.
	without func(parts) bool
	// instead checks the line.
	instead func(*place, string) error
}

// exceptions returns the exceptions by line.
func exceptions() map[string]exception {
	noCluster := func(p parts) bool { return p.kubeconfig == "" }
	noTofu := func(p parts) bool { return p.tofu == "" }
	install := "it changes the machine, or is interactive: test/systemd has a test for it in a container"
	list := map[string]exception{
		"driftd scan ./deploy":                        {"it needs an API server, as in the e2e test", noCluster, verbs},
		"driftd scan ./deploy -n shop --fail-on high": {"it needs an API server, as in the e2e test", noCluster, verbs},
		"driftd preview --plan tfplan.json":           {"it needs a plan of a root, as in the e2e test", nil, verbs},
		"driftd watch --severity critical,high":       {"it needs a terminal, and does not end: internal/cli has a test for it", nil, verbs},
		"driftd init":                                 {"it asks, and the page writes its own driftd.yaml: internal/cli has a test for it", nil, verbs},
		"driftd sources record prod -o recording":     {"it needs an account, as in the e2e test", nil, verbs},
		"driftd init --output - --yes":                {"it needs a cluster: internal/cli has a test for it", nil, verbs},
		"driftd scan ./infra":                         {"it needs OpenTofu, as in the e2e test", noTofu, verbs},
		`kubectl get "$(kubectl api-resources --verbs=list -o name | grep -v -e event -e metrics | paste -sd, -)" -A -o yaml --show-managed-fields > cluster.yaml`: {"it needs an API server, as in the e2e test", noCluster, none},
	}
	for _, line := range []string{
		"apt install ./driftd_*_amd64.deb",
		"dnf install ./driftd-*.x86_64.rpm",
		"apt remove driftd",
		"apt purge driftd",
		"journalctl -u driftd",
		"editor /etc/driftd/driftd.yaml",
	} {
		list[line] = exception{install, nil, none}
	}
	for _, line := range []string{
		"pveum user add driftd@pve",
		"pveum user token add driftd@pve ro --privsep 1",
		"pveum role add DriftdLog --privs Sys.Syslog",
		"pveum role add DriftdFix --privs VM.Config.CPU,VM.Config.Memory,VM.Config.Network,VM.Config.Options",
		"pveum user token add driftd@pve fix --privsep 1",
		"pveum acl modify /vms --users driftd@pve --roles DriftdFix",
		"pveum acl modify /vms --tokens 'driftd@pve!fix' --roles DriftdFix",
		"pveum acl modify / --users driftd@pve --roles PVEAuditor,DriftdLog",
		"pveum acl modify / --tokens 'driftd@pve!ro' --roles PVEAuditor,DriftdLog",
	} {
		list[line] = exception{"a program of Proxmox VE, which only its nodes have", nil, privileges}
	}
	for _, line := range []string{
		"openstack user create driftd --domain default --password-prompt",
		"openstack role add reader --project shop --user driftd",
		"env -u OS_PASSWORD openstack --os-username driftd --os-project-name shop application credential create driftd --role reader",
	} {
		list[line] = exception{"it needs a cloud, as in test/openstack", nil, roles}
	}
	for _, line := range []string{
		"rabbitmqctl add_user driftd",
		"rabbitmqctl set_permissions driftd '^driftd-.*$' '^driftd-.*$' '^(driftd-.*|neutron|nova|glance|cinder)$'",
	} {
		list[line] = exception{"it needs a message broker, as in test/openstack", nil, exchanges}
	}
	return list
}

// families returns the exceptions by the beginning of a line.
func families() map[string]exception {
	return map[string]exception{
		"make ":     {"CI runs the Makefile's targets", nil, target},
		"go test ":  {"it would run this test again; make test runs all tests", nil, packaged},
		"go run ./": {"it writes to the repository; a test checks its output", nil, packaged},
	}
}

func none(*place, string) error { return nil }

// programs returns the programs that a line may call here: they only use the files that they
// are given.
func programs() []string {
	return []string{"driftd", "systemctl", "kubectl", "curl", "openssl", "export", "chmod", "cp", "install", "cat", "printf", "sed", "grep", "paste", "date"}
}

// unknownProgram returns the first program of a line that must not be run, or "".
func unknownProgram(line string) string {
	for _, command := range regexp.MustCompile(`\$\(|[|;&)]+`).Split(line, -1) {
		words := strings.Fields(command)
		if len(words) == 0 || regexp.MustCompile(`^[A-Za-z_]+=`).MatchString(words[0]) || strings.HasPrefix(words[0], ">") {
			continue
		}
		if first := strings.Trim(words[0], "\"'()"); first != "" && regexp.MustCompile(`^[a-z]`).MatchString(first) && !slices.Contains(programs(), first) {
			return first
		}
	}
	return ""
}

// privileges checks that the code for Proxmox VE names each privilege that a line grants.
func privileges(_ *place, line string) error {
	return namedInCode("proxmox", regexp.MustCompile(`\b[A-Z][a-z]+\.[A-Z][A-Za-z.]+\b`).FindAllString(line, -1), `%s`)
}

// roles checks that the OpenStack collector names the role that a line assigns.
func roles(_ *place, line string) error {
	var given []string
	for _, found := range regexp.MustCompile(`--role (\w+)|role add (\w+)`).FindAllStringSubmatch(line, -1) {
		given = append(given, found[1]+found[2])
	}
	return namedInCode("openstack", given, `%q`)
}

// exchanges checks that the OpenStack collector reads the exchanges that a line allows, and its
// queue.
func exchanges(_ *place, line string) error {
	_, granted, _ := strings.Cut(line, "^(")
	return namedInCode("openstack", regexp.MustCompile(`[a-z]+-?`).FindAllString(granted, -1), `%q`)
}

// namedInCode checks that the code for a system, which reads it or writes to it, has names, in a format.
func namedInCode(system string, names []string, form string) error {
	files, err := filepath.Glob(filepath.Join(root, "internal/*ors", system, "*.go"))
	if err != nil {
		return err
	}
	var code strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		code.Write(text)
	}
	for _, name := range names {
		if !strings.Contains(code.String(), fmt.Sprintf(form, name)) {
			return fmt.Errorf("the code for %s does not contain %s", system, name)
		}
	}
	return nil
}

// uses records which exceptions pages still need. It is safe for concurrent use.
type uses struct {
	mu    sync.Mutex
	lines map[string]exception
	seen  map[string]bool
}

func newUses() *uses { return &uses{lines: exceptions(), seen: map[string]bool{}} }

// elsewhere checks a line that is not run; ok is false for one that is. Lines with curl or
// openssl are only run by the e2e test: make test needs only Go.
func (u *uses) elsewhere(line string, have parts) (instead func(*place, string) error, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if e, found := u.lines[line]; found {
		u.seen[line] = true
		return e.instead, e.without == nil || e.without(have)
	}
	for start, e := range families() {
		if strings.HasPrefix(line, start) {
			return e.instead, true
		}
	}
	// All commands of a block run in one shell, which needs all of their parts.
	return none, !have.shell && regexp.MustCompile(`\b(curl|openssl|\$signature|body=)`).MatchString(line)
}

// never returns the exceptions that no page needed.
func (u *uses) never() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(u.lines)), func(line string) bool { return u.seen[line] })
}
