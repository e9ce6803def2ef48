// Package config reads driftd's configuration: a YAML file, environment variables that begin with DRIFTD_,
// and flags. A later one of these takes precedence. An unknown key is an error, which contains the line and
// the most similar key. A key at the top level that begins with x- is ignored, so that it can contain YAML
// anchors.
//
// Every single value can be overridden: server.listen by DRIFTD_SERVER_LISTEN and by --server-listen. Lists
// can be set in the file only. A DRIFTD_ variable without a setting is an error.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/timeparse"
)

// MaxSize is the maximum size of a configuration file, in bytes.
const MaxSize = 4 << 20

// Config is the configuration of driftd. Its paths are absolute.
type Config struct {
	// StateDir is the folder of the database, the installation's key and the
	// socket.
	StateDir string `mapstructure:"state_dir" path:"true"`
	// Schedule contains the intervals and limits of sources and declarations without their own.
	Schedule Schedule `mapstructure:"schedule"`
	// MaxMemory is the maximum memory of all scans and readings of declarations together, including the
	// retained results of the previous ones, in bytes.
	MaxMemory int64 `mapstructure:"max_memory"`
	// Server configures the TCP listener.
	Server Server `mapstructure:"server"`
	// People lists the persons who use driftd, with their identities. They have distinct names.
	People []Person `mapstructure:"people"`
	// Log configures the log of the daemon.
	Log Log `mapstructure:"log"`
	// Retention limits the stored history. Current state and open findings are never deleted.
	Retention Retention `mapstructure:"retention"`
	// Sources are the live systems. They have distinct names and come in the
	// order of the file.
	Sources []Source `mapstructure:"sources"`
	// Declarations are the places of the declared state. They have distinct names, are in the order of the
	// file, and govern sources that exist.
	Declarations []Declaration `mapstructure:"declarations"`
	// Ignore are the rules that hide findings.
	Ignore []IgnoreRule `mapstructure:"ignore"`
	// Severity are the rules that set severities; the first that matches applies.
	Severity []SeverityRule `mapstructure:"severity"`
	// Owners assign findings to owners; the first that matches applies.
	Owners []OwnerRule `mapstructure:"owners"`
	// Secrets lists values to seal in addition to the names and forms that driftd recognizes,
	// and exceptions.
	Secrets Secrets `mapstructure:"secrets"`
	// Notify configures notifications.
	Notify Notify `mapstructure:"notify"`
	// Triggers are webhooks that start a scan. They have distinct names.
	Triggers []Trigger `mapstructure:"triggers"`
	// Audit configures the audit log.
	Audit Audit `mapstructure:"audit"`
	// Reconcile configures whether live resources are put back to their declared state.
	Reconcile Reconcile `mapstructure:"reconcile"`
	// Kubernetes contains the settings that all Kubernetes sources share.
	Kubernetes Kubernetes `mapstructure:"kubernetes"`
	// Include lists further configuration files: files, folders of which all *.yaml files are read, and
	// patterns such as conf.d/*.yaml. Their lists are appended to those of this file, and a single value
	// can be set in one file only. Relative paths in them are relative to the folder of this file.
	Include []string `mapstructure:"include"`
	// Defaults are keys that all sources or declarations of a type share.
	Defaults Defaults `mapstructure:"defaults"`
	// File is the absolute path of the file, or "" if there is none.
	File string `mapstructure:"-"`
	// Overrides lists the settings that environment variables and flags override, without the values:
	// "server.listen by DRIFTD_SERVER_LISTEN".
	Overrides []string `mapstructure:"-"`
}

// Schedule contains the intervals and limits of sources and declarations without their own. Every, Timeout
// and MaxMemory are positive; Jitter is not negative.
type Schedule struct {
	// Every is the time between two scans.
	Every time.Duration `mapstructure:"every"`
	// Jitter is the maximum random delay before each scan, so that several daemons do not send their
	// requests at the same time.
	Jitter time.Duration `mapstructure:"jitter"`
	// Timeout is the maximum duration of one scan, or of one reading of a declaration. Resources that were
	// not read in time are unchecked, never missing.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxMemory is the maximum memory of one scan, or of one reading of a declaration, in bytes. Resources
	// that exceed it are unchecked.
	MaxMemory int64 `mapstructure:"max_memory"`
}

