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

// An exception is a line that this test does not run.
type exception struct {
	// reason says why.
	reason string
	// without tells in which place it cannot run; nil is everywhere.
	without func(parts) bool
	// instead is what is checked.
	instead func(*place, string) error
}

// exceptions are the lines that are not run here, in full.
func exceptions() map[string]exception {
	noCluster := func(p parts) bool { return p.kubeconfig == "" }
	noTofu := func(p parts) bool { return p.tofu == "" }
	install := "it changes the machine, or wants somebody at it: test/systemd does what it does in one of its own"
	list := map[string]exception{
		"driftd scan ./deploy":                        {"it needs an API server: the e2e test has one", noCluster, verbs},
		"driftd scan ./deploy -n shop --fail-on high": {"it needs an API server: the e2e test has one", noCluster, verbs},
		"driftd scan ./infra":                         {"it needs OpenTofu: the e2e test has it", noTofu, verbs},
		`kubectl get "$(kubectl api-resources --verbs=list -o name | grep -v -e event -e metrics | paste -sd, -)" -A -o yaml --show-managed-fields > cluster.yaml`: {"it needs an API server: the e2e test has one", noCluster, none},
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
		"pveum acl modify / --users driftd@pve --roles PVEAuditor,DriftdLog",
		"pveum acl modify / --tokens 'driftd@pve!ro' --roles PVEAuditor,DriftdLog",
	} {
		list[line] = exception{"it is Proxmox VE's own program, which runs on its nodes alone", nil, privileges}
	}
	for _, line := range []string{
		"openstack user create driftd --domain default --password-prompt",
		"openstack role add reader --project shop --user driftd",
		"env -u OS_PASSWORD openstack --os-username driftd --os-project-name shop application credential create driftd --role reader",
	} {
		list[line] = exception{"it needs a cloud: test/openstack has one", nil, roles}
	}
	for _, line := range []string{
		"rabbitmqctl add_user driftd",
		"rabbitmqctl set_permissions driftd '^driftd-.*$' '^driftd-.*$' '^(driftd-.*|neutron|nova|glance|cinder)$'",
	} {
		list[line] = exception{"it needs a message broker: test/openstack has one", nil, exchanges}
	}
	return list
}

// families are the lines that are not run here because of how they begin.
func families() map[string]exception {
	return map[string]exception{
		"make ":     {"CI runs what the Makefile has, by itself", nil, target},
		"go test ":  {"it would run itself; make test runs all tests", nil, packaged},
		"go run ./": {"it writes into the repository; a test holds what it writes", nil, packaged},
	}
}

func none(*place, string) error { return nil }

// programs are those that a line may call here: none of them reaches for more
// than it is given.
func programs() []string {
	return []string{"driftd", "systemctl", "kubectl", "curl", "openssl", "export", "chmod", "cp", "install", "cat", "printf", "sed", "grep", "paste", "date"}
}

// strange returns a program of a line that is not to be run; "" where there is
// none.
func strange(line string) string {
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

// privileges checks that the Proxmox collector speaks of each privilege that a
// line grants.
func privileges(_ *place, line string) error {
	return spoken("proxmox", regexp.MustCompile(`\b[A-Z][a-z]+\.[A-Z][A-Za-z.]+\b`).FindAllString(line, -1), `%s`)
}

// roles checks that the OpenStack collector knows the role that a line gives.
func roles(_ *place, line string) error {
	var given []string
	for _, found := range regexp.MustCompile(`--role (\w+)|role add (\w+)`).FindAllStringSubmatch(line, -1) {
		given = append(given, found[1]+found[2])
	}
	return spoken("openstack", given, `%q`)
}

// exchanges checks that the OpenStack collector reads the exchanges that a line
// grants, and its queue.
func exchanges(_ *place, line string) error {
	_, granted, _ := strings.Cut(line, "^(")
	return spoken("openstack", regexp.MustCompile(`[a-z]+`).FindAllString(granted, -1), `%q`)
}

// spoken checks that a collector's code speaks of names, in a form.
func spoken(collector string, names []string, form string) error {
	files, err := filepath.Glob(filepath.Join(root, "internal/collectors", collector, "*.go"))
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
			return fmt.Errorf("the %s collector never speaks of %s", collector, name)
		}
	}
	return nil
}

// uses counts which exceptions pages still need. It is safe for concurrent use.
type uses struct {
	mu    sync.Mutex
	lines map[string]exception
	seen  map[string]bool
}

func newUses() *uses { return &uses{lines: exceptions(), seen: map[string]bool{}} }

// elsewhere returns what is checked of a line instead of running it; ok tells
// whether it is not run. What calls curl or openssl is run by the e2e test alone:
// make test needs only Go.
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
	// The one shell of a block has to have all of it.
	return none, !have.shell && regexp.MustCompile(`\b(curl|openssl|\$signature|body=)`).MatchString(line)
}

// never returns the exceptions that no page needed.
func (u *uses) never() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(u.lines)), func(line string) bool { return u.seen[line] })
}
