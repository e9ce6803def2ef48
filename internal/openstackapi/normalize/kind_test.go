package normalize_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	schemas := normalize.Schemas()
	seen := map[string]bool{}
	for _, k := range normalize.Kinds() {
		if seen[k.Name] || !strings.HasPrefix(k.Name, normalize.Type+"/") || k.Path == "" || k.Rows == "" || k.Service == "" {
			t.Errorf("kind %+v", k)
		}
		seen[k.Name] = true
		schema := schemas[k.Name]
		if schema == nil {
			t.Fatalf("%s has no schema", k.Name)
		}
		if schema.Name != k.Name || schema.Namespaced == (k.Belongs == normalize.ToNone) {
			t.Errorf("%s has schema %s, with places: %t", k.Name, schema.Name, schema.Namespaced)
		}
		if schema.Labels != "" && schema.Schema.Fields[schema.Labels] == nil {
			t.Errorf("%s has no field %s to sort it by", k.Name, schema.Labels)
		}
		for _, rule := range schema.Severities {
			if rule.Reason == "" || rule.Severity == "" || len(rule.Verdicts) == 0 {
				t.Errorf("%s has an incomplete rule: %+v", k.Name, rule)
			}
			for _, path := range append(conditions(rule), rule.Path) {
				if path != "" && schema.Schema.Fields[path] == nil {
					t.Errorf("%s rates a field %s, which it has not", k.Name, path)
				}
			}
		}
	}
	if len(seen) != 13 || len(schemas) != len(seen) {
		t.Errorf("%d kinds and %d schemas", len(seen), len(schemas))
	}
}

func conditions(rule model.SeverityRule) []string {
	var paths []string
	for _, c := range rule.Where {
		paths = append(paths, c.Path)
	}
	return paths
}

func TestQueries(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{normalize.Server: "", normalize.Flavor: "is_public=None", normalize.Image: "",
		normalize.SecurityGroup: "fields=description&fields=name&fields=stateful&fields=tags&fields=id&fields=tenant_id&fields=project_id&fields=created_at&fields=updated_at"} {
		k := kindOf(t, kind)
		query := k.Queries()[0]
		if got := query.Encode(); got != want {
			t.Errorf("%s is asked for by %q, want %q", kind, got, want)
		}
		query.Set("limit", "1")
		if k.Queries()[0].Has("limit") {
			t.Errorf("who changes the query of %s changes it for everybody", kind)
		}
	}
	for _, k := range normalize.Kinds() {
		queries, rest := k.Queries(), ""
		if len(queries) > 1 {
			rest = queries[1].Encode()
		}
		if hidden := k.Name == normalize.Image; hidden != (rest == "os_hidden=true") || !hidden && rest != "" {
			t.Errorf("%s has a second list: %v", k.Name, queries)
		}
		if fields := queries[0]["fields"]; slices.Contains(fields, "status") || slices.Contains(fields, "*") || slices.Contains(fields, "security_group_rules") {
			t.Errorf("%s is asked for %v", k.Name, fields)
		}
	}
}