// Server configures the TCP listener.
type Server struct {
	// Listen is the address, host:port; "" disables the TCP listener.
	Listen string `mapstructure:"listen"`
	// WebConfigFile is a file that configures TLS and passwords, in the format of Prometheus' exporter
	// toolkit; "" means neither.
	WebConfigFile string `mapstructure:"web_config_file" path:"true"`
	// Access configures authentication and authorization.
	Access Access `mapstructure:"access"`
}

// Log configures the log of the daemon.
type Log struct {
	// Format is the format: text or json.
	Format string `mapstructure:"format"`
	// Level is the lowest level that is logged: debug, info, warn or error.
	Level slog.Level `mapstructure:"level"`
}

// Retention limits the stored history. Zero values mean no limit.
type Retention struct {
	// MaxAge is the time for which past values are kept. Periods without scans do not count. 0 keeps all.
	MaxAge time.Duration `mapstructure:"max_age"`
	// MaxRuns is the number of scans to keep, with the changes since the oldest of them; 0
	// keeps all.
	MaxRuns int `mapstructure:"max_runs"`
	// MaxRunBytes is the maximum size of the records of scans, in bytes. The oldest records are deleted
	// first; the history of changes is kept for longer. 0 keeps all.
	MaxRunBytes int64 `mapstructure:"max_run_bytes"`
	// AuditMaxAge is the time for which entries of the audit log are kept, some of them up to a tenth
	// longer; 0 keeps all. The hashes of older entries remain, so that the log can be verified.
	AuditMaxAge time.Duration `mapstructure:"audit_max_age"`
}

// A Source is one live system. Its Settings depend on its type.
type Source struct {
	// Name identifies the source. It consists of letters, digits, dots, dashes and underscores. History and
	// decisions are stored under it.
	Name string `mapstructure:"name"`
	// Type is the kind of system: kubernetes, netbox or proxmox.
	Type string `mapstructure:"type"`
	// Every is the time between two scans. The default is that of the schedule.
	Every time.Duration `mapstructure:"every"`
	// Timeout is the maximum duration of one scan. The default is that of the schedule.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxMemory is the maximum memory of one scan, in bytes. The default is that of the schedule.
	MaxMemory int64 `mapstructure:"max_memory"`
	// Links are the web pages of resources. The first entry that matches the kind of a resource applies.
	// Without one, guests of Proxmox VE and objects of NetBox link to their own pages.
	Links []PageLink `mapstructure:"links"`
	// Settings depend on the type; see its section below.
	Settings `mapstructure:"settings"`
}

// A PageLink is the address of the web pages of resources.
type PageLink struct {
	// Kind is a pattern for the kind, as in openstack/server. Empty means all kinds.
	Kind string `mapstructure:"kind"`
	// URL is the address with the placeholders {id}, {kind}, {name} and {namespace}, as in
	// https://horizon.example.org/project/instances/{id}/. A resource without a value for one of them has
	// no page.
	URL string `mapstructure:"url"`
}

