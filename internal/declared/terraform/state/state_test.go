package state_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/state"
	"github.com/driftd/driftd/internal/model"
)

func options() state.Options {
	return state.Options{Sealer: model.NewSealer([]byte("a key of the tests"))}
}

// read returns the state, and one line per instance.
func read(document string, o state.Options) (*state.State, []string, error) {
	lines := []string{}
	s, err := state.Read(context.Background(), strings.NewReader(document), o, func(i state.Instance) error {
		lines = append(lines, show(i))
		return nil
	})
	return s, lines, err
}

func show(i state.Instance) string {
	line := i.Address + " (" + i.Provider.String() + "): " + string(i.Attributes.AppendJSON(nil))
	for _, note := range []struct {
		name string
		on   bool
	}{{"deposed " + i.Deposed, i.Deposed != ""}, {"flat", i.Flat}, {"data", i.Data}} {
		if note.on {
			line += " " + note.name
		}
	}
	return line
}

// document returns a state with these resources.
func document(resources string) string {
	return `{"version":4,"terraform_version":"1.9.8","serial":7,"lineage":"l-1","outputs":{"a":{"value":"x","type":"string"}},"resources":[` +
		resources + `],"check_results":null}` + "\n"
}

// one returns a state with one instance.
func one(instance string) string {
	return document(`{"mode":"managed","type":"lab_server","name":"web","provider":"provider[\"registry.terraform.io/driftd/lab\"]","instances":[` + instance + `]}`)
}

