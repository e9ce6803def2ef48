package config

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// check notes what the values of a configuration get wrong together. A file
// must name something to look at.
func (d *document) check(c *Config) {
	d.checkSchedule(c.Schedule)
	d.checkServer(c.Server)
	if c.StateDir == "" {
		d.add("state_dir", "state_dir: name the folder that holds the database")
	}
	if formats := []string{"json", "text"}; !slices.Contains(formats, c.Log.Format) {
		d.add("log.format", "log format %q: %s", c.Log.Format, oneOf(c.Log.Format, formats))
	}
	d.notNegative("retention.max_age", c.Retention.MaxAge)
	if c.Retention.MaxRuns < 0 {
		d.add("retention.max_runs", "max_runs: want a number from 0, which means all")
	}
	sources := d.checkSources(c.Sources)
	d.checkDeclarations(c.Declarations, sources)
	d.checkIgnore(c.Ignore, sources)
	for i, name := range c.Kubernetes.Controllers {
		if name == "" {
			d.add(fmt.Sprintf("kubernetes.controllers[%d]", i), "controllers: name the field manager")
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
		d.checkEntry(path, "source", s.Name, s.Type, names)
		d.notNegative(path+".every", s.Every)
		d.notNegative(path+".timeout", s.Timeout)
		names = append(names, s.Name)
	}
	if d.dir != "" && isEmpty(d.tree["sources"]) && isEmpty(d.tree["declarations"]) {
		d.add("sources", "no sources and no declarations: name at least one live system to look at")
	}
	return names
}

func isEmpty(tree any) bool {
	items, ok := tree.([]any)
	return tree == nil || ok && len(items) == 0
}

func (d *document) checkDeclarations(declarations []Declaration, sources []string) {
	var names []string
	for i, decl := range declarations {
		path := fmt.Sprintf("declarations[%d]", i)
		d.checkEntry(path, "declaration", decl.Name, decl.Type, names)
		d.notNegative(path+".every", decl.Every)
		d.notNegative(path+".timeout", decl.Timeout)
		d.checkGoverns(path, decl, sources)
		names = append(names, decl.Name)
	}
}

func (d *document) checkGoverns(path string, decl Declaration, sources []string) {
	path += ".governs"
	for i, name := range decl.Governs {
		at := fmt.Sprintf("%s[%d]", path, i)
		if !slices.Contains(sources, name) {
			d.add(at, "declaration %q governs an unknown source %q: %s", decl.Name, name, oneOf(name, sources))
		} else if slices.Index(decl.Governs, name) < i {
			d.add(at, "declaration %q governs %q twice: name it once", decl.Name, name)
		}
	}
}

// checkEntry checks what sources and declarations share.
func (d *document) checkEntry(path, what, name, typ string, earlier []string) {
	switch {
	case name == "" && typ == "":
		d.add(path, "a %s without a name and a type: give it both", what)
		return
	case name == "":
		d.add(path, "a %s without a name: give it one", what)
	case len(name) > 100 || !regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]*$`).MatchString(name):
		d.add(path+".name", "%s name %q: want letters, digits, dots, dashes and underscores, a letter or digit first, at most 100", what, name)
	case slices.Contains(earlier, name):
		first := d.line(fmt.Sprintf("%ss[%d].name", what, slices.Index(earlier, name)))
		d.add(path+".name", "duplicate %s name %q: line %d has it already", what, name, first)
	}
	if typ == "" {
		d.add(path, "%s %q has no type: say what it is, as in type: kubernetes", what, name)
	}
}

func (d *document) checkIgnore(rules []IgnoreRule, sources []string) {
	for i, r := range rules {
		path := fmt.Sprintf("ignore[%d]", i)
		if r.Source == "" && r.Kind == "" && r.Resource == "" && r.Path == "" {
			d.add(path, "an ignore rule without a pattern would hide everything: give it a source, kind, resource or path")
		}
		if r.Source != "" && !strings.ContainsAny(r.Source, "*?[") && !slices.Contains(sources, r.Source) {
			d.add(path+".source", "ignore rule of an unknown source %q: %s", r.Source, oneOf(r.Source, sources))
		}
	}
}