// A Declaration is one place of declared state. Its Settings depend on its type.
type Declaration struct {
	// Name identifies the declaration. It consists of letters, digits, dots, dashes and underscores.
	// History and decisions are stored under it.
	Name string `mapstructure:"name"`
	// Type is the format of the declaration: acceptances, manifests, netbox or terraform.
	Type string `mapstructure:"type"`
	// Governs are the names of the sources that it declares. Declarations of type acceptances
	// have none, and those of type terraform that make a plan need none.
	Governs []string `mapstructure:"governs"`
	// Every is the time between two readings. The default is that of the schedule.
	Every time.Duration `mapstructure:"every"`
	// Timeout is the maximum duration of one reading. The default is that of the schedule.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxMemory is the maximum memory of one reading and its retained result, in bytes. The default is that
	// of the schedule.
	MaxMemory int64 `mapstructure:"max_memory"`
	// Link is the address of a line on the web pages of the repository, with the placeholders {commit},
	// {path} and {line}, as in https://git.example.org/shop/src/commit/{commit}/{path}#L{line}.
	// Repositories on github.com, gitlab.com, bitbucket.org and codeberg.org need none.
	Link string `mapstructure:"link"`
	// Checks are patterns of the checks of its files whose failures become findings, such as terraform/*; !
	// excludes. Without any, files are not checked. Declarations of type terraform need a plan.
	Checks []string `mapstructure:"checks"`
	// Settings depend on the type; see its section below.
	Settings `mapstructure:"settings"`
}

// An IgnoreRule hides the findings that match all its patterns; an empty pattern matches
// everything, and at least one is required.
type IgnoreRule struct {
	// Source is a pattern for the source's name.
	Source string `mapstructure:"source"`
	// Kind is a pattern for the kind, as in kubernetes/Deployment.apps.
	Kind string `mapstructure:"kind"`
	// Resource is a pattern for the resource, as in shop/web.
	Resource string `mapstructure:"resource"`
	// Check is a pattern for the ID of a failed check, as in flux/*. A rule with a check hides
	// no other findings.
	Check string `mapstructure:"check"`
	// Path is a pattern for the field. A rule with a path removes single fields from a
	// finding.
	Path string `mapstructure:"path"`
	// Value is a pattern for the value of a field: the live one, or the declared one if
	// nothing is live.
	Value string `mapstructure:"value"`
	// Reason is the reason that is shown with the hidden findings; it is required.
	Reason string `mapstructure:"reason"`
	// Expires is the time when the rule ends; a date without a time means its last second in UTC. By
	// default, the rule does not expire.
	Expires time.Time `mapstructure:"expires"`
}

// Secrets lists values to seal in addition to the names and forms that driftd recognizes, and
// exceptions. In patterns "*" matches any run of characters except "/".
type Secrets struct {
	// Names are patterns for keys, variables, flags and headers whose values are secret. Case
	// is ignored.
	Names []string `mapstructure:"names"`
	// Paths are patterns for fields that are secret together with all fields below them; they
	// match with or without the keys in brackets. A pattern for the kind may precede one, as
	// in Deployment.apps spec.template.metadata.annotations.*.
	Paths []string `mapstructure:"paths"`
	// Except are patterns for names that are not secret, and for fields below which only
	// values are sealed that a schema marks as sensitive.
	Except []string `mapstructure:"except"`
}

// Kubernetes holds the settings that all Kubernetes sources share.
type Kubernetes struct {
	// Controllers are, in addition to those that driftd recognizes, the writers whose additions are not
	// drift, and the fields that each adds. A plain string is a writer without kinds and fields.
	Controllers []Controller `mapstructure:"controllers"`
}

// A Controller lists the fields that a controller adds to the declared ones.
type Controller struct {
	// Writer is a pattern for the field manager or, with an audit log, for the user
	// (system:serviceaccount:NAMESPACE:NAME).
	Writer string `mapstructure:"writer"`
	// Kinds are patterns for the kinds of objects, as in Deployment.apps. The default is every kind.
	Kinds []string `mapstructure:"kinds"`
	// Fields are patterns for the fields, as in metadata.annotations.example.org/*; each includes the
	// fields below it. The default is every field except those that select the code to run, grant rights,
	// or expose a service.
	Fields []string `mapstructure:"fields"`
}

// Default returns the default configuration.
func Default() *Config {
	return &Config{
		StateDir:  "/var/lib/driftd",
		Schedule:  Schedule{Every: 10 * time.Minute, Jitter: 30 * time.Second, Timeout: 5 * time.Minute, MaxMemory: 512 << 20},
		MaxMemory: 1 << 30,
		Server:    Server{Listen: "127.0.0.1:9797", Access: defaultAccess()},
		Log:       Log{Format: "text", Level: slog.LevelInfo},
		Retention: Retention{MaxAge: 90 * timeparse.Day, MaxRunBytes: 64 << 20},
		Notify:    Notify{UncheckedAfter: 30 * time.Minute, GroupWindow: 5 * time.Minute},
	}
}

