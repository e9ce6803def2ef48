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

// The inputs of the databases. Their hash shows whether the archived databases are up to date.
//
//go:embed etc *.go
var recipe embed.FS

const filesVariable = "DRIFTD_TEST_OPENSTACK"

// A place has the folder and the addresses of a cloud.
type place struct {
	// Dir is the cloud's own folder.
	Dir string
	// Files is the folder with the content of Debian's packages.
	Files string
	ports map[string]int
}

// An entry is a service in the catalogue.
type entry struct{ Name, Type, URL string }

// A login has the credentials of a service, in a section of its settings.
type login struct{ Section, Keystone, User, Password string }

// findFiles returns the folder of Debian's files from the environment.
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

// newPlace finds free ports, and writes the settings of all services into a folder.
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
			continue // included by several others
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

// auditFilter records requests: the user, the action and the outcome.
const auditFilter = `
[filter:audit]
paste.filter_factory = keystonemiddleware.audit:filter_factory
audit_map_file = %s
ignore_req_list = GET, HEAD
`

// writePipelines writes Debian's pipelines, with the audit filter after the authentication.
func (p place) writePipelines() error {
	for name, from := range map[string]string{
		"neutron-paste.ini": "neutron-common/api-paste.ini",
		"glance-paste.ini":  "glance-common/glance-api-paste.ini",
		"cinder-paste.ini":  "cinder-common/api-paste.ini",
		// Nova expects its own by this name.
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

// Socket returns the path of MariaDB's socket.
func (p place) Socket() string { return filepath.Join(p.Dir, "run", "mysql.sock") }

// DB returns the URL of a database.
func (p place) DB(name string) string {
	return fmt.Sprintf("mysql+pymysql://root@localhost/%s?unix_socket=%s&charset=utf8", name, p.Socket())
}

// Port returns the port of a service.
func (p place) Port(service string) int { return p.ports[service] }

// URL returns the URL of a service, without a path.
func (p place) URL(service string) string { return fmt.Sprintf("http://127.0.0.1:%d", p.Port(service)) }

// Rabbit returns the URL of the bus, in the form of the services' settings.
func (p place) Rabbit() string {
	return fmt.Sprintf("rabbit://guest:guest@127.0.0.1:%d/", p.Port("rabbit"))
}

// Login returns the credentials of a service, in a section of its settings.
func (p place) Login(service, section string) login {
	return login{Section: section, Keystone: p.URL("keystone"), User: service, Password: "service"}
}

// Catalog returns the entries of the catalogue.
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

// Interfaces returns the interfaces of each service in the catalogue.
func (p place) Interfaces() []string { return []string{"public", "internal", "admin"} }
