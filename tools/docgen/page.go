package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/driftd/driftd/internal/config"
)

// head is the beginning of the page.
const head = `# Configuration

Every key with its type, its default and its meaning. This page is generated from the code by ` + "`go run ./tools/docgen`" + `: edit
the comments there. [config.example.yaml](../config.example.yaml) shows all of it in one file, and
` + "`driftd config check driftd.yaml`" + ` reports the errors of a file: an unknown key is an error, with its
line and the most similar known key.

- The path of the file is set by ` + "`--config`" + `, or by ` + "`$DRIFTD_CONFIG`" + `; the default is ` + "`/etc/driftd/driftd.yaml`" + `, if that exists.
- The file is YAML or JSON.
- A flag overrides the environment, which overrides the file, which overrides the default; [Precedence](#precedence) has an example.
- A **duration** is written ` + "`90s`, `10m`, `36h` or `90d`" + `; 0 needs no unit. A **size** is written ` + "`64MiB`" + `, or as a
  number of bytes. A **date** includes its whole day, in UTC.
- A **path** is relative to the file; ` + "`~/`" + ` is the home folder. A name without a slash is searched in the systemd credentials of
  the service (` + "`$CREDENTIALS_DIRECTORY`" + `), then in the folder of the file, then in its subfolder ` + "`credentials`" + `.
- The file contains no secrets: keys that end in ` + "`_file`" + ` are paths of the files with the secrets.
- If the column *default* is empty, the key has no default.

## Precedence

The variable of a setting is ` + "`DRIFTD_`" + ` and its path in upper case, with ` + "`_`" + ` for each dot: ` + "`DRIFTD_SERVER_LISTEN`" + ` sets
` + "`server.listen`" + `. ` + "`--state-dir`" + ` is a flag of every command; ` + "`--server-listen`, `--log-format` and `--log-level`" + ` are flags of
` + "`driftd serve`" + `. The highest of these sets the value:

| | where | example |
|---|---|---|
| 1 | flag | ` + "`driftd serve --log-level debug`" + ` |
| 2 | environment | ` + "`DRIFTD_LOG_LEVEL=warn`" + ` |
| 3 | file | ` + "`log: {level: error}`" + ` |
| 4 | default | ` + "`info`" + ` |

- An empty variable counts as not set. A relative path in a variable or a flag is relative to the working folder.
- Variables and flags set single values. Only the file sets lists and the keys below them, such as ` + "`sources`" + ` and ` + "`secrets.names`" + `.
- A ` + "`DRIFTD_…`" + ` variable that matches no setting is an error. The message has its name but not its value. Three kinds are ignored:
  ` + "`DRIFTD_CONFIG`" + `, ` + "`DRIFTD_TEST_…`" + `, which driftd's tests use, and those that Kubernetes sets in a pod for a service with
  such a name (` + "`DRIFTD_SERVICE_HOST`" + `).
- A user who can set the environment of driftd can set all of this, including ` + "`server.access.loopback`" + `: protect it like the file. The log line
  ` + "`starting`" + ` and ` + "`driftd config check`" + ` list the overridden settings and the variable or flag of each, without the values.
`

// page returns the whole page.
func page(root string) (string, error) {
	r := &reader{comments: &comments{root: root, read: map[string]map[string]described{}}}
	defaults, err := sample()
	if err != nil {
		return "", err
	}
	types, err := settings()
	if err != nil {
		return "", err
	}
	p := &printer{reader: r, types: types}
	p.WriteString(head)
	p.top(reflect.ValueOf(*defaults))
	p.matching()
	if err := r.err(); err != nil {
		return "", err
	}
	return p.String(), links(root, types)
}

// A printer writes the sections in order.
type printer struct {
	strings.Builder
	*reader
	types map[string][]typed
}

// top writes the keys of the file with a single value, and then a section for each of the others.
func (p *printer) top(v reflect.Value) {
	rows, lists := p.rows(v, "")
	var single []row
	sections := map[string][]row{}
	var order []string
	for _, r := range rows {
		section, _, nested := strings.Cut(r.key, ".")
		if !nested && r.typ != "keys" && r.typ != "list" {
			single = append(single, r)
			continue
		}
		if sections[section] == nil {
			order = append(order, section)
		}
		sections[section] = append(sections[section], r)
	}
	p.heading(2, "The file")
	p.table(single, "")
	for _, name := range order {
		whole := sections[name][0]
		p.heading(2, "`"+name+"`")
		p.WriteString(whole.meaning + see(pages()[name]) + "\n\n")
		p.table(sections[name][1:], name+".")
		for _, l := range lists {
			if l.key == name || strings.HasPrefix(l.key, name+".") {
				p.list(l)
			}
		}
	}
}

