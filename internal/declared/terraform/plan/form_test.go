package plan

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/literal"
	"github.com/driftd/driftd/internal/model"
)

// written evaluates a resource block.
func written(t *testing.T, body string) literal.Resource {
	t.Helper()
	files := fstest.MapFS{"main.tf": {Data: []byte("variable \"s\" {\n  default = \"hunter22\"\n  sensitive = true\n}\nresource \"lab_server\" \"web\" {\n" + body + "\n}\n")}}
	if strings.HasPrefix(body, "{") {
		files = fstest.MapFS{"main.tf.json": {Data: []byte(`{"resource": {"lab_server": {"web": ` + body + `}}}`)}}
	}
	r, err := literal.NewRoot(files, ".", literal.Options{}, literal.NewParser()).Resource("lab_server.web")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// arrangedText formats an Arranged, with its paths sorted.
func arrangedText(a Arranged) string {
	text := a.Value.Public().String()
	if unknown := pathTexts(a.Unknown); unknown != "" {
		text += " unknown:" + unknown
	}
	return text
}

func pathTexts(paths [][]model.Step) string {
	texts := make([]string, len(paths))
	for i, path := range paths {
		texts[i] = "/" + strings.Join(writtenPath(path), "/")
	}
	slices.Sort(texts)
	return strings.Join(texts, ",")
}

// planOf plans an update of lab_server.web: the configuration writes names.
func planOf(t *testing.T, before, after object, names ...string) (Instance, *Schemas) {
	t.Helper()
	expressions := object{}
	for _, name := range names {
		expressions[name] = constant("x")
	}
	p := decoded(t, object{"resource_changes": []any{change("lab_server.web", "update", before, after, nil)}, "configuration": config(expressions)})
	s := schemas(t, p)
	return Read(Input{Plan: p, Schemas: s}, sealer()).Instances[0], s
}

func TestArrange(t *testing.T) {
	t.Parallel()
	before := object{"id": "s-1", "name": "web", "size": 9, "mode": "auto", "status": "up", "endpoint": "e", "password": "old-pass", "policy": `{"a":1, "b":2}`,
		"limits": object{"cpu": 1, "burst": 2}, "disk": []any{object{"size": 1, "path": "/a", "cache": "none"}}, "rule": []any{object{"port": 1, "id": "r"}}, "extra": []any{"x"}}
	after := object{"id": "s-1", "name": "web", "size": 2, "mode": "auto", "status": "up", "password": "old-pass", "policy": `{"a":1, "b":2}`,
		"limits": object{"cpu": 1, "burst": 2}, "disk": []any{object{"size": 1, "path": "/a", "cache": "none"}}, "rule": []any{object{"port": 1, "id": "r"}}, "extra": []any{"x"}}
	const silent = " unknown:/extra,/mode"
	cases := map[string]struct{ reason, body, want string }{
		"Plain":       {"a literal; attributes that only the provider sets, or fills in, are not known", `name = "web"` + "\nsize = 3", `{"name":"web","size":3}` + silent},
		"Conversions": {"values take the types of the attributes", `name = 5` + "\nsize = \"3\"\nenabled = \"true\"\nnotes = true", `{"enabled":true,"name":"5","notes":"true","size":3}` + silent},
		"BadTypes":    {"a value of another type", "size = \"three\"\nenabled = 1\nname = [1]", `{} unknown:/enabled,/extra,/mode,/name,/size`},
		"Computed":    {"an attribute that only the provider sets is not declared", `status = "down"`, `{}` + silent},
		"Lenient":     {"what the provider would fill in, and is written", `mode = "manual"` + "\nextra = []", `{"extra":[],"mode":"manual"}`},
		"Null":        {"null is not written", `mode = null`, `{}` + silent},
		"Unknown":     {"what is not literal", "size = other.r.x\nmode = \"m\"\nextra = [other.r.x]\nlabels = { a = other.r.x, b = 1 }", `{"extra":[null],"labels":{"b":"1"},"mode":"m"} unknown:/extra/0,/labels/a,/size`},
		"Map":         {"a map of texts", `labels = { "a.b" = 1, c = true }`, `{"labels":{"a.b":"1","c":"true"}}` + silent},
		"NoMap":       {"something else than a map", `labels = "x"`, `{} unknown:/extra,/labels,/mode`},
		"Set":         {"equal elements of a set are one", `tags = ["b", "a", "b"]`, `{"tags":["b","a"]}` + silent},
		"SetUnknown":  {"a set of which one element is not known", `tags = ["b", other.r.x]`, `{} unknown:/extra,/mode,/tags`},
		"List":        {"equal elements of a list are two", `order = ["b", "b", 1]`, `{"order":["b","b","1"]}` + silent},
		"NoList":      {"something else than a list", `order = "b"`, `{} unknown:/extra,/mode,/order`},
		"Dynamic":     {"an attribute of any type keeps its values", `free = { n = 1, t = "1", l = [true, null] }`, `{"free":{"l":[true,null],"n":1,"t":"1"}}` + silent},
		"DynamicPart": {"of which a part is not known", `free = { n = other.r.x, l = [other.r.x] }`, `{"free":{"l":[null]}} unknown:/extra,/free/l/0,/free/n,/mode`},
		"Blocks":      {"nested blocks", "disk {\n size = \"1\"\n cache = \"x\"\n}\ndisk {\n size = 2\n}", `{"disk":[{"cache":"x","size":1},{"size":2}]}` + silent},
		"BlockFilled": {"a nested block of which the provider fills in a part", "disk {\n size = 2\n}", `{"disk":[{"size":2}]} unknown:/disk/0/cache,/extra,/mode`},
		"DynamicBlk":  {"nested blocks that are made", "dynamic \"disk\" {\n for_each = [1]\n content {}\n}", `{} unknown:/disk,/extra,/mode`},
		"SetOfBlocks": {"a set of nested blocks, with an id that only the provider sets", "rule {\n port = 2\n}\nrule {\n port = 2\n}", `{"rule":[{"port":2}]}` + silent},
		"SetOfPart":   {"a set of nested blocks of which something is not known", "rule {\n port = other.r.x\n}", `{} unknown:/extra,/mode,/rule`},
		"Object":      {"an object", "limits = { cpu = 4 }", `{"limits":{"cpu":4}}` + silent},
		"NoObject":    {"something else than an object", "limits = 4", `{} unknown:/extra,/limits,/mode`},
		"JSONBlocks":  {"blocks in JSON need no list", `{"disk": {"size": 1, "cache": "c"}, "size": 3}`, `{"disk":[{"cache":"c","size":1}],"size":3}` + silent},
		"JSONUnknown": {"paths in such a block", `{"disk": {"size": "${other.r.x}", "cache": "c"}}`, `{"disk":[{"cache":"c"}]} unknown:/disk/0/size,/extra,/mode`},
		"Spelling":    {"JSON in another spelling", `policy = "{\"b\":2,\"a\":1}"`, `{"policy":"{\"a\":1, \"b\":2}"}` + silent},
		"OtherJSON":   {"other JSON", `policy = "{\"b\":3}"`, `{"policy":"{\"b\":3}"}` + silent},
		"Secret":      {"a sensitive attribute", `password = "hunter22"`, `{"password":"(secret)"}` + silent},
		"SecretPart":  {"a sensitive attribute that is not literal", `password = "x${other.r.x}"`, `{} unknown:/extra,/mode,/password`},
		"SecretJSON":  {"digests do not show two spellings to be one", `password = "{}"`, `{} unknown:/extra,/mode,/password`},
		"Sensitive":   {"a sensitive variable where the instance shows its value", `notes = var.s` + "\nfree = { a = var.s, b = 1 }", `{"free":{"b":1}} unknown:/extra,/free/a,/mode,/notes`},
		"Copies":      {"a secret that is also in another place", "password = \"hunter22\"\nnotes = \"hunter22\"\norder = [\"hunter22\", \"x\"]\nendpoint = \"hunter2\"", `{"endpoint":"hunter2","order":[null,"x"],"password":"(secret)"} unknown:/extra,/mode,/notes,/order/0`},
		"NotWritten":  {"what is written now and was not written then, by a provider without hidden defaults", "", `{}` + silent},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i, _ := planOf(t, before, after, "name", "size", "password", "policy", "limits", "endpoint", "mode", "extra")
			got := arrangedText(i.Form.Arrange(written(t, tc.body)))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if strings.Contains(got, "hunter22") {
				t.Error("a secret is in the output")
			}
		})
	}
}

