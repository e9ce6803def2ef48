package kube

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// The schemas of a plain API server, v1.36.3, made by the compact command.
//
//go:embed openapi.json.gz
var openapiGZ []byte

// semantics.json has the parts of the API that the published schemas lack: defaults,
// allocated values, the meaning of list order, and which fields with a value of the server
// are no pointers in its Go types, so that it reads a declared zero as unset. They are from
// the API reference and a real API server.
//
//go:embed semantics.json
var semanticsJSON []byte

// builtinSchemas returns the document of the embedded schemas.
var builtinSchemas = sync.OnceValues(func() (model.Value, error) {
	z, err := gzip.NewReader(bytes.NewReader(openapiGZ))
	if err != nil {
		return model.Value{}, err
	}
	document, err := io.ReadAll(z)
	if err != nil {
		return model.Value{}, err
	}
	return decode.JSON(document)
})

// semantics returns the document of semantics.json.
var semantics = sync.OnceValues(func() (model.Value, error) { return decode.JSON(semanticsJSON) })

// builtinKinds returns the kinds of the embedded schemas, by name.
var builtinKinds = sync.OnceValues(func() (map[string]*model.Kind, error) {
	root, err := builtinSchemas()
	if err != nil {
		return nil, fmt.Errorf("read built-in schemas: %w", err)
	}
	return kindsFrom(root)
})

// Builtin returns the built-in kinds of an API server, with their schemas, by name. It decodes the
// embedded schemas on the first call. The caller may modify the map, but not the kinds, which are
// shared.
func Builtin() (map[string]*model.Kind, error) {
	kinds, err := builtinKinds()
	return maps.Clone(kinds), err
}

// KindsFromOpenAPI decodes the document of one group and version of /openapi/v3 and returns its
// kinds by name, with Namespaced, Version (as in apiVersion), Schema and Severities set.
func KindsFromOpenAPI(document []byte) (map[string]*model.Kind, error) {
	root, err := decode.JSON(document)
	if err != nil {
		return nil, fmt.Errorf("decode openapi document: %w", err)
	}
	return kindsFrom(root)
}

// kindsFrom returns the kinds of a decoded document, by name.
func kindsFrom(root model.Value) (map[string]*model.Kind, error) {
	reader, err := newSchemaReader(root.At("components", "schemas"))
	if err != nil {
		return nil, err
	}
	namespaced := namespacedKinds(root.At("paths"))
	kinds := map[string]*model.Kind{}
	for _, f := range root.At("components", "schemas").Fields() {
		gvks := f.Value.At("x-kubernetes-group-version-kind").Items()
		if _, object := f.Value.At("properties").Get("metadata"); len(gvks) != 1 || !object || strings.HasSuffix(f.Name, "List") {
			continue
		}
		apiVersion, name := versionAndKind(gvks[0])
		if have := kinds[name]; have == nil || have.Version < apiVersion {
			schema := reader.definition(f.Name)
			if reader.isBuiltin(f.Name, gvks[0]) {
				// Admission fills in so much of a bare pod that only the record of
				// writers shows what was added.
				schema.Filled = name == KindName("v1", "Pod")
				schema.Closed = !schema.Filled
				if schema.Filled {
					reader.scheduled(schema)
				}
			}
			kind := NewKind(name, apiVersion, namespaced[name])
			kind.Schema, kind.Watched = schema, watches(name) != nil
			kinds[name] = kind
		}
	}
	return kinds, nil
}

// NewKind returns a kind without a schema.
func NewKind(name, apiVersion string, namespaced bool) *model.Kind {
	return &model.Kind{Name: name, Version: apiVersion, Namespaced: namespaced, Labels: "metadata.labels", Severities: severities(name), Exposed: exposed(name),
		Uncounted: []string{"metadata", "status"},
		Unowned:   "kubectl scale leaves none after a server-side apply, nor does an edit of managedFields"}
}

