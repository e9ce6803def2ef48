// Package config reads driftd's configuration: a YAML file, DRIFTD_… variables
// of the environment and flags, of which the later wins. It is strict: what it
// does not know is an error that names the line and the nearest right key.
//
// Every single value can be overridden: server.listen by DRIFTD_SERVER_LISTEN
// and by --server-listen. Only the file sets lists. A DRIFTD_… variable that sets
// nothing is an error.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/spf13/pflag"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/moment"
)

// MaxSize bounds a configuration file, in bytes.
const MaxSize = 4 << 20

// Config is the whole configuration. Its paths are absolute.
type Config struct {
	// StateDir is the folder of the database, the installation's key and the
	// socket.
	StateDir string `mapstructure:"state_dir" path:"true"`
	// Schedule says how often everything is looked at that does not say so
	// itself.
	Schedule Schedule `mapstructure:"schedule"`
	// MaxMemory is how much memory all looks and readings may take together, with what
	// is kept of the last ones, in bytes.
	MaxMemory int64 `mapstructure:"max_memory"`
	// Server says where the daemon answers over TCP.
	Server Server `mapstructure:"server"`
	// Log says how the daemon logs.
	Log Log `mapstructure:"log"`
	// Retention says what the store keeps of the past. What is current and what
	// is open is never removed.
	Retention Retention `mapstructure:"retention"`
	// Sources are the live systems. They have distinct names and come in the
	// order of the file.
	Sources []Source `mapstructure:"sources"`
	// Declarations are the places where intent is written. They have distinct
	// names, come in the order of the file and govern sources that exist.
	Declarations []Declaration `mapstructure:"declarations"`
	// Ignore are the rules for what is never shown.
	Ignore []IgnoreRule `mapstructure:"ignore"`
	// Severity are the rules that set severities; the first that fits counts.
	Severity []SeverityRule `mapstructure:"severity"`
	// Owners say who answers for what; the first that fits counts.
	Owners []OwnerRule `mapstructure:"owners"`
	// Secrets lists what is sealed in addition to the names and forms that driftd knows, and
	// what is not.
	Secrets Secrets `mapstructure:"secrets"`
	// Notify says who is told of findings.
	Notify Notify `mapstructure:"notify"`
	// Triggers are signed requests that make a scan begin. They have distinct
	// names.
	Triggers []Trigger `mapstructure:"triggers"`
	// Kubernetes is what all sources of that type share.
	Kubernetes Kubernetes `mapstructure:"kubernetes"`
	// File is the absolute path of the file; "" when there was none.
	File string `mapstructure:"-"`
	// Overrides lists what the environment and the flags set, without the values:
	// "server.listen by DRIFTD_SERVER_LISTEN".
	Overrides []string `mapstructure:"-"`
}

// Schedule says how often everything is looked at that does not say so itself.
// Every, Timeout and MaxMemory are above zero, Jitter is not below.
type Schedule struct {
	// Every is the time between two looks.
	Every time.Duration `mapstructure:"every"`
	// Jitter is a random delay of up to this much before each look, so that many
	// daemons do not ask at once.
	Jitter time.Duration `mapstructure:"jitter"`
	// Timeout is how long one look, or one reading of a declaration, may take.
	// What was not read by then is unchecked, never missing.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxMemory is how much memory one look, or one reading of a declaration, may take,
	// in bytes. What needs more is unchecked.
	MaxMemory int64 `mapstructure:"max_memory"`
}

// Server says where the daemon answers over TCP.
type Server struct {
	// Listen is an address, host:port; "" means nowhere.
	Listen string `mapstructure:"listen"`
	// WebConfigFile turns on TLS and passwords, in the form of Prometheus'
	// exporter toolkit; "" means neither.
	WebConfigFile string `mapstructure:"web_config_file" path:"true"`
	// Access says who may come in, and what they may do.
	Access Access `mapstructure:"access"`
}