// TestUnwrittenAttributes checks the values of attributes that a commit does not write.
func TestUnwrittenAttributes(t *testing.T) {
	t.Parallel()
	before := object{"id": "s-1", "name": "web", "size": 9, "notes": "recorded", "mode": "auto", "labels": object{"a": "b"}}
	after := object{"id": "s-1", "name": "web", "size": 2, "notes": "default", "mode": "auto", "labels": object{"a": "b"}}
	cases := map[string]struct {
		reason string
		change func(*shape)
		writes []string
		want   string
	}{
		"SilentNow":    {"an attribute that the configuration is silent on now, too", func(*shape) {}, []string{"name", "labels", "size"}, `{"name":"web","notes":"default"} unknown:/mode`},
		"WrittenNow":   {"an attribute that is written now: the schema has no default", func(*shape) {}, []string{"name", "labels", "size", "notes"}, `{"name":"web"} unknown:/mode`},
		"HiddenDfault": {"a provider of the old SDK may have a default, but not for a map", func(s *shape) { s.fields["id"].computed = false }, []string{"name", "labels", "size", "notes"}, `{"name":"web"} unknown:/mode,/notes,/size`},
		"WriteOnly":    {"a value that is never recorded", func(s *shape) { s.fields["name"].writeOnly = true }, []string{"name", "labels", "size", "notes"}, `{} unknown:/mode,/name`},
		"NoSchema":     {"without a schema nothing is known", func(s *shape) { s.fields = nil }, nil, `{} unknown:/`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i, s := planOf(t, before, after, tc.writes...)
			tc.change(s.shape(i.Provider, i.Type))
			if diff := cmp.Diff(tc.want, arrangedText(i.Form.Arrange(written(t, `name = "web"`)))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	if got := arrangedText((&Form{}).Arrange(literal.Resource{})); got != `{} unknown:/` {
		t.Errorf("without a shape: %s", got)
	}
	i, _ := planOf(t, before, after)
	if got := arrangedText(i.Form.Arrange(literal.Resource{Presence: literal.Present, Unknown: [][]string{{}}})); got != `{} unknown:/` {
		t.Errorf("without a configuration: %s", got)
	}
}

func TestDisagrees(t *testing.T) {
	t.Parallel()
	before := object{"id": "s-1", "name": "web", "size": 9}
	after := object{"id": "s-1", "name": "WEB", "size": 2, "order": []any{"a", "b"}, "tags": []any{"a", "b"}, "labels": object{"a": "b"}, "disk": []any{object{"size": 1, "path": "/a"}}}
	const rest = "order = [\"a\", \"b\"]\ntags = [\"b\", \"a\"]\nlabels = { a = \"b\" }\ndisk {\n size = 1\n}\n"
	cases := map[string]struct{ reason, body, want string }{
		"Agrees":   {"the plan declares what the files say", `name = "WEB"` + "\nsize = 2\n" + rest, ""},
		"Unknown":  {"what is not known does not disagree", "name = other.r.x\nsize = other.r.x\n" + rest, ""},
		"Rewrites": {"the provider rewrites a value", `name = "web"` + "\nsize = 2\n" + rest, "/name"},
		"More":     {"something sets what the files do not write", `name = "WEB"` + "\n" + rest, "/size"},
		"Element":  {"an element of a list, and of a map", "name = \"WEB\"\nsize = 2\norder = [\"a\", \"c\"]\ntags = [\"b\", \"a\"]\nlabels = { a = \"c\" }\ndisk {\n size = 2\n}\n", "/disk/0/size,/labels/a,/order/1"},
		"Length":   {"a longer list, and a smaller set", "name = \"WEB\"\nsize = 2\norder = [\"a\", \"b\", \"c\"]\ntags = [\"b\"]\nlabels = { a = \"b\" }\ndisk {\n size = 1\n}\n", "/order,/tags"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i, _ := planOf(t, before, after, "name", "size", "order", "tags", "labels", "disk")
			got := pathTexts(i.Form.Disagrees(i.Form.Arrange(written(t, tc.body))))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestOverlay(t *testing.T) {
	t.Parallel()
	before := object{"id": "s-1", "name": "web", "size": 9, "status": "up", "mode": "auto", "labels": object{"a": "b"}, "limits": object{"cpu": 1, "burst": 2}, "disk": []any{object{"size": 1, "path": "/a", "cache": "c"}}, "rule": []any{object{"port": 1, "id": "r"}}}
	after := maps.Clone(before)
	after["size"] = 2
	const id = `"id":"s-1"`
	cases := map[string]struct{ reason, body, with, without, unknown string }{
		"Fields":  {"declared attributes go over those of the instance, and others go", "name = \"new\"\nmode = \"m\"", `{` + id + `,"mode":"m","name":"new","status":"up"}`, `{` + id + `,"mode":"m","name":"new","status":"up"}`, ""},
		"Unknown": {"what is not known stays or goes", "name = other.r.x", `{` + id + `,"mode":"auto","name":"web","status":"up"}`, `{` + id + `,"status":"up"}`, "/mode,/name"},
		"Map":     {"also in a map", "mode = \"m\"\nlabels = { a = other.r.x, c = 1 }", `{` + id + `,"labels":{"a":"b","c":"1"},"mode":"m","status":"up"}`, `{` + id + `,"labels":{"c":"1"},"mode":"m","status":"up"}`, "/labels/a"},
		"Object":  {"what only the provider sets stays in an object", "mode = \"m\"\nlimits = { cpu = 3 }", `{` + id + `,"limits":{"burst":2,"cpu":3},"mode":"m","status":"up"}`, `{` + id + `,"limits":{"burst":2,"cpu":3},"mode":"m","status":"up"}`, ""},
		"Block":   {"and in blocks, as many as there are", "mode = \"m\"\ndisk {\n size = 2\n}", `{"disk":[{"cache":"c","path":"/a","size":2}],` + id + `,"mode":"m","status":"up"}`, `{"disk":[{"path":"/a","size":2}],` + id + `,"mode":"m","status":"up"}`, "/disk/0/cache"},
		"Blocks":  {"of more blocks it is not known which is which", "mode = \"m\"\ndisk {\n size = 2\n cache = \"d\"\n}\ndisk {\n size = 2\n cache = \"d\"\n}", `{"disk":[{"cache":"c","path":"/a","size":1}],` + id + `,"mode":"m","status":"up"}`, `{` + id + `,"mode":"m","status":"up"}`, "/disk"},
		"Lists":   {"of a longer list nothing but its elements is to be known", "mode = \"m\"\norder = [\"a\", other.r.x]", `{` + id + `,"mode":"m","order":["a",null],"status":"up"}`, `{` + id + `,"mode":"m","order":["a",null],"status":"up"}`, "/order/1"},
		"Set":     {"nor in a set", "mode = \"m\"\nrule {\n port = 2\n}", `{` + id + `,"mode":"m","rule":[{"id":"r","port":1}],"status":"up"}`, `{` + id + `,"mode":"m","status":"up"}`, "/rule"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i, _ := planOf(t, before, after, "name", "size", "disk", "mode", "limits", "rule", "labels", "order")
			with, without, unknown := i.Form.Overlay(*i.Whole.Recorded, i.Form.Arrange(written(t, tc.body)))
			got := []string{with.Public().String(), without.Public().String(), pathTexts(unknown)}
			if diff := cmp.Diff([]string{tc.with, tc.without, tc.unknown}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	i, _ := planOf(t, before, after)
	if with, without, unknown := i.Form.Overlay(*i.Whole.Recorded, unarranged()); !with.Equal(*i.Whole.Recorded) || len(without.Fields()) > 0 || pathTexts(unknown) != "/" {
		t.Errorf("nothing is known: with %s, without %s, unknown %s", with.Public(), without.Public(), pathTexts(unknown))
	}
}