func versionAndKind(gvk model.Value) (apiVersion, kind string) {
	apiVersion = gvk.At("version").Str()
	if group := gvk.At("group").Str(); group != "" {
		apiVersion = group + "/" + apiVersion
	}
	return apiVersion, KindName(apiVersion, gvk.At("kind").Str())
}

// namespacedKinds finds the kinds that are created inside namespaces.
func namespacedKinds(paths model.Value) map[string]bool {
	kinds := map[string]bool{}
	for _, p := range paths.Fields() {
		if strings.Contains(p.Name, "/namespaces/{namespace}/") {
			if gvk, ok := p.Value.At("post").Get("x-kubernetes-group-version-kind"); ok {
				_, name := versionAndKind(gvk)
				kinds[name] = true
			}
		}
	}
	return kinds
}

// KindsFromCRD returns the kinds that a CustomResourceDefinition defines, by name, with the schema
// of the storage version. It returns nil for any other object.
func KindsFromCRD(object model.Value) map[string]*model.Kind {
	if object.At("kind").Str() != "CustomResourceDefinition" {
		return nil
	}
	return kindsOf(object.At("spec"))
}

// kindsOf returns the kinds that the specification of a definition defines.
func kindsOf(spec model.Value) map[string]*model.Kind {
	for _, version := range spec.At("versions").Items() {
		if version.At("storage").Text() != "true" {
			continue
		}
		reader, err := newSchemaReader(model.Value{})
		if err != nil {
			return nil
		}
		apiVersion := spec.At("group").Str() + "/" + version.At("name").Str()
		name := KindName(apiVersion, spec.At("names", "kind").Str())
		schema := reader.schema(version.At("schema", "openAPIV3Schema"))
		reader.set(schema, "metadata", func(m *model.Schema) { m.Fields = reader.metadata() })
		kind := NewKind(name, apiVersion, spec.At("scope").Str() == "Namespaced")
		kind.Schema, kind.CompatibleVersions = schema, alike(spec)
		return map[string]*model.Kind{name: kind}
	}
	return nil
}

// A schemaReader turns OpenAPI v3 schemas into ours. Definitions are made
// once, so that recursive ones end.
type schemaReader struct {
	definitions model.Value
	builtin     model.Value
	semantics   model.Value
	made        map[string]*model.Schema
	// open are the schemas of definitions that are being read.
	open map[*model.Schema]bool
}

func newSchemaReader(definitions model.Value) (*schemaReader, error) {
	meanings, err := semantics()
	if err != nil {
		return nil, fmt.Errorf("read semantics: %w", err)
	}
	builtin, err := builtinSchemas()
	if err != nil {
		return nil, fmt.Errorf("read built-in schemas: %w", err)
	}
	return &schemaReader{
		definitions: definitions, builtin: builtin.At("components", "schemas"), semantics: meanings, made: map[string]*model.Schema{}, open: map[*model.Schema]bool{},
	}, nil
}

// isBuiltin reports whether a definition is that of a kind and version in the
// embedded schemas, whose defaults are known.
func (r *schemaReader) isBuiltin(name string, gvk model.Value) bool {
	gvks := r.builtin.At(name, "x-kubernetes-group-version-kind").Items()
	return len(gvks) == 1 && gvks[0].Equal(gvk)
}

// builtinPackages begin the names of the API server's own definitions. The names of
// custom resources begin with their group, such as io.k8s.networking.gateway.
var builtinPackages = []string{"io.k8s.api.", "io.k8s.apimachinery.", "io.k8s.apiextensions-apiserver.", "io.k8s.kube-aggregator."}

const definitionPrefix = "#/components/schemas/"

func (r *schemaReader) definition(name string) *model.Schema {
	if s, ok := r.made[name]; ok {
		return s
	}
	s := &model.Schema{}
	r.made[name], r.open[s] = s, true
	defer delete(r.open, s)
	if read := r.schema(r.definitions.At(name)); read != nil {
		*s = *read
	}
	switch {
	case strings.HasSuffix(name, ".api.resource.Quantity"):
		*s = model.Schema{Format: model.Quantity}
	case strings.HasSuffix(name, ".meta.v1.Duration"):
		s.Format = model.Duration
	}
	r.refine(name, s)
	return s
}

