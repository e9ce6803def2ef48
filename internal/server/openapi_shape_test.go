package server

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/remedy"
)

func TestDocumentListsEveryRoute(t *testing.T) {
	t.Parallel()
	var written []string
	o := newOutline(t)
	for path, item := range o.at([]string{"paths"}) {
		for method := range item.(map[string]any) {
			written = append(written, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(written)
	if diff := cmp.Diff(routesInSource(t), written); diff != "" {
		t.Errorf("routes in the source (-) and in the document (+):\n%s", diff)
	}
}

// routesInSource returns the route patterns in the source code.
func routesInSource(t *testing.T) []string {
	t.Helper()
	pattern := regexp.MustCompile(`^([A-Z]+ )?/api/v1/[a-z]`)
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 1 {
				if text, ok := call.Args[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
					if route, err := strconv.Unquote(text.Value); err == nil && pattern.MatchString(route) {
						found[route] = true
					}
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(found))
}

// TestDocumentNamesEveryField compares the schemas with the Go types of the responses: the same
// names, and required exactly those that are never omitted.
func TestDocumentNamesEveryField(t *testing.T) {
	t.Parallel()
	o := newOutline(t)
	for name, answer := range map[string]any{
		"report": model.Report{}, "findings": Findings{}, "outlines": Outlines{}, "detail": FindingDetail{}, "suggestion": remedy.Suggestion{}, "decisions": Decisions{}, "taken": model.Decision{},
		"decisionRequest": DecisionRequest{}, "history": History{}, "diff": Diff{}, "runs": Runs{}, "status": Status{}, "preview": Preview{}, "error": Error{},
	} {
		o.compare(t, []string{"components", "schemas", name}, reflect.TypeOf(answer))
	}
}

// unshown returns the fields that are missing or reduced in every response, with the reason.
func unshown() map[string]string {
	return map[string]string{
		"Finding.flips":          "driftd's own reckoning: Public takes it out",
		"Run.exempt":             "/api/v1/exemptions shows it: Public takes it out",
		"SourceRun.marks":        "driftd's own reckoning: Public takes it out",
		"DeclarationRun.objects": "/api/v1/preview shows it: Public takes it out",
		"Finding.worse_basis":    "driftd's own reckoning: Public takes it out",
		"Decision.covered":       "kept for Settle: Covers counts them",
		"Decision.changes":       "what is noted on a finding has none, and the list of decisions their paths alone",
	}
}

func (o *outline) compare(t *testing.T, place []string, of reflect.Type) {
	t.Helper()
	schema := o.resolve(&place, o.at(place))
	switch {
	case of.Kind() == reflect.Pointer:
		o.compare(t, place, of.Elem())
	case of.Kind() == reflect.Slice:
		o.compare(t, append(place[:len(place):len(place)], "items"), of.Elem())
	case of.Kind() == reflect.Struct && of != reflect.TypeFor[model.Value]() && of.String() != "time.Time":
		o.compareFields(t, place, schema, of)
	}
}

func (o *outline) compareFields(t *testing.T, place []string, schema map[string]any, of reflect.Type) {
	t.Helper()
	properties, required := o.members(place, schema)
	for _, f := range jsonFields(of) {
		what := f.owner + "." + f.name
		below, documented := properties[f.name]
		delete(properties, f.name)
		switch {
		case unshown()[what] != "":
		case !documented:
			t.Errorf("%s does not document %s", strings.Join(place, "/"), what)
		case required[f.name] == f.optional && of != reflect.TypeFor[DecisionRequest]():
			t.Errorf("%s: %s is left out when empty: %t, required: %t", strings.Join(place, "/"), what, f.optional, required[f.name])
		default:
			o.compare(t, below, f.of)
		}
	}
	for name := range properties {
		t.Errorf("%s documents %q, which %s does not have", strings.Join(place, "/"), name, of)
	}
}

// members returns the properties of a schema and of all schemas that it includes, with their
// places, and which of them are required.
func (o *outline) members(place []string, schema map[string]any) (properties map[string][]string, required map[string]bool) {
	properties, required = map[string][]string{}, map[string]bool{}
	own, _ := schema["properties"].(map[string]any)
	for name := range own {
		properties[name] = append(place[:len(place):len(place)], "properties", name)
	}
	names, _ := schema["required"].([]any)
	for _, name := range names {
		required[name.(string)] = true
	}
	all, _ := schema["allOf"].([]any)
	for _, part := range all {
		at := place
		more, needed := o.members(at, o.resolve(&at, part))
		maps.Copy(properties, more)
		maps.Copy(required, needed)
	}
	return properties, required
}

type jsonField struct {
	owner    string
	name     string
	optional bool
	of       reflect.Type
}

func jsonFields(of reflect.Type) []jsonField {
	var all []jsonField
	for f := range of.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			all = append(all, jsonFields(f.Type)...)
		case name != "-":
			all = append(all, jsonField{of.Name(), name, strings.HasPrefix(options, "omit"), f.Type})
		}
	}
	return all
}

// TestDocumentAgreesWithTheReportSchema verifies that both describe shared types with the same
// words.
func TestDocumentAgreesWithTheReportSchema(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/report-schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	o := newOutline(t)
	for _, name := range []string{"version", "time", "count", "value", "verdict", "severity", "scan", "notChecked", "revision", "tally", "summary", "finding",
		"ignored", "decision", "decided", "change", "field", "claim", "actor", "coverage"} {
		if diff := cmp.Diff(plainForm(schema.Defs[name]), plainForm(o.at([]string{"components", "schemas", name}))); diff != "" {
			t.Errorf("%s in report-schema.json (-) and in the document (+):\n%s", name, diff)
		}
	}
}

// plainForm normalizes a schema: for code generators the document adds the type of an enumeration,
// and "allOf" around some references.
func plainForm(node any) any {
	switch node := node.(type) {
	case []any:
		list := make([]any, len(node))
		for i := range node {
			list[i] = plainForm(node[i])
		}
		return list
	case map[string]any:
		plain := map[string]any{}
		for name, below := range node {
			plain[name] = plainForm(below)
		}
		if plain["enum"] != nil || plain["const"] != nil {
			delete(plain, "type")
		}
		if all, ok := plain["allOf"].([]any); ok && len(all) == 1 {
			maps.Copy(plain, all[0].(map[string]any))
			delete(plain, "allOf")
		}
		if target, ok := plain["$ref"].(string); ok {
			plain["$ref"] = target[strings.LastIndexByte(target, '/'):]
		}
		return plain
	}
	return fmt.Sprint(node)
}

func TestDocumentIsStrict(t *testing.T) {
	t.Parallel()
	schemas := compileSchemas(t)
	h := rich(t).Handler()
	for name, tc := range map[string]struct{ reason, schema, target, old, now string }{
		"unknown member": {"a member that is not described is wrong", "report", "/api/v1/report", `"version":1,`, `"version":1,"extra":1,`},
		"within":         {"also deep inside", "findings", "/api/v1/findings", `"secret":false`, `"secret":false,"extra":1`},
		"of a decision":  {"also where parts are put together", "findings", "/api/v1/findings?hidden=true", `"kind":"accept"`, `"kind":"accept","extra":1`},
		"verdict":        {"the list of verdicts is closed", "findings", "/api/v1/findings", `"verdict":"conflict"`, `"verdict":"odd"`},
		"local time":     {"times are in UTC", "findings", "/api/v1/findings", `"first_seen":"2026-03-01T10:00:00Z"`, `"first_seen":"2026-03-01T11:00:00+01:00"`},
		"null":           {"lists are never null", "status", "/api/v1/status", `"waiting":["source edge: not scanned yet"]`, `"waiting":null`},
		"left out":       {"what is required is there", "runs", "/api/v1/runs", `"held":true,`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, good := get(t, h, http.MethodGet, tc.target)
			bad := strings.Replace(good, tc.old, tc.now, 1)
			if bad == good {
				t.Fatalf("the answer holds no %s: %s", tc.old, good)
			}
			if err := schemas.validate(tc.schema, good); err != nil {
				t.Error(err)
			}
			if schemas.validate(tc.schema, bad) == nil {
				t.Errorf("%s: the schema accepts %s", tc.reason, tc.now)
			}
		})
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	t.Parallel()
	h := rich(t).Handler()
	o := newOutline(t)
	for path, item := range o.at([]string{"paths"}) {
		known := item.(map[string]any)
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			if _, ok := known[strings.ToLower(method)]; ok {
				continue
			}
			r := httptest.NewRequestWithContext(t.Context(), method, strings.ReplaceAll(path, "{id}", "f00d01"), http.NoBody)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			var want []string
			for name := range known {
				want = append(want, strings.ToUpper(name))
			}
			got := strings.Split(w.Header().Get("Allow"), ", ")
			slices.Sort(want)
			slices.Sort(got)
			var e Error
			if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != http.StatusMethodNotAllowed || e.Message == "" || !slices.Equal(want, got) {
				t.Errorf("%s %s = %d %s, Allow %q; want 405 and %q", method, path, w.Code, w.Body, got, want)
			}
		}
	}
}