// see returns a link to another page; "" for none.
func see(page string) string {
	if page == "" {
		return ""
	}
	return " See [" + page + "](" + page + ")."
}

// list writes the description of a list's items, and their types.
func (p *printer) list(l list) {
	level := 2 + strings.Count(l.key, ".")
	if level > 2 {
		p.heading(level, "`"+l.key+"`")
		p.WriteString(p.intro(l.elem) + "\n\n")
	}
	rows, lists := p.rows(l.first, "")
	p.table(rows, "")
	for _, below := range lists {
		below.key = l.key + "." + below.key
		p.list(below)
	}
	for _, t := range p.types[l.key] {
		p.heading(level+1, code(strings.TrimPrefix(l.key, "notify."))+" of type "+t.name)
		p.WriteString(p.intro(t.settings.Type()) + see(t.page) + "\n\n")
		rows, lists := p.rows(t.settings, "")
		p.table(rows, "")
		for _, below := range lists {
			p.WriteString("\nAn entry of `" + below.key + "`: " + p.intro(below.elem) + "\n\n")
			rows, _ := p.rows(below.first, "")
			p.table(rows, "")
		}
	}
}

// matching writes the keys that owners and routes share.
func (p *printer) matching() {
	p.heading(2, "match")
	t := reflect.TypeFor[config.Match]()
	p.WriteString(p.intro(t) + " A single text may stand for a list of one.\n\n")
	rows, _ := p.rows(reflect.New(t).Elem(), "")
	p.table(rows, "")
}

func (p *printer) heading(level int, text string) {
	fmt.Fprintf(p, "\n%s %s\n\n", strings.Repeat("#", level), text)
}

// table writes rows without the prefix of their keys.
func (p *printer) table(rows []row, prefix string) {
	if len(rows) == 0 {
		return
	}
	p.WriteString("| key | type | default | |\n|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(p, "| `%s` | %s | %s | %s |\n", strings.TrimPrefix(r.key, prefix), r.typ, r.fallback, r.meaning)
	}
}

// sample returns the configuration of a minimal file, so that the items of its lists have defaults.
func sample() (*config.Config, error) {
	const text = `state_dir: /var/lib/driftd
sources: [{name: a, type: a}]
notify: {receivers: [{name: a, type: a}], routes: [{receivers: [a]}]}
triggers: [{name: a, type: github, secret_file: a}]
audit: {witness: [{git: /a}]}
reconcile: {writers: [{source: a}], rules: [{name: a, mode: off}]}
`
	dir, err := os.MkdirTemp("", "docgen")
	if err != nil {
		return nil, fmt.Errorf("create a folder: %w", err)
	}
	file := filepath.Join(dir, "driftd.yaml")
	var c *config.Config
	if err = os.WriteFile(file, []byte(text), 0o600); err == nil {
		c, err = config.Load(file, nil)
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return nil, fmt.Errorf("read the defaults: %w", err)
	}
	c.Sources, c.Declarations = nil, nil
	c.Notify.Receivers[0].Name, c.Notify.Receivers[0].Type = "", ""
	c.Notify.Routes[0].Receivers = nil
	t := &c.Triggers[0]
	t.Name, t.Type, t.SecretFile = "", "", ""
	c.Audit.Witness[0].Git = ""
	c.Reconcile.Writers[0].Source = ""
	c.Reconcile.Rules[0].Name, c.Reconcile.Rules[0].Mode = "", ""
	return c, nil
}

// links verifies that the linked pages exist.
func links(root string, types map[string][]typed) error {
	var errs []error
	for key, list := range types {
		for _, t := range list {
			if _, err := os.Stat(filepath.Join(root, "docs", t.page)); err != nil {
				errs = append(errs, fmt.Errorf("%s of type %s: docs/%s does not exist: write it, or name another page in tools/docgen/types.go", key, t.name, t.page))
			}
		}
	}
	return errors.Join(errs...)
}