// schema decodes one node. It returns nil if the document defines nothing about it.
func (r *schemaReader) schema(v model.Value) *model.Schema {
	if parts := v.At("allOf").Items(); len(parts) == 1 {
		return r.withDefault(r.schema(parts[0]), v.At("default"))
	}
	if ref, ok := strings.CutPrefix(v.At("$ref").Str(), definitionPrefix); ok {
		return r.withDefault(r.definition(ref), v.At("default"))
	}
	s := &model.Schema{Atomic: v.At("x-kubernetes-map-type").Str() == "atomic"}
	switch {
	case v.At("format").Str() == "int-or-string" || v.At("x-kubernetes-int-or-string").Text() == "true":
		s.Format = model.IntOrString
	case v.At("format").Str() == "date-time":
		s.Format = model.Instant
	case v.At("format").Str() == "byte":
		s.Format = model.Base64
	}
	r.children(s, v)
	return r.withDefault(s, v.At("default"))
}

func (r *schemaReader) children(s *model.Schema, v model.Value) {
	if properties := v.At("properties").Fields(); len(properties) > 0 {
		s.Fields = make(map[string]*model.Schema, len(properties))
		for _, p := range properties {
			s.Fields[p.Name] = r.schema(p.Value)
		}
	}
	if each, ok := v.Get("additionalProperties"); ok && each.Kind() == model.Map {
		s.Each = r.entries(r.schema(each))
	}
	if items, ok := v.Get("items"); ok {
		s.Each = r.schema(items)
	}
	switch v.At("x-kubernetes-list-type").Str() {
	case "map":
		s.List = model.Keyed
		for _, key := range v.At("x-kubernetes-list-map-keys").Items() {
			s.Keys = append(s.Keys, key.Str())
		}
	case "set":
		s.List = model.Set
	}
}

// entries returns the schema of the values of a map with any names: an empty scalar there
// is an entry, too. A definition that contains itself there, such as that of a JSON schema, has no fields yet.
func (r *schemaReader) entries(each *model.Schema) *model.Schema {
	if each == nil || each.Fields != nil || each.Each != nil || r.open[each] {
		return each
	}
	own := *each
	own.Content = true
	return &own
}

// withDefault returns the schema with a default of its own. An empty list or map
// equals an absent one anyway; a scalar's zero is the default only where it is
// published as one.
func (r *schemaReader) withDefault(s *model.Schema, d model.Value) *model.Schema {
	if s == nil || d.IsNull() || d.Kind() >= model.List && d.IsEmpty() {
		return s
	}
	own := *s
	own.Default = &d
	return &own
}

// refine adds the parts that the published schema of a definition lacks.
func (r *schemaReader) refine(name string, s *model.Schema) {
	if !slices.ContainsFunc(builtinPackages, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
		return
	}
	r.markNewer(name, s)
	for field, below := range s.Fields {
		if below != nil && below.Each != nil && below.List == model.Ordered && len(below.Fields) == 0 && !r.lists("ordered", name, field) {
			r.set(s, field, func(f *model.Schema) { f.List = model.Bag })
		}
	}
	for _, d := range r.semantics.At("defaults", name).Fields() {
		r.setBelow(s, d.Name, func(f *model.Schema) { f.Default = &d.Value })
	}
	for _, mark := range []struct {
		section string
		set     func(*model.Schema)
	}{
		{"generated", func(f *model.Schema) { f.Generated = true }},
		{"derived", derive},
		{"content", func(f *model.Schema) { f.Content = true }},
		{"unset", func(f *model.Schema) { f.Unset = true }},
		{"volatile", func(f *model.Schema) { f.Volatile = true }},
	} {
		for _, field := range r.semantics.At(mark.section, name).Items() {
			r.set(s, field.Str(), mark.set)
		}
	}
	for _, field := range r.semantics.At("not_filled_in", name).Items() {
		r.setBelow(s, field.Str(), func(f *model.Schema) { f.Derived, f.Generated = false, false })
	}
	s.Complete = completion(name)
	for field, derive := range derivations(name) {
		r.set(s, field, func(f *model.Schema) { f.Derive = derive })
	}
	if strings.HasSuffix(name, ".meta.v1.ObjectMeta") {
		maps.Copy(s.Fields, r.metadata())
	}
	if r.lists("labels_from_template", name) {
		r.setBelow(s, "metadata.labels", func(l *model.Schema) { l.Derived, l.Each = true, &model.Schema{Extra: model.Extra{Derived: true}} })
	}
}

