package config

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/driftd/driftd/internal/secret"
)

// check adds the problems of values that are wrong, alone or together. With a file, at least
// one source or declaration is required.
func (d *document) check(c *Config) {
	d.checkSchedule(c.Schedule)
	d.checkMemory(c)
	d.checkLinks(c)
	d.checkServer(c.Server)
	d.checkAccess(c)
	d.checkPeople(c.People)
	if c.StateDir == "" {
		d.add("state_dir", "state_dir: name the folder that holds the database")
	}
	if formats := []string{"json", "text"}; !slices.Contains(formats, c.Log.Format) {
		d.add("log.format", "log format %q: %s", c.Log.Format, oneOf(c.Log.Format, formats))
	}
	d.notNegative("retention.max_age", c.Retention.MaxAge)
	d.notNegative("retention.audit_max_age", c.Retention.AuditMaxAge)
	if c.Retention.MaxRuns < 0 {
		d.add("retention.max_runs", "max_runs: want a number from 0, which means all")
	}
	if c.Retention.MaxRunBytes < 0 {
		d.add("retention.max_run_bytes", "max_run_bytes: want a number of bytes from 0, which means all")
	}
	sources := d.checkSources(c.Sources)
	declarations := d.checkDeclarations(c.Declarations, sources)
	known := knownNames(c, sources, declarations)
	d.checkIgnore(c.Ignore, known)
	d.checkSeverity(c.Severity, known)
	d.checkOwners(c.Owners, known)
	d.checkSecrets(c.Secrets)
	d.checkNotify(&c.Notify, known)
	d.checkTriggers(c.Triggers, sources, known.declarations)
	d.checkAudit(&c.Audit)
	d.checkReconcile(&c.Reconcile, known, len(c.People))
	for i, controller := range c.Kubernetes.Controllers {
		if controller.Writer == "" {
			d.add(fmt.Sprintf("kubernetes.controllers[%d]", i), "controllers: name the writer, a field manager or a user of the audit log")
		}
	}
}

// checkSecrets checks the patterns of Secrets.
func (d *document) checkSecrets(s Secrets) {
	for key, patterns := range map[string][]string{"names": s.Names, "paths": s.Paths, "except": s.Except} {
		for i, pattern := range patterns {
			if err := secret.Check(pattern); err != nil {
				d.add(fmt.Sprintf("secrets.%s[%d]", key, i), "%v", err)
			}
		}
	}
}

func (d *document) checkSchedule(s Schedule) {
	for key, value := range map[string]time.Duration{"every": s.Every, "timeout": s.Timeout} {
		if value <= 0 {
			d.add("schedule."+key, "%s: want a duration above zero, such as 5m", key)
		}
	}
	d.notNegative("schedule.jitter", s.Jitter)
}

// checkMemory checks the memory limits. Each is at least minMemory, and the limit of one scan
// is at most the limit of all scans together.
func (d *document) checkMemory(c *Config) {
	bounds := map[string]int64{"max_memory": c.MaxMemory, "schedule.max_memory": c.Schedule.MaxMemory}
	for i, s := range c.Sources {
		bounds[fmt.Sprintf("sources[%d].max_memory", i)] = s.MaxMemory
	}
	for i, decl := range c.Declarations {
		bounds[fmt.Sprintf("declarations[%d].max_memory", i)] = decl.MaxMemory
	}
	for path, bytes := range bounds {
		switch {
		case bytes == c.Schedule.MaxMemory && path != "schedule.max_memory": // reported above
		case bytes < minMemory:
			d.add(path, "max_memory: want %s or more", humanize.IBytes(minMemory))
		case bytes > c.MaxMemory:
			d.add(path, "max_memory: %s is more than the total of %s that max_memory at the top of the file allows: raise that too",
				humanize.IBytes(uint64(bytes)), humanize.IBytes(uint64(max(0, c.MaxMemory))))
		}
	}
}

// minMemory is the smallest memory limit, in bytes. A scan needs as much to return anything.
const minMemory = 16 << 20

// missing adds the problem that a key is missing, unless a misspelt key was meant for it.
func (d *document) missing(path, key, format string, args ...any) {
	if !d.meant[child(path, key)] {
		d.add(path, format, args...)
	}
}

func (d *document) notNegative(path string, value time.Duration) {
	if value < 0 {
		d.add(path, "%s: want a duration that is not negative", path[strings.LastIndex(path, ".")+1:])
	}
}