// Log says how the daemon logs: Format is "text" or "json".
type Log struct {
	// Format is how: text or json.
	Format string `mapstructure:"format"`
	// Level is the least that is logged: debug, info, warn or error.
	Level slog.Level `mapstructure:"level"`
}

// Retention says what the store keeps of the past; zero means all of it.
type Retention struct {
	// MaxAge is how far back it can be told what was, of the time in which scans
	// were made; 0 keeps all.
	MaxAge time.Duration `mapstructure:"max_age"`
	// MaxRuns is how many scans are kept, with what has changed since the oldest
	// of them; 0 keeps all.
	MaxRuns int `mapstructure:"max_runs"`
	// MaxRunBytes bounds what the records of scans take, in bytes. The oldest are
	// removed first, and what changed is kept also from before them; 0 keeps all.
	MaxRunBytes int64 `mapstructure:"max_run_bytes"`
}

// A Source is one live system. Its Settings belong to its type.
type Source struct {
	// Name is yours to choose, of letters, digits, dots, dashes and underscores.
	// History and decisions go by it.
	Name string `mapstructure:"name"`
	// Type is the kind of system: kubernetes, netbox or proxmox.
	Type string `mapstructure:"type"`
	// Every is the time between two looks; without it, or with 0, the schedule's.
	Every time.Duration `mapstructure:"every"`
	// Timeout is how long one look may take; without it, or with 0, the
	// schedule's.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxMemory is how much memory one look may take, in bytes; without it, or with 0,
	// the schedule's.
	MaxMemory int64 `mapstructure:"max_memory"`
	// Settings belong to the type; see its section below.
	Settings `mapstructure:"settings"`
}

// A Declaration is one place where intent is written. Its Settings belong to
// its type.
type Declaration struct {
	// Name is yours to choose, of letters, digits, dots, dashes and underscores.
	// History and decisions go by it.
	Name string `mapstructure:"name"`
	// Type is the way in which intent is written: acceptances, manifests, netbox
	// or terraform.
	Type string `mapstructure:"type"`
	// Governs are the names of the sources that it speaks of. Declarations of
	// type acceptances have none, and those of type terraform that make a plan
	// need none.
	Governs []string `mapstructure:"governs"`
	// Every is the time between two readings; without it, or with 0, the
	// schedule's.
	Every time.Duration `mapstructure:"every"`
	// Timeout is how long one reading may take; without it, or with 0, the
	// schedule's.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxMemory is how much memory one reading may take, with what is kept of it, in
	// bytes; without it, or with 0, the schedule's.
	MaxMemory int64 `mapstructure:"max_memory"`
	// Settings belong to the type; see its section below.
	Settings `mapstructure:"settings"`
}

// An IgnoreRule hides the findings that all its patterns fit; an empty pattern
// fits everything, and at least one is given.
type IgnoreRule struct {
	// Source is a pattern of the source's name.
	Source string `mapstructure:"source"`
	// Kind is a pattern of the kind, as in kubernetes/Deployment.apps.
	Kind string `mapstructure:"kind"`
	// Resource is a pattern of the resource, as in shop/web.
	Resource string `mapstructure:"resource"`
	// Path is a pattern of the field. A rule with a path takes single fields out
	// of a finding.
	Path string `mapstructure:"path"`
	// Value fits the value of a field: the live one, or what is declared where
	// nothing is live.
	Value string `mapstructure:"value"`
	// Reason is shown with what the rule hides; it must be given.
	Reason string `mapstructure:"reason"`
	// Expires is when the rule ends, a plain date at its last moment in UTC;
	// without it, never.
	Expires time.Time `mapstructure:"expires"`
}