// derive marks a field whose value the server derives from others. It derives each entry of
// a map of strings.
func derive(field *model.Schema) {
	field.Derived = true
	if each := field.Each; each != nil && each.Content {
		own := *each
		own.Derived = true
		field.Each = &own
	}
}

// markNewer marks the fields that the embedded schema of a definition lacks.
func (r *schemaReader) markNewer(name string, s *model.Schema) {
	known := r.builtin.At(name, "properties")
	for field := range s.Fields {
		if _, ok := known.Get(field); !ok {
			r.set(s, field, func(f *model.Schema) { f.Newer = true })
		}
	}
}

// scheduled marks the fields of a pod that the scheduler and admission set; those
// of a template are set by people only.
func (r *schemaReader) scheduled(pod *model.Schema) {
	for _, name := range []string{"nodeName", "priority", "serviceAccountName"} {
		r.setBelow(pod, "spec."+name, func(f *model.Schema) { f.Derived = true })
	}
}

// metadata returns the schemas of labels and annotations.
func (r *schemaReader) metadata() map[string]*model.Schema {
	foreign, marks := r.texts("foreign"), r.texts("marks")
	labels := &model.Schema{Each: &model.Schema{Content: true}, Foreign: foreign, Marks: marks,
		Fields: map[string]*model.Schema{"kubernetes.io/metadata.name": {Volatile: true}}}
	annotations := &model.Schema{Each: &model.Schema{Content: true}, Foreign: foreign, Marks: marks,
		Fields: map[string]*model.Schema{restartedAt: {Volatile: true}, templateGeneration: {Volatile: true}}}
	return map[string]*model.Schema{"labels": labels, "annotations": annotations}
}

// lists reports whether the last of the names stands in the list that the others
// lead to.
func (r *schemaReader) lists(names ...string) bool {
	last := len(names) - 1
	return slices.ContainsFunc(r.semantics.At(names[:last]...).Items(), func(v model.Value) bool { return v.Str() == names[last] })
}

// set changes a copy of a field's schema: the field may share its definition
// with others.
func (r *schemaReader) set(s *model.Schema, field string, change func(*model.Schema)) {
	own := model.Schema{}
	if have := s.Fields[field]; have != nil {
		own = *have
	}
	change(&own)
	if s.Fields == nil {
		s.Fields = map[string]*model.Schema{}
	}
	s.Fields[field] = &own
}

// setBelow changes a copy of a field's schema; a path leads to a field below others, or below the elements of a list.
func (r *schemaReader) setBelow(s *model.Schema, path string, change func(*model.Schema)) {
	name, rest, nested := strings.Cut(path, ".")
	if !nested {
		r.set(s, name, change)
		return
	}
	r.set(s, name, func(f *model.Schema) {
		if len(f.Fields) == 0 && f.Each != nil {
			each := *f.Each
			f.Each = &each
			f = &each
		}
		f.Fields = maps.Clone(f.Fields)
		r.setBelow(f, rest, change)
	})
}

// texts returns the texts of a section of the semantics.
func (r *schemaReader) texts(section string) []string {
	var list []string
	for _, v := range r.semantics.At(section).Items() {
		list = append(list, v.Str())
	}
	return list
}
