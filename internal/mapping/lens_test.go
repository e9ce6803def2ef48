package mapping_test

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

const labTable = `
provider: acme/lab
types:
  lab_server:
    kind: lab/server
    id: "{id}"
    place: "{room}"
    name: "{title|id}"
    template: {kind: lab/server, id: "{from}"}
    covers:
      - {kind: lab/cable, id: "{id}/{.port}", each: cables}
      - {kind: lab/alarm, id: "{id}", if: alarm}
    local: ["timeout_*", id, from, alarm, room]
    whole: {ignore: [state], defaults: {mode: auto}}
    find:
      system: {slots: [drive, disk], where: {boot: true}}
    attributes:
      title: {live: title, default: untitled}
      notes: {live: notes, optional: true}
      cores: {live: cpu.cores, default: 1}
      labels: {live: labels}
      tokens: {live: tokens, sealed: true}
      hosts: {live: hosts, order: any, default: []}
      speed: {live: speed, unset: [-1, 0]}
      root: {block: object, live: $system, attributes: {slot: "@key", kind: "@prefix", number: "@number", size: size, rack: /rack}}
      cables: {block: many, live: cables, keys: [port], attributes: {port: port, length: {live: length, default: 2}}}
      drives: {block: many, slots: [drive], gaps: true, attributes: {size: {live: size, default: 0}}}
      ports: {block: named, live: ports, others: true, attributes: {up: {live: up, default: false}}}
`

func lab(t testing.TB, attributes string) mapping.Mapped {
	t.Helper()
	typ, ok := load(t, folder(t, labTable)).Find("acme/lab", "lab_server")
	if !ok {
		t.Fatal("the table is not there")
	}
	mapped, err := typ.Claim(value(t, attributes), sealer())
	if err != nil {
		t.Fatal(err)
	}
	return mapped
}

func TestClaim(t *testing.T) {
	t.Parallel()
	got := lab(t, `{"id":"s1","room":"r","from":"s0","alarm":"loud","cables":[{"port":"p1"},{"port":"p2"},{}],"timeout_x":3}`)
	got.Value, got.Lens = model.Value{}, nil
	want := mapping.Mapped{Kind: "lab/server", ID: "s1", Place: "r", Name: "s1", Template: model.Ref{Kind: "lab/server", ID: "s0"},
		Covers: []model.Ref{{Kind: "lab/cable", ID: "s1/p1"}, {Kind: "lab/cable", ID: "s1/p2"}, {Kind: "lab/alarm", ID: "s1"}}}
	if d := gocmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	bare := lab(t, `{"id":"s1","title":"web"}`)
	if bare.Name != "web" || bare.Place != "" || bare.Template != (model.Ref{}) || bare.Covers != nil {
		t.Errorf("what the instance does not say is not known, got %+v", bare)
	}
}

