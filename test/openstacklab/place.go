package openstacklab

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/driftd/driftd/test/process"
)

// Everything that databases are made from, whose hash tells whether those that
// are kept still fit.
//
//go:embed etc *.go
var recipe embed.FS

const filesVariable = "DRIFTD_TEST_OPENSTACK"

// A place is where a cloud lives: its folder and its addresses.
type place struct {
	// Dir is the cloud's own folder.
	Dir string
	// Files is the folder of what Debian's packages hold.
	Files string
	ports map[string]int
}

// An entry is what the catalogue says of a service.
type entry struct{ Name, Type, URL string }

// A login is how a service logs in, in a section of its settings.
type login struct{ Section, Keystone, User, Password string }

// findFiles returns the folder of Debian's files, which the environment names.
func findFiles() (string, error) {
	dir := os.Getenv(filesVariable)
	if dir == "" {
		return "", fmt.Errorf("%s is not set: run the tests through make, or set it to what `sh tools/openstack.sh` prints", filesVariable)
	}
	if _, err := os.Stat(filepath.Join(dir, "usr", "bin", "nova-manage")); err != nil {
		return "", fmt.Errorf("find OpenStack: %w: set %s to what `sh tools/openstack.sh` prints", err, filesVariable)
	}
	return dir, nil
}

// newPlace finds ports, and writes the settings of all services into a folder.
func newPlace(dir, files string) (place, error) {
	names := []string{"keystone", "neutron", "placement", "glance", "cinder", "nova", "rabbit", "rabbit-nodes", "epmd"}
	ports, err := process.FreePorts(len(names))
	if err != nil {
		return place{}, err
	}
	p := place{Dir: dir, Files: files, ports: map[string]int{}}
	for i, name := range names {
		p.ports[name] = ports[i]
	}
	for _, folder := range []string{"etc", "log", "run", "data/mysql", "data/rabbit", "data/images", "data/state"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			return place{}, fmt.Errorf("make folder of the cloud: %w", err)
		}
	}
	return p, errors.Join(p.writeSettings(), p.writePipelines())
}

func (p place) writeSettings() error {
	all, err := template.ParseFS(recipe, "etc/*")
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	for _, t := range all.Templates() {
		if filepath.Ext(t.Name()) == "" {
			continue // a part of several
		}
		var text bytes.Buffer
		if err := t.Execute(&text, p); err != nil {
			return fmt.Errorf("write settings: %w", err)
		}
		if err := os.WriteFile(p.settings(t.Name()), text.Bytes(), 0o600); err != nil {
			return fmt.Errorf("write settings: %w", err)
		}
	}
	return nil
}

// auditFilter records requests: who asked for what, and how it ended.
const auditFilter = `
[filter:audit]
paste.filter_factory = keystonemiddleware.audit:filter_factory
audit_map_file = %s
ignore_req_list = GET, HEAD
`

// writePipelines writes Debian's pipelines, with a record of requests once it is
// known who asks.
func (p place) writePipelines() error {
	for name, from := range map[string]string{
		"neutron-paste.ini": "neutron-common/api-paste.ini",
		"glance-paste.ini":  "glance-common/glance-api-paste.ini",
		"cinder-paste.ini":  "cinder-common/api-paste.ini",
		// Nova looks for its own by this name.
		"api-paste.ini": "nova-common/api-paste.ini",
	} {
		text, err := os.ReadFile(filepath.Join(p.Files, "usr", "share", from))
		if err != nil {
			return fmt.Errorf("read pipeline: %w", err)
		}
		pipeline := strings.ReplaceAll(string(text), " authtoken ", " authtoken audit ") + fmt.Sprintf(auditFilter, p.settings("audit.conf"))
		if err := os.WriteFile(p.settings(name), []byte(pipeline), 0o600); err != nil {
			return fmt.Errorf("write pipeline: %w", err)
		}
	}
	return nil
}

func (p place) settings(name string) string { return filepath.Join(p.Dir, "etc", name) }

// Socket is where MariaDB listens.
func (p place) Socket() string { return filepath.Join(p.Dir, "run", "mysql.sock") }

// DB is the address of a database.
func (p place) DB(name string) string {
	return fmt.Sprintf("mysql+pymysql://root@localhost/%s?unix_socket=%s&charset=utf8", name, p.Socket())
}

// Port is where a service listens.
func (p place) Port(service string) int { return p.ports[service] }

// URL is the address of a service, without a path.
func (p place) URL(service string) string { return fmt.Sprintf("http://127.0.0.1:%d", p.Port(service)) }

// Rabbit is the address of the bus, as the services write it.
func (p place) Rabbit() string {
	return fmt.Sprintf("rabbit://guest:guest@127.0.0.1:%d/", p.Port("rabbit"))
}

// Login is how a service logs in, in a section of its settings.
func (p place) Login(service, section string) login {
	return login{Section: section, Keystone: p.URL("keystone"), User: service, Password: "service"}
}

// Catalog is what the catalogue names.
func (p place) Catalog() []entry {
	return []entry{
		{"keystone", "identity", p.URL("keystone") + "/v3"},
		{"neutron", "network", p.URL("neutron")},
		{"placement", "placement", p.URL("placement")},
		{"glance", "image", p.URL("glance")},
		{"cinder", "volumev3", p.URL("cinder") + "/v3/%(project_id)s"},
		{"nova", "compute", p.URL("nova") + "/v2.1"},
	}
}

// Interfaces are the faces that each service has in the catalogue.
func (p place) Interfaces() []string { return []string{"public", "internal", "admin"} }
