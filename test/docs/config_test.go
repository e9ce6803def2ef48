package docs

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/cli"
)

// TestConfigurations checks every configuration on a page with driftd. A part of one is
// completed first.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	n := 0
	for _, page := range readAll(t) {
		for _, b := range page.Blocks {
			if b.Lang != "yaml" {
				continue
			}
			tree, ok := fragment(t, page, b)
			if !ok {
				continue
			}
			n++
			t.Run(fmt.Sprintf("%s:%d", page.Name, b.Line), func(t *testing.T) {
				t.Parallel()
				if out := check(t, page, tree); out != "" {
					t.Errorf("%s:%d: driftd config check:\n%s", page.Name, b.Line, out)
				}
			})
		}
	}
	if n < 15 {
		t.Errorf("%d configurations were found: they are not looked for where they are", n)
	}
}

// fragment returns the configuration in a block. ok is false for a file of another program,
// which must be valid YAML.
func fragment(t *testing.T, page Page, b Block) (tree map[string]any, ok bool) {
	t.Helper()
	// The collector of the page is not built in. A source of type netbox has its settings, too.
	text := strings.NewReplacer("{…}", "{}", "type: cirrus", "type: netbox").Replace(b.Text)
	var parts map[string]any
	if err := yaml.Unmarshal([]byte(text), &parts); err != nil {
		t.Errorf("%s:%d: it is no YAML: %v", page.Name, b.Line, err)
		return nil, false
	}
	keys := slices.Sorted(maps.Keys(parts))
	if page.Name == "docs/terraform.md" && parts["governs"] != nil {
		return map[string]any{"declarations": []any{with(parts, map[string]any{"name": "infra", "type": "terraform"})}}, true
	}
	if slices.Equal(keys, []string{"settings"}) && page.Name == "docs/kubernetes.md" {
		return map[string]any{"sources": []any{with(parts, map[string]any{"name": "prod", "type": "kubernetes"})}}, true
	}
	sections := []string{"state_dir", "schedule", "server", "log", "retention", "sources", "declarations", "ignore", "owners", "notify", "triggers", "audit", "reconcile", "kubernetes"}
	known := slices.ContainsFunc(keys, func(key string) bool { return slices.Contains(sections, key) })
	return parts, known
}

// tableOf returns the mapping table on a page.
func tableOf(page Page) string {
	for _, b := range page.Blocks {
		if b.Lang == "yaml" && strings.HasPrefix(b.Text, "provider: ") {
			return b.Text
		}
	}
	return "provider: acme/none\ntypes: {acme_none: {none: nothing live stands for it}}\n"
}

func with(tree, more map[string]any) map[string]any {
	tree = maps.Clone(tree)
	maps.Copy(tree, more)
	return tree
}

// check completes and writes a configuration, and returns driftd's errors about it.
func check(t *testing.T, page Page, tree map[string]any) string {
	t.Helper()
	c := completer{dir: t.TempDir(), table: tableOf(page)}
	if err := c.complete(tree); err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(c.dir, "driftd.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	if cli.Run(context.WithoutCancel(t.Context()), cli.Build{}, []string{"config", "check", file}, cli.Streams{Out: &out, Err: &said}) == 0 {
		return ""
	}
	return fmt.Sprintf("%s\n%s", said.String(), text)
}

// TestConfigurationsAreChecked checks that a page with a wrong key, type or name would fail.
func TestConfigurationsAreChecked(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"unknown key":     "notify: {receivers: [{name: a, type: slack, settings: {token_file: t, channels: C01}}]}",
		"unknown section": "schedules: {every: 1m}\nlog: {level: info}",
		"wrong type":      "schedule: {every: often}",
		"unknown type":    "sources: [{name: a, type: mainframe}]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := Page{Name: "docs/x.md"}
			tree, ok := fragment(t, page, Block{Lang: "yaml", Text: text})
			if !ok || check(t, page, tree) == "" {
				t.Errorf("nothing is wrong with %s", text)
			}
		})
	}
}