func (d *document) checkServer(s Server) {
	if s.Listen == "" {
		return
	}
	_, port, err := net.SplitHostPort(s.Listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		d.add("server.listen", "listen address %q: want host:port, such as 127.0.0.1:9797 or :9797", s.Listen)
	}
}

// checkSources returns the names of the sources.
func (d *document) checkSources(sources []Source) []string {
	names := make([]string, 0, len(sources))
	for i, s := range sources {
		path := fmt.Sprintf("sources[%d]", i)
		d.checkEntry(entry{path, "source", "kubernetes", s.Name, s.Type}, names)
		d.notNegative(path+".every", s.Every)
		d.notNegative(path+".timeout", s.Timeout)
		names = append(names, s.Name)
	}
	switch {
	case d.meant["sources"]:
		d.unsure["source"] = true
	case d.dir != "" && isEmpty(d.tree["sources"]) && isEmpty(d.tree["declarations"]):
		d.add("sources", "no sources and no declarations: name at least one live system")
	}
	return names
}

func isEmpty(tree any) bool {
	items, ok := tree.([]any)
	return tree == nil || ok && len(items) == 0
}

// checkDeclarations returns the names of the declarations.
func (d *document) checkDeclarations(declarations []Declaration, sources []string) []string {
	names := make([]string, 0, len(declarations))
	for i, decl := range declarations {
		path := fmt.Sprintf("declarations[%d]", i)
		d.checkEntry(entry{path, "declaration", "manifests", decl.Name, decl.Type}, names)
		d.notNegative(path+".every", decl.Every)
		d.notNegative(path+".timeout", decl.Timeout)
		d.checkGoverns(path, decl, sources)
		names = append(names, decl.Name)
	}
	return names
}

func (d *document) checkGoverns(path string, decl Declaration, sources []string) {
	path += ".governs"
	for i, name := range decl.Governs {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !slices.Contains(sources, name) && !d.unsure["source"] {
			d.add(at, "declaration %q governs an unknown source %q: %s", decl.Name, name, oneOf(name, sources))
		} else if slices.Index(decl.Governs, name) < i {
			d.add(at, "declaration %q governs %q twice: name it once", decl.Name, name)
		}
	}
}

// An entry is an item of a list whose items have a name and a type.
type entry struct {
	path string
	// what is the item's noun, and example one of its types.
	what, example string
	name, typ     string
}

// checkEntry checks the name and the type of an item.
func (d *document) checkEntry(e entry, earlier []string) {
	if !validName(e.name) {
		d.unsure[e.what] = true
	}
	switch {
	case e.name == "" && e.typ == "" && !d.meant[e.path+".name"] && !d.meant[e.path+".type"]:
		d.add(e.path, "a %s without a name and a type: give it both", e.what)
		return
	case e.name == "":
		d.missing(e.path, "name", "a %s without a name: give it one", e.what)
	case !validName(e.name):
		d.add(e.path+".name", "%s name %q: want letters, digits, dots, dashes and underscores, a letter or digit first, at most 100", e.what, e.name)
	case slices.Contains(earlier, e.name):
		list := e.path[:strings.LastIndex(e.path, "[")]
		first := d.line(fmt.Sprintf("%s[%d].name", list, slices.Index(earlier, e.name)), e.path)
		d.add(e.path+".name", "duplicate %s name %q: %s has it already", e.what, e.name, first)
	}
	if e.typ == "" {
		d.missing(e.path, "type", "%s %q has no type: add one, as in type: %s", e.what, e.name, e.example)
	}
}

// validName reports whether a source, declaration, receiver or trigger may have the name.
func validName(name string) bool {
	return len(name) <= 100 && regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]*$`).MatchString(name)
}

func (d *document) checkIgnore(rules []IgnoreRule, known known) {
	for i, r := range rules {
		path := fmt.Sprintf("ignore[%d]", i)
		if r.Source == "" && r.Kind == "" && r.Resource == "" && r.Check == "" && r.Path == "" && r.Value == "" {
			d.add(path, "an ignore rule without a pattern would hide everything: give it a source, kind, resource, check, path or value")
		}
		if strings.TrimSpace(r.Reason) == "" {
			d.missing(path, "reason", "an ignore rule without a reason: add one, as in reason: scaled by hand during the sale")
		}
		for key, pattern := range map[string]string{"kind": r.Kind, "resource": r.Resource, "check": r.Check, "path": r.Path, "value": r.Value} {
			d.checkPattern(path+"."+key, pattern)
		}
		if r.Source != "" {
			d.checkNamed(path+".source", "ignore rule of an unknown", "source", r.Source, known.sources)
		}
	}
}