// Secrets lists what is sealed in addition to the names and forms that driftd knows, and what
// is not. In patterns "*" stands for any run of characters but "/".
type Secrets struct {
	// Names are patterns of keys, variables, flags and headers whose values are
	// secret, in any case.
	Names []string `mapstructure:"names"`
	// Paths are patterns of fields that are secret with all below them, with or
	// without the keys in brackets. A pattern of the kind may stand before one, as in
	// Deployment.apps spec.template.metadata.annotations.*.
	Paths []string `mapstructure:"paths"`
	// Except are patterns of names that are not secret, and of fields below which
	// nothing is sealed but what a schema marks as sensitive.
	Except []string `mapstructure:"except"`
}

// Kubernetes is what every Kubernetes source shares.
type Kubernetes struct {
	// Controllers are, besides those that driftd knows, the writers whose additions
	// are not drift, and the fields that each adds. A plain text is a writer without
	// kinds and fields.
	Controllers []Controller `mapstructure:"controllers"`
}

// A Controller names the fields that a controller writes beside what is declared.
type Controller struct {
	// Writer is a pattern of the field manager or, with an audit log, of the user
	// (system:serviceaccount:NAMESPACE:NAME).
	Writer string `mapstructure:"writer"`
	// Kinds are patterns of the objects' kinds, as in Deployment.apps; without
	// them, every kind.
	Kinds []string `mapstructure:"kinds"`
	// Fields are patterns of the fields, as in metadata.annotations.example.org/*;
	// each covers what is below it. Without them, every field except those that
	// decide what code runs, who may do what, and what is exposed.
	Fields []string `mapstructure:"fields"`
}

// Default returns the configuration of an empty file.
func Default() *Config {
	return &Config{
		StateDir:  "/var/lib/driftd",
		Schedule:  Schedule{Every: 10 * time.Minute, Jitter: 30 * time.Second, Timeout: 5 * time.Minute, MaxMemory: 512 << 20},
		MaxMemory: 1 << 30,
		Server:    Server{Listen: "127.0.0.1:9797", Access: defaultAccess()},
		Log:       Log{Format: "text", Level: slog.LevelInfo},
		Retention: Retention{MaxAge: 90 * moment.Day, MaxRunBytes: 64 << 20},
		Notify:    Notify{UncheckedAfter: 30 * time.Minute, GroupWindow: 5 * time.Minute},
	}
}

// Load reads the file, then the environment, then those of the flags that were
// given and that are named after a value (--state-dir); flags may be nil. With
// file "" there is no file, and no source is asked for. All problems come at
// once, as an *Error; what could be read comes with it, so that the settings
// can be checked too. Relative paths of the file are relative to its folder,
// all others to the working folder.
func Load(file string, flags *pflag.FlagSet) (*Config, error) {
	if file == "" {
		return build(newDocument("configuration", ""), flags)
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("find config %s: %w", file, err)
	}
	data, err := readFile(absolute)
	if err != nil {
		return nil, fmt.Errorf("read config %s: %w", file, err)
	}
	doc := parse(file, filepath.Dir(absolute), data)
	if doc.tree == nil {
		return nil, doc.err()
	}
	config, err := build(doc, flags)
	if config != nil {
		config.File = absolute
	}
	return config, err
}

// build makes a configuration of a document and of what overrides it.
func build(doc *document, flags *pflag.FlagSet) (*Config, error) {
	if err := doc.overlay(flags); err != nil {
		return nil, err
	}
	config := Default()
	config.Overrides = doc.overrides()
	doc.decode("", doc.tree, config)
	doc.resolve("", reflect.ValueOf(config).Elem())
	config.adopt(doc)
	doc.check(config)
	return config, doc.err()
}

// adopt tells each source, declaration and receiver where its settings stand,
// and gives each that has none a schedule, and a way to group and to repeat.
func (c *Config) adopt(doc *document) {
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
		return nil, withoutPath(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = bounded.ReadAll(f, MaxSize)
	if errors.Is(err, bounded.ErrTooLarge) {
		return nil, fmt.Errorf("over %d MiB: this is no configuration", MaxSize>>20)
	}
	return data, withoutPath(err)
}

// withoutPath takes the path off an error of the file system: it is said once.
func withoutPath(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
