package report

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

const (
	reportSchema = "../../docs/report-schema.json"
	sarifSchema  = "testdata/sarif-2.1.0-subset.schema.json"
)

func compile(t *testing.T, location string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile(location)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(schema *jsonschema.Schema, document string) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

func TestJSONIsWhatTheSchemaSays(t *testing.T) {
	t.Parallel()
	schema := compile(t, reportSchema)
	for name, r := range map[string]model.Report{"rich": rich(), "three ways": threeWays(), "calm": calm(), "empty": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := validate(schema, write(t, "json", r, Options{})); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSchemaIsStrict(t *testing.T) {
	t.Parallel()
	schema := compile(t, reportSchema)
	good := write(t, "json", rich(), Options{})
	for name, tc := range map[string]struct{ reason, old, now string }{
		"unknown member":  {"a member that is not described is wrong", `"version": 1,`, `"version": 1, "extra": 1,`},
		"unknown verdict": {"the list of verdicts is closed", `"verdict": "conflict"`, `"verdict": "odd"`},
		"local time":      {"times are in UTC", `"2026-11-20T07:24:00Z"`, `"2026-11-20T08:24:00+01:00"`},
		"null changes":    {"lists are never null", `"changes": [],`, `"changes": null,`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := strings.Replace(good, tc.old, tc.now, 1)
			if bad == good {
				t.Fatalf("the report holds no %s", tc.old)
			}
			if validate(schema, bad) == nil {
				t.Errorf("%s: the schema accepts it", tc.reason)
			}
		})
	}
}

func TestVerbsAreWhatTheSchemaSays(t *testing.T) {
	t.Parallel()
	for name, verb := range verbs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, _, _ := strings.Cut(name, "-")
			definition := map[string]string{"show": "detail", "list": "findings", "hidden": "hidden", "exemptions": "exemptions", "decisions": "decisions", "history": "history", "diff": "diff"}[kind]
			var b strings.Builder
			if err := verb(&b, "json", Options{}); err != nil {
				t.Fatal(err)
			}
			if err := validate(compile(t, reportSchema+"#/$defs/"+definition), b.String()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSARIFIsWhatTheStandardSays(t *testing.T) {
	t.Parallel()
	schema := compile(t, sarifSchema)
	for name, r := range map[string]model.Report{"rich": rich(), "three ways": threeWays(), "calm": calm(), "empty": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := validate(schema, write(t, "sarif", r, Options{})); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnyReportIsWhatTheSchemasSay(t *testing.T) {
	t.Parallel()
	schemas := map[string]*jsonschema.Schema{"json": compile(t, reportSchema), "sarif": compile(t, sarifSchema)}
	rapid.Check(t, func(t *rapid.T) {
		r := anyReport(t)
		for format, schema := range schemas {
			var b strings.Builder
			if err := Write(&b, format, r, Options{}); err != nil {
				t.Fatal(err)
			}
			if err := validate(schema, b.String()); err != nil {
				t.Fatalf("%s: %v\n%s", format, err, b.String())
			}
		}
	})
}