func TestRead(t *testing.T) {
	t.Parallel()
	const lab = `"provider":"provider[\"registry.terraform.io/driftd/lab\"]"`
	cases := map[string]struct {
		reason   string
		document string
		want     []string
	}{
		"Empty":  {"a state without resources is a state", document(""), []string{}},
		"One":    {"the common case", one(`{"schema_version":1,"attributes":{"id":"1","size":2.50,"tags":["a"],"none":null,"on":true},"private":"c2VjcmV0"}`), []string{`lab_server.web (driftd/lab): {"id":"1","none":null,"on":true,"size":2.5,"tags":["a"]}`}},
		"Count":  {"count", one(`{"index_key":0,"attributes":{}},{"index_key":1,"attributes":{}}`), []string{`lab_server.web[0] (driftd/lab): {}`, `lab_server.web[1] (driftd/lab): {}`}},
		"Each":   {"for_each, with what HCL escapes", one(`{"index_key":"k[2]\"q","attributes":{}},{"index_key":"${a} %{b} $ 100%","attributes":{}},{"index_key":"\n\t\\\u0001\u200b\ud83d\ude00é","attributes":{}},{"index_key":"","attributes":{}}`), []string{`lab_server.web["k[2]\"q"] (driftd/lab): {}`, `lab_server.web["$${a} %%{b} $ 100%"] (driftd/lab): {}`, `lab_server.web["\n\t\\\u0001\u200b😀é"] (driftd/lab): {}`, `lab_server.web[""] (driftd/lab): {}`}},
		"Beyond": {"a character beyond the basic plane that is not printed", one(`{"index_key":"\udb40\udc01","attributes":{}}`), []string{`lab_server.web["\U000e0001"] (driftd/lab): {}`}},
		"Module": {"module addresses", document(`{"module":"module.m[\"k[2]\\\"q\"].module.n[0]","mode":"managed","type":"lab_server","name":"web",` + lab + `,"instances":[{"attributes":{}}]}`), []string{`module.m["k[2]\"q"].module.n[0].lab_server.web (driftd/lab): {}`}},
		"Data":   {"data sources", document(`{"module":"module.m","mode":"data","type":"lab_lookup","name":"a",` + lab + `,"instances":[{"attributes":{}}]}`), []string{`module.m.data.lab_lookup.a (driftd/lab): {} data`}},
		"Marks":  {"a tainted object, and a deposed one with its replacement", one(`{"status":"tainted","attributes":{}},{"deposed":"0a1b2c3d","attributes":{"id":"old"}}`), []string{`lab_server.web (driftd/lab): {}`, `lab_server.web (driftd/lab): {"id":"old"} deposed 0a1b2c3d`}},
		"Own":    {"OpenTofu's providers with for_each belong to instances", document(`{"mode":"managed","type":"lab_server","name":"web","instances":[{"index_key":"a","provider":"provider[\"registry.opentofu.org/driftd/lab\"].by[\"a\"]","attributes":{}}]}`), []string{`lab_server.web["a"] (driftd/lab): {}`}},
		"Sorted": {"a state with sorted fields", `{"lineage":"l","resources":[{"instances":[{"attributes":{"a":1}}],"mode":"managed","module":"module.m","name":"web",` + lab + `,"type":"lab_server"}],"serial":1,"terraform_version":"1.0.0","version":4}`, []string{`module.m.lab_server.web (driftd/lab): {"a":1}`}},
		"Absent": {"an instance without attributes", one(`{"schema_version":0}`), []string{`lab_server.web (driftd/lab): {}`}},
		"Nulls":  {"null fields are ignored", one(`{"index_key":null,"status":null,"attributes":{},"sensitive_attributes":null,"dependencies":null}`), []string{`lab_server.web (driftd/lab): {}`}},
		"Future": {"unknown fields are skipped", one(`{"attributes":{},"identity":{"a":[1]},"identity_schema_version":1,"skip_destroy":true,"x":{"y":[{}]}}`), []string{`lab_server.web (driftd/lab): {}`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got, err := read(tc.document, options())
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReadHeader(t *testing.T) {
	t.Parallel()
	text := `{"version":4,"terraform_version":"1.9.8","serial":7,"lineage":"l-1","resources":[],"check_results":[
		{"object_kind":"check","config_addr":"check.up","status":"fail","objects":[{"object_addr":"check.up","status":"fail","failure_messages":["down"]}]},
		{"object_kind":"resource","config_addr":"lab_server.web","status":"pass","objects":[{"object_addr":"lab_server.web[0]","status":"pass"}]}]}`
	got, _, err := read(text, options())
	if err != nil {
		t.Fatal(err)
	}
	want := &state.State{TerraformVersion: "1.9.8", Lineage: "l-1", Serial: 7,
		Hash: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	record := model.StateRead{Address: "a.tfstate", Lineage: "l-1", Serial: 7, Hash: want.Hash, Version: "1.9.8"}
	if diff := cmp.Diff(record, got.Record("a.tfstate")); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func TestReadInstance(t *testing.T) {
	t.Parallel()
	text := document(`{"module":"module.m[1]","mode":"managed","type":"lab_server","name":"web","provider":"module.m.provider[\"example.org/driftd/lab\"].west",
		"instances":[{"index_key":"a","schema_version":3,"attributes":{"id":"1"},"dependencies":["lab_rule.a","module.m.lab_rule.b"],"create_before_destroy":true}]}`)
	var got []state.Instance
	_, err := state.Read(t.Context(), strings.NewReader(text), options(), func(i state.Instance) error {
		got = append(got, i)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []state.Instance{{
		Address: `module.m[1].lab_server.web["a"]`, Module: "module.m[1]", Type: "lab_server", Name: "web", Key: `["a"]`,
		Provider:   state.Provider{Host: "example.org", Namespace: "driftd", Type: "lab", Alias: "west"},
		Attributes: model.MapOf(model.Field{Name: "id", Value: model.StringOf("1")}),
	}}
	if diff := cmp.Diff(want, got, cmp.Comparer(model.Value.Equal)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	const lab = `"provider":"provider[\"registry.terraform.io/driftd/lab\"]"`
	deep := strings.Repeat(`{"a":[`, 101)
	cases := map[string]struct {
		reason   string
		document string
		want     string
	}{
		"Nothing":    {"an empty file", "", "the state is empty"},
		"Space":      {"a file of blanks", " \n", "at byte 0: the state is truncated"},
		"NoJSON":     {"something else", "PK\x03\x04", "at byte 0: invalid character 'P'"},
		"Truncated":  {"a truncated state", one(`{"attributes":{}}`)[:200], "the state is truncated"},
		"CutInText":  {"a state that is truncated in a string", `{"version":4,"lineage":"abc`, "at byte 27, /lineage: the state is truncated"},
		"Rest":       {"two states in one file", document("") + document(""), "the file continues after the state"},
		"Array":      {"no object", `[]`, "got an array, want an object"},
		"Version3":   {"Terraform 0.11", `{"version":3,"serial":1,"modules":[{"resources":{}}]}`, "the state has format 3, of Terraform 0.11 or older; run `terraform apply` with a newer version"},
		"Backend":    {"the file with the backend settings", `{"version":3,"serial":1,"backend":{"type":"s3","config":{}},"modules":[]}`, "which only has the backend settings; set the location of the state itself"},
		"Version5":   {"a newer format", `{"version":5,"terraform_version":"3.0.1","resources":{"a":1},"check_results":7}`, "the state has format 5, written by version 3.0.1, and this version of driftd reads format 4; update driftd"},
		"NoVersion":  {"some other JSON", `{"serial":1}`, "it has no version"},
		"Show":       {"the output of terraform show", `{"format_version":"1.0","values":{}}`, "use `terraform state pull`"},
		"TextAsInt":  {"a wrong type", `{"version":"4"}`, "at byte 14, /version: got a string, want a number"},
		"HalfSerial": {"a wrong type", `{"version":4,"serial":1.5}`, "/serial: want a whole number"},
		"BigSerial":  {"a number out of range", `{"version":4,"serial":99999999999999999999}`, "/serial: want a whole number"},
		"BelowZero":  {"a number out of range", `{"version":4,"serial":-1}`, "/serial: want a whole number of 0 or more"},
		"Resources":  {"a wrong type", `{"version":4,"resources":{}}`, "/resources: got an object, want an array"},
		"Mode":       {"an unknown mode", document(`{"mode":"odd","type":"a","name":"b",` + lab + `,"instances":[{}]}`), `a resource's mode is "odd"`},
		"NoName":     {"a resource without a name", document(`{"mode":"managed","type":"a",` + lab + `,"instances":[{}]}`), "a resource has no type or no name"},
		"NoProvider": {"a resource without a provider", document(`{"mode":"managed","type":"a","name":"b","instances":[{}]}`), "read the provider of a.b: not the address of a provider"},
		"Provider":   {"a broken provider", document(`{"mode":"managed","type":"a","name":"b","provider":"provider[\"a/b/c/d\"]","instances":[{}]}`), "not the address of a provider"},
		"Status":     {"an unknown status", one(`{"status":"odd"}`), `an instance's status is "odd"`},
		"Key":        {"a key of another type", one(`{"index_key":true}`), "read index_key: want a whole number or a string"},
		"HalfKey":    {"half an index", one(`{"index_key":0.5}`), "read index_key: want a whole number or a string"},
		"Twice":      {"one instance twice", one(`{},{}`), "lab_server.web is in the state twice"},
		"TwiceName":  {"one name twice", one(`{"attributes":{"a":1,"a":2}}`), "duplicate object member name"},
		"Attributes": {"attributes that are not an object", one(`{"attributes":[]}`), "the attributes of an instance are not an object"},
		"Flat":       {"flat attributes that are not strings", one(`{"attributes_flat":{"a":1}}`), "a value that is not a string"},
		"FlatList":   {"flat attributes that are a list", one(`{"attributes_flat":["a"]}`), "attributes_flat is not an object"},
		"Deep":       {"attributes nested too deeply", one(`{"attributes":` + deep), "more than 200 levels deep"},
		"DeepSkip":   {"a skipped field nested too deeply", `{"version":4,"outputs":` + strings.Repeat("[", 100_000), "exceeded max depth"},
		"DeepFlat":   {"a flat name with too many parts", one(`{"attributes_flat":{"` + strings.Repeat("a.", 1000) + `b":"1"}}`), "too many parts"},
		"Exponent":   {"a number with a huge exponent", one(`{"attributes":{"a":1e999999999}}`), "a number is out of range"},
		"Digits":     {"a number with too many digits", one(`{"attributes":{"a":0.` + strings.Repeat("1", 5000) + `}}`), "a number is out of range"},
		"UTF8":       {"invalid UTF-8", one("{\"attributes\":{\"a\":\"\xff\"}}"), "invalid UTF-8"},
		"Paths":      {"a sensitive path of unknown steps", one(`{"attributes":{},"sensitive_attributes":[[{"type":"odd","value":"a"}]]}`), "a sensitive path wants steps"},
		"PathName":   {"an attribute name that is not a string", one(`{"attributes":{},"sensitive_attributes":[[{"type":"get_attr","value":3}]]}`), "a sensitive path wants steps"},
		"PathsFlat":  {"sensitive paths that are not lists", one(`{"attributes":{},"sensitive_attributes":["a"]}`), "got a string, want an array"},
		"LateModule": {"a module after the instances", document(`{"mode":"managed","type":"a","name":"b",` + lab + `,"instances":[{}],"module":"module.m"}`), "the module follows the instances"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, err := read(tc.document, options())
			if err == nil || s != nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestReadErrorsHideSecrets(t *testing.T) {
	t.Parallel()
	for _, attributes := range []string{
		`{"password":"hunter2`, `{"password":hunter2}`, `{"password":"hunter2" "x"}`, `{"password":"hunter2\q"}`,
		`{"password":"hunter2"},"status":"hunter2x`, `["hunter2"]`, `{"a":["hunter2",}`,
	} {
		_, _, err := read(one(`{"attributes":`+attributes), options())
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want an error without the value", attributes, err)
		}
	}
}

func TestReadStops(t *testing.T) {
	t.Parallel()
	text := one(`{"index_key":0,"attributes":{}},{"index_key":1,"attributes":{}}`)
	t.Run("Callback", func(t *testing.T) {
		t.Parallel()
		enough, calls := errors.New("enough"), 0
		_, err := state.Read(t.Context(), strings.NewReader(text), options(), func(state.Instance) error {
			calls++
			return enough
		})
		if !errors.Is(err, enough) || calls != 1 {
			t.Errorf("got %v after %d calls, want the callback's own error after one", err, calls)
		}
	})
	t.Run("Context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		_, err := state.Read(ctx, strings.NewReader(text), options(), func(state.Instance) error {
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
	t.Run("Reader", func(t *testing.T) {
		t.Parallel()
		gone := errors.New("connection gone")
		broken := io.MultiReader(strings.NewReader(text[:100]), iotest.ErrReader(gone))
		_, err := state.Read(t.Context(), broken, options(), func(state.Instance) error { return nil })
		if !errors.Is(err, gone) {
			t.Errorf("got %v, want the reader's own error", err)
		}
	})
	t.Run("Size", func(t *testing.T) {
		t.Parallel()
		o := options()
		o.MaxBytes = 100
		_, err := state.Read(t.Context(), strings.NewReader(text), o, func(state.Instance) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "raise backend.max_bytes") {
			t.Errorf("got %v, want the bound", err)
		}
	})
	t.Run("Slowly", func(t *testing.T) {
		t.Parallel()
		calls := 0
		_, err := state.Read(t.Context(), iotest.OneByteReader(strings.NewReader(text)), options(), func(state.Instance) error {
			calls++
			return nil
		})
		if err != nil || calls != 2 {
			t.Errorf("byte by byte: got %d instances, %v", calls, err)
		}
	})
}

// endless generates a state of n instances without storing it.
type endless struct {
	n, next int
	rest    bytes.Buffer
}

func (e *endless) Read(p []byte) (int, error) {
	for e.rest.Len() < len(p) && e.next <= e.n {
		switch e.next {
		case 0:
			e.rest.WriteString(strings.TrimSuffix(document(`{"mode":"managed","type":"lab_server","name":"web","provider":"provider[\"registry.terraform.io/driftd/lab\"]","instances":[`), "],\"check_results\":null}\n"))
			fmt.Fprint(&e.rest, e.instance())
		case e.n:
			e.rest.WriteString(`]}],"check_results":null}`)
		default:
			fmt.Fprint(&e.rest, ",", e.instance())
		}
		e.next++
	}
	return e.rest.Read(p)
}

func (e *endless) instance() string {
	return fmt.Sprintf(`{"index_key":%d,"schema_version":0,"attributes":{"id":"%d","name":"web-%d","cores":4,"memory":2048,"on_boot":true,
		"disk":[{"interface":"virtio0","size":8,"datastore_id":"local-lvm","ssd":false,"speed":[]},{"interface":"virtio1","size":%d,"datastore_id":"local-lvm","ssd":false,"speed":[]}],
		"network_device":[{"bridge":"vmbr0","firewall":true,"mac_address":"BC:24:11:00:00:01","model":"virtio","mtu":0,"queues":0,"rate_limit":0,"vlan_id":0}],
		"description":%q,"tags":["a","b"],"password":"x%d"},"sensitive_attributes":[[{"type":"get_attr","value":"password"}]],"private":%q,"dependencies":["lab_rule.a"]}`,
		e.next, e.next, e.next, e.next, strings.Repeat("text ", 40), e.next, strings.Repeat("cHJpdmF0", 40))
}

// TestReadMemory reads a state of 20 MB, and bounds the memory in use during the
// reading and all allocations by its size.
//
//nolint:paralleltest // it measures the whole process's memory
func TestReadMemory(t *testing.T) {
	const instances = 17_000
	source := &endless{n: instances}
	size := 0
	counted := readerFunc(func(p []byte) (int, error) {
		n, err := source.Read(p)
		size += n
		return n, err
	})
	heap := func() (inUse, allocated uint64) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, m.TotalAlloc
	}
	runtime.GC()
	before, allocatedBefore := heap()
	calls, most := 0, uint64(0)
	_, err := state.Read(t.Context(), counted, options(), func(state.Instance) error {
		if calls++; calls%2000 == 0 {
			runtime.GC()
			inUse, _ := heap()
			most = max(most, inUse)
		}
		return nil
	})
	_, allocated := heap()
	if err != nil || calls != instances || size < 18<<20 {
		t.Fatalf("got %d of %d instances in %d bytes, %v", calls, instances, size, err)
	}
	if grown := int64(most) - int64(before); grown > 8<<20 {
		t.Errorf("%d MiB in use while a state of %d MiB was read; want 8 at most", grown>>20, size>>20)
	}
	if total := int(allocated - allocatedBefore); total > 10*size {
		t.Errorf("%d bytes allocated for each byte of the state; want 10 at most", total/size)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		document(""), one(`{"attributes":{"a":[1,"b",{"c":null}]},"sensitive_attributes":[[{"type":"get_attr","value":"a"},{"type":"index","value":{"value":1,"type":"number"}}]]}`),
		one(`{"attributes":{"a":{"value":["x"],"type":["tuple",["string"]]}}}`), one(`{"attributes_flat":{"a.#":"1","a.0.b":"c","t.%":"1","t.x.y":"z"}}`),
		`{"resources":[{"instances":[{}],"mode":"data","name":"n","provider":"provider.a.b","type":"t"}],"version":4}`,
		`{"serial":1,"lineage":"l","meta":{"key_provider.pbkdf2.a":"e30="},"encrypted_data":"AAAA","encryption_version":"v0"}`, `{"version":4`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o := options()
		o.Passphrases = []string{"a passphrase of the tests"}
		seen := map[string]bool{}
		s, err := state.Read(t.Context(), strings.NewReader(text), o, func(i state.Instance) error {
			if i.Attributes.Kind() != model.Map || i.Type == "" || i.Provider.Type == "" || !strings.HasSuffix(i.Address, i.Type+"."+i.Name+i.Key) {
				t.Errorf("not an instance: %+v", i)
			}
			if id := i.Address + i.Deposed; seen[id] {
				t.Errorf("%s twice", id)
			} else {
				seen[id] = true
			}
			return nil
		})
		if (s == nil) == (err == nil) {
			t.Errorf("got %v and %v", s, err)
		}
	})
}