func TestClaimNeedsAnID(t *testing.T) {
	t.Parallel()
	tables := load(t)
	vm, _ := tables.Find("bpg/proxmox", "proxmox_virtual_environment_vm")
	if _, err := vm.Claim(value(t, `{"name":"x"}`), sealer()); err == nil || !strings.Contains(err.Error(), "attribute id is not set") {
		t.Errorf("got %v, want the attribute that is missing", err)
	}
	applier, _ := tables.Find("bpg/proxmox", "proxmox_sdn_applier")
	if _, err := applier.Claim(value(t, `{"id":"1"}`), sealer()); err == nil || !strings.Contains(err.Error(), "no live side") {
		t.Errorf("got %v, want that there is no live side", err)
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	mapped := lab(t, `{"id":"s1"}`)
	live := value(t, `{"title":"a","cpu":{"cores":4},"speed":-1,"drive3":{"size":9,"boot":true},"drive1":{"size":5},"disk0":{"boot":true},"rack":"R","state":"up","mode":"auto","extra":{"x":1},
		"cables":[{"port":"p1"}],"ports":{"e1":{"up":true},"e0":{}}}`)
	want := `{"cables":[{"length":2,"port":"p1"}],"cores":4,"drives":[{"size":0},{"size":5},{"size":0},{"size":9}],"extra":{"x":1},"hosts":[],"mode":"auto",` +
		`"ports":{"e0":{"up":false},"e1":{"up":true}},"root":{"kind":"drive","number":3,"rack":"R","size":9,"slot":"drive3"},"title":"a"}`
	if d := gocmp.Diff(want, string(mapped.Lens.View(live).AppendJSON(nil))); d != "" {
		t.Error(d)
	}
	for path, want := range map[string]string{
		"title": "title", "cores": "cpu.cores", "root.size": "drive3.size", "root.slot": "drive3", "root.rack": "rack", "root": "drive3",
		"drives[3].size": "drive3.size", "drives[1]": "drive1", "drives[0]": "drive0", "drives[9].size": "", "drives": "",
		"drives[-6].size": "drive5.size", "drives[-4].size": "", "drives.drive7.size": "drive7.size", "drives.other.size": "", "cables[-1].port": "",
		"cables[0].port": "cables[0].port", "cables[5]": "", "cables": "cables", "ports.e1.up": "ports.e1.up", `ports["e/7"].up`: `ports["e/7"].up`,
		`labels["a.b/c"]`: `labels["a.b/c"]`, "hosts[1]": "hosts[1]", "hosts[=x]": "hosts",
		"mode": "mode", "extra.x": "extra.x", "drives[0].colour": "", "": "", "[": "",
	} {
		if got := mapped.Lens.LivePath(live, path); got != want {
			t.Errorf("behind %s stands %q, want %q", path, got, want)
		}
	}
	if got := mapped.Lens.View(model.Value{}); got.At("title").Text() != "untitled" {
		t.Errorf("of nothing the defaults are left, got %s", got)
	}
}

func TestSecretsAreComparedAsDigests(t *testing.T) {
	t.Parallel()
	secret := sealer().Seal
	live := value(t, `{"title":"a","notes":"n","tokens":{},"cables":[{"port":"p2","length":7},{"port":"p1","length":3}],"labels":{"k":"v"}}`).
		With("tokens", model.MapOf(model.Field{Name: "t", Value: secret("token")}))
	state := value(t, `{"id":"s1","title":"a","notes":"n","tokens":{"t":"token"},"cables":[{"port":"p1","length":3},{"port":"p2","length":7}],"labels":{"k":"v"}}`)
	cables := state.At("cables").Items()
	state = state.With("notes", secret("n")).With("labels", sealer().SealTree(state.At("labels"))).
		With("cables", model.ListOf(cables[0].With("length", secret("3")), cables[1]))
	typ, _ := load(t, folder(t, labTable)).Find("acme/lab", "lab_server")
	mapped, err := typ.Claim(state, sealer())
	if err != nil {
		t.Fatal(err)
	}
	claim := &model.Claim{Value: mapped.Value, Lens: mapped.Lens, RecordOnly: true, Complete: true}
	compare := func(live model.Value) map[string]bool {
		found := map[string]bool{}
		for _, o := range diff.Compare(&model.Subject{Live: &model.Resource{Value: live}, Claims: []*model.Claim{claim}}, diff.Options{}) {
			for _, c := range o.Changes {
				found[c.Path] = c.Secret
			}
		}
		return found
	}
	if got := compare(live); len(got) != 0 {
		t.Errorf("the same secrets differ in %v", got)
	}
	edited := live.With("notes", model.StringOf("m")).With("labels", value(t, `{"k":"w"}`)).
		With("tokens", model.MapOf(model.Field{Name: "t", Value: secret("other")}))
	want := map[string]bool{"notes": true, "labels.k": true, "tokens.t": true}
	if d := gocmp.Diff(want, compare(edited)); d != "" {
		t.Error(d)
	}
}

// TestOnly verifies which live fields without an attribute a table with only compares.
func TestOnly(t *testing.T) {
	t.Parallel()
	typ, ok := load(t, folder(t, `
provider: acme/lab
types:
  lab_server:
    kind: lab/server
    id: "{id}"
    place: "{id}"
    name: "{id}"
    template: {kind: lab/server, id: "{from_id}", name: "{from}"}
    local: [id, from, from_id]
    whole: {only: {hook: [], "dev#": [device, devices], cpu: []}, defaults: {hook: none}}
    attributes: {cpu: cpu}
`)).Find("acme/lab", "lab_server")
	if !ok {
		t.Fatal("the table is not there")
	}
	const live = `{"hook":"x","dev0":"a","dev":"b","devx1":"c","cpu":2,"note":"n"}`
	for attributes, want := range map[string]string{
		`{"id":"1"}`:                            `{"cpu":2,"dev0":"a","hook":"x"}`,
		`{"id":"1","device":[],"devices":null}`: `{"cpu":2,"dev0":"a","hook":"x"}`,
		`{"id":"1","devices":[{"a":1}]}`:        `{"cpu":2,"hook":"x"}`,
	} {
		mapped, err := typ.Claim(value(t, attributes), sealer())
		if err != nil {
			t.Fatal(err)
		}
		if got := string(mapped.Lens.View(value(t, live)).AppendJSON(nil)); got != want {
			t.Errorf("%s: got %s, want %s", attributes, got, want)
		}
	}
	for attributes, want := range map[string]string{`{"id":"1","from":"base"}`: "base", `{"id":"1","from":"base","from_id":"9"}`: "9"} {
		mapped, err := typ.Claim(value(t, attributes), sealer())
		if got := mapped.TemplateName + mapped.Template.ID; err != nil || got != want {
			t.Errorf("%s: the template is %q, want %q (%v)", attributes, got, want, err)
		}
	}
}

// TestFound verifies that what a search finds is compared if the instance lacks the attribute that stands for it.
func TestFound(t *testing.T) {
	t.Parallel()
	const table = `
provider: acme/lab
types:
  lab_server:
    kind: lab/server
    id: "{id}"
    place: "{id}"
    name: "{id}"
    local: [id]
    whole: {found: {init: SEARCH}}
    find: {system: {slots: [drive], where: {boot: true}}}
    attributes: {drives: {block: many, slots: [drive], except: {boot: true}, attributes: {size: size}}, init: {block: one, attributes: {slot: {live: $system.@key, optional: true}}}}
`
	tables := load(t, folder(t, strings.Replace(table, "SEARCH", "system", 1)))
	typ, ok := tables.Find("acme/lab", "lab_server")
	if !ok {
		t.Fatal("the table is not there")
	}
	for attributes, found := range map[string]bool{`{"id":"1"}`: true, `{"id":"1","init":[]}`: true, `{"id":"1","init":[{"slot":"drive0"}]}`: false} {
		mapped, err := typ.Claim(value(t, attributes), sealer())
		if err != nil {
			t.Fatal(err)
		}
		view := mapped.Lens.View(value(t, `{"drive0":{"boot":true,"size":1},"drive1":{"size":2}}`))
		if got := view.At("drive0", "size").Equal(model.IntOf(1)); got != found || !view.At("drive1").IsNull() {
			t.Errorf("%s: got %s", attributes, view.AppendJSON(nil))
		}
		if got := mapped.Lens.Schema().Field("drive0"); found && (got == nil || !got.Stray) {
			t.Errorf("%s: the schema has %+v", attributes, got)
		}
	}
	if _, err := mapping.Load(folder(t, strings.Replace(table, "SEARCH", "none", 1))); err == nil || !strings.Contains(err.Error(), "no search of find has the name none") {
		t.Errorf("got %v", err)
	}
}