// Load reads the configuration file, then the environment variables, and then the flags that are set and
// named after a setting (--state-dir). flags may be nil. If file is "", there is no file, and no source is
// required. Load reports all problems at once in an *Error, and returns it together with the configuration
// as far as it could be read, so that the caller can also check the settings. Relative paths in the file
// are relative to its folder; all others are relative to the working directory.
func Load(file string, flags *pflag.FlagSet) (*Config, error) {
	if file == "" {
		return build(newDocument("configuration", ""), flags)
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("find config %s: %w", file, err)
	}
	data, err := readFile(absolute)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("config %s does not exist: correct the path, or write one with driftd init", file)
	case err != nil:
		return nil, fmt.Errorf("read config %s: %w", file, err)
	}
	doc := parse(file, filepath.Dir(absolute), data)
	if doc.tree == nil {
		return nil, doc.err()
	}
	doc.include()
	config, err := build(doc, flags)
	if config != nil {
		config.File = absolute
	}
	return config, err
}

// build returns the configuration of a document with the overrides applied.
func build(doc *document, flags *pflag.FlagSet) (*Config, error) {
	if err := doc.overlay(flags); err != nil {
		return nil, err
	}
	maps.DeleteFunc(doc.tree, func(key string, _ any) bool { return strings.HasPrefix(key, "x-") })
	doc.applyDefaults()
	config := Default()
	config.Overrides = doc.overrides()
	doc.decode("", doc.tree, config)
	doc.resolve("", reflect.ValueOf(config).Elem())
	config.adopt(doc)
	doc.check(config)
	return config, doc.err()
}

// adopt sets the place of each source's, declaration's and receiver's settings, and fills in
// the defaults of their schedules, grouping and reminders.
func (c *Config) adopt(doc *document) {
	c.Defaults.doc = doc
	for i := range c.Sources {
		s := &c.Sources[i]
		s.doc, s.path = doc, fmt.Sprintf("sources[%d]", i)
		s.Every, s.Timeout = cmp.Or(s.Every, c.Schedule.Every), cmp.Or(s.Timeout, c.Schedule.Timeout)
		s.MaxMemory = cmp.Or(s.MaxMemory, c.Schedule.MaxMemory)
	}
	for i := range c.Declarations {
		d := &c.Declarations[i]
		d.doc, d.path = doc, fmt.Sprintf("declarations[%d]", i)
		d.Every, d.Timeout = cmp.Or(d.Every, c.Schedule.Every), cmp.Or(d.Timeout, c.Schedule.Timeout)
		d.MaxMemory = cmp.Or(d.MaxMemory, c.Schedule.MaxMemory)
	}
	for i := range c.Notify.Receivers {
		r := &c.Notify.Receivers[i]
		r.doc, r.path = doc, fmt.Sprintf("notify.receivers[%d]", i)
	}
	for i := range c.Reconcile.Writers {
		w := &c.Reconcile.Writers[i]
		w.doc, w.path = doc, fmt.Sprintf("reconcile.writers[%d]", i)
	}
	for i := range c.Audit.Witness {
		c.Audit.Witness[i].adopt()
	}
	for i := range c.Notify.Routes {
		r, repeat := &c.Notify.Routes[i], DefaultRepeat
		r.Repeat = cmp.Or(r.Repeat, &repeat)
		if r.GroupBy == nil {
			r.GroupBy = []string{"cause"}
		}
	}
}

func readFile(path string) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, bounded.Cause(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = bounded.ReadAll(f, MaxSize)
	if errors.Is(err, bounded.ErrTooLarge) {
		return nil, fmt.Errorf("the file is larger than %d MiB", MaxSize>>20)
	}
	return data, bounded.Cause(err)
}
