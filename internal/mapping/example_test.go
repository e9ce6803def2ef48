package mapping_test

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	aws "github.com/driftd/driftd/internal/collectors/aws/normalize"
	netbox "github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
	openstack "github.com/driftd/driftd/internal/openstackapi/normalize"
	"github.com/driftd/driftd/internal/pveapi/normalize"
	"github.com/driftd/driftd/internal/secret"
)

// Each document of testdata/examples is a freshly applied instance with the API's answer for
// its live resource, and edits of that answer with the attributes that they change, each with
// its live path.

// room seals the claims and the live resources, as an engine does.
func room() *secret.Room {
	return secret.New(model.NewSealer([]byte("installation")), secret.Options{})
}

func sealer() model.Sealer { return room().Sealer() }

func load(t testing.TB, folders ...string) *mapping.Tables {
	t.Helper()
	tables, err := mapping.Load(folders...)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

func documents(t testing.TB, file string) []decode.Document {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := decode.YAML(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return docs
}

func TestFreshlyAppliedIsInSync(t *testing.T) {
	t.Parallel()
	tables := load(t)
	files, err := filepath.Glob("testdata/examples/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, file := range files {
		for _, doc := range documents(t, file) {
			provider, name := doc.Value.At("provider").Text(), doc.Value.At("type").Text()
			typ, ok := tables.Find("registry.example.org/"+provider, name)
			if !ok {
				t.Errorf("%s:%d: no table speaks of %s", file, doc.Line, name)
				continue
			}
			shown[typ.Provider()+" "+typ.Like()] = true
			t.Run(name+" "+doc.Value.At("claims").Text(), func(t *testing.T) {
				t.Parallel()
				newExample(t, doc.Value, typ).check()
			})
		}
	}
	for _, typ := range tables.Types() {
		if _, none := typ.NoLiveSide(); !none && !typ.ComparedByPlan() && !shown[typ.Provider()+" "+typ.Like()] {
			t.Errorf("%s has no example: write one into testdata/examples", typ.Name())
		}
	}
}

// An example is one document.
type example struct {
	t      testing.TB
	typ    *mapping.Type
	doc    model.Value
	mapped mapping.Mapped
	claim  model.Claim
	// kind is that of the live resource, of Proxmox VE.
	kind *model.Kind
}

func newExample(t testing.TB, doc model.Value, typ *mapping.Type) *example {
	t.Helper()
	mapped, err := typ.Claim(sealed(doc), sealer())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := mapped.Kind+" "+mapped.ID, doc.At("claims").Text(); got != want {
		t.Errorf("claims %q, want %q", got, want)
	}
	if unmapped := typ.Unmapped(doc.At("attributes")); len(unmapped) > 0 {
		t.Errorf("no mapping for %v", unmapped)
	}
	for i, want := range doc.At("covers").Items() {
		if i >= len(mapped.Covers) || mapped.Covers[i].Kind+" "+mapped.Covers[i].ID != want.Text() {
			t.Errorf("covers %v, want %s", mapped.Covers, want)
		}
	}
	claim := model.Claim{Declaration: "state", Kind: mapped.Kind,
		ID: mapped.ID, Value: mapped.Value, Lens: mapped.Lens, RecordOnly: true, Complete: true, Template: mapped.Template}
	claim = room().Declaration(model.Declaration{Claims: []model.Claim{claim}}).Claims[0]
	return &example{t: t, typ: typ, doc: doc, mapped: mapped, claim: claim, kind: normalize.Kinds()[mapped.Kind]}
}

// sealed returns the attributes with those that the document lists as sensitive sealed, as
// the reader of a state does.
func sealed(doc model.Value) model.Value {
	attributes := doc.At("attributes")
	for _, name := range doc.At("sensitive").Items() {
		attributes = attributes.With(name.Text(), sealer().SealTree(attributes.At(name.Text())))
	}
	return attributes
}

func (e *example) check() {
	e.t.Helper()
	if got := e.differences(e.doc.At("live")); len(got) > 0 {
		e.t.Errorf("freshly applied, but differs in %v\nview %s\nstate %s", got,
			e.claim.Lens.View(e.shape(e.doc.At("live"))).AppendJSON(nil), e.claim.Value.AppendJSON(nil))
	}
	if known := e.identities(); !e.hasIdentities(known) {
		e.t.Errorf("known live by %v, claimed by %v", known, e.mapped.Identities)
	}
	edits := e.doc.At("edits").Items()
	if len(edits) == 0 {
		e.t.Error("no edit shows that drift is seen")
	}
	for _, edit := range edits {
		live := e.doc.At("live")
		for _, f := range edit.At("set").Fields() {
			live = live.With(f.Name, f.Value)
		}
		want, got := map[string]string{}, e.differences(live)
		for _, f := range edit.At("shows").Fields() {
			want[f.Name] = f.Value.Text()
			if _, ok := got[f.Name]; ok && f.Value.IsNull() {
				// A removed field has no path in the live resource.
				got[f.Name] = ""
			}
		}
		if d := gocmp.Diff(want, got); d != "" {
			e.t.Errorf("after %s (-want +got):\n%s", edit.At("set"), d)
		}
		e.checkReadBack(live)
	}
}

// checkReadBack checks that an instance that the provider read back is in sync, except for
// values that no attribute can declare.
func (e *example) checkReadBack(raw model.Value) {
	e.t.Helper()
	read := *e
	view := e.claim.Lens.View(e.shape(raw))
	for _, f := range e.doc.At("attributes").Fields() {
		// A state has every attribute, if only as null.
		view = view.With(f.Name, view.At(f.Name))
	}
	read.claim.Value = room().Again(e.claim.Kind, e.typ.Declared(view, sealer()))
	for path := range read.differences(raw) {
		attribute := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' })[0]
		if !e.claim.Lens.Schema().Field(attribute).Stray {
			e.t.Errorf("read back, but differs in %s", path)
		}
	}
}

// shape converts a row to the form that the engine uses.
func (e *example) shape(raw model.Value) model.Value {
	return room().Value(e.claim.Kind, e.collected(raw))
}

// collected converts a row to the form of its kind's collector.
func (e *example) collected(raw model.Value) model.Value {
	switch typ, _, _ := strings.Cut(e.claim.Kind, "/"); typ {
	case netbox.Type:
		return e.object(raw).Value
	case aws.Type:
		// Its answers are XML: the examples hold the parsed form.
		return raw
	case openstack.Type:
		return e.joined(raw)
	case "proxmox":
		return normalize.New(sealer()).Object(e.claim.Kind, raw)
	}
	e.t.Fatalf("no collector converts a row of kind %s here: add it", e.claim.Kind)
	return model.Value{}
}

func (e *example) object(raw model.Value) netbox.Object {
	e.t.Helper()
	id, _ := model.NumberOf(e.claim.ID)
	for _, kind := range netbox.Kinds() {
		if kind.Name != e.claim.Kind {
			continue
		}
		object, err := netbox.New(sealer(), netbox.Version{Major: 4, Minor: 6}, nil).Object(kind, raw.With("id", id))
		if err != nil {
			e.t.Fatal(err)
		}
		return object
	}
	e.t.Fatalf("no kind %s is read", e.claim.Kind)
	return netbox.Object{}
}

// hasIdentities reports whether the claim has the identities of the live resource: for an object of
// NetBox or OpenStack all of them, for a guest its number, its first MAC address if the type
// has one, and its name.
func (e *example) hasIdentities(live []model.Identity) bool {
	claimed := e.mapped.Identities
	if strings.HasPrefix(e.claim.Kind, netbox.Type+"/") || strings.HasPrefix(e.claim.Kind, openstack.Type+"/") {
		return len(claimed) == 0 || gocmp.Diff(live, claimed) == ""
	}
	if len(claimed) == 0 {
		return len(live) == 0
	}
	return claimed[0].By == "vmid" && claimed[len(claimed)-1].By == "name" && !slices.ContainsFunc(claimed, func(id model.Identity) bool { return !slices.Contains(live, id) })
}

// identities returns the identities that the collector gives the live resource.
func (e *example) identities() []model.Identity {
	switch typ, _, _ := strings.Cut(e.claim.Kind, "/"); typ {
	case netbox.Type:
	case openstack.Type:
		return e.thing(e.doc.At("live")).Identities
	default:
		return e.guestIdentities()
	}
	known := e.object(e.doc.At("live")).Identities
	// The claim's most certain identity is first.
	slices.SortFunc(known, func(a, b model.Identity) int { return cmp.Compare(b.By, a.By) })
	return known
}

// guestIdentities returns a guest's number, the MAC addresses of its row in upper case, and
// its name in lower case.
func (e *example) guestIdentities() []model.Identity {
	if e.claim.Kind != "proxmox/qemu" && e.claim.Kind != "proxmox/lxc" {
		return nil
	}
	known := []model.Identity{{By: "vmid", Value: e.claim.ID}}
	live := e.shape(e.doc.At("live"))
	for _, f := range live.Fields() {
		if mac := cmp.Or(f.Value.At("macaddr").Str(), f.Value.At("hwaddr").Str()); strings.HasPrefix(f.Name, "net") && mac != "" {
			known = append(known, model.Identity{By: "mac", Value: strings.ToUpper(mac)})
		}
	}
	return append(known, model.Identity{By: "name", Value: strings.ToLower(cmp.Or(live.At("name").Str(), live.At("hostname").Str()))})
}

// differences returns the paths that differ, each with its live path.
func (e *example) differences(raw model.Value) map[string]string {
	s := &model.Subject{Live: &model.Resource{Value: e.shape(raw)}, Claims: []*model.Claim{&e.claim}, Kind: e.kind}
	if template := e.doc.At("template"); !template.IsNull() {
		s.Template = &model.Resource{Value: e.shape(template)}
	}
	found := map[string]string{}
	for _, outcome := range diff.Compare(s, diff.Options{}) {
		for _, c := range outcome.Changes {
			found[c.Path] = c.LivePath
		}
	}
	return found
}
