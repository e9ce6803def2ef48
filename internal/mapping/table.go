package mapping

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/model"
)

// document reads a whole file.
func (r *reader) document(n *yaml.Node) {
	var providers []string
	var types *yaml.Node
	r.mapping(n, "a table", keys{
		"provider": r.texts(&providers),
		"types":    func(n *yaml.Node) { types = n },
		// shared is for anchors only.
		"shared": func(*yaml.Node) {},
	})
	address := regexp.MustCompile(`^[^/\s]+/[^/\s]+$`)
	if len(providers) == 0 || slices.ContainsFunc(providers, func(p string) bool { return !address.MatchString(p) }) {
		r.fail(n, "provider must be namespace/name, such as bpg/proxmox, or a list of such")
		return
	}
	for i, provider := range providers {
		providers[i] = strings.ToLower(provider)
	}
	if types != nil {
		r.each(types, "types", func(name string, _, value *yaml.Node) { r.typ(providers, name, value) })
		r.checkParts(types, providers)
	}
}

// typ reads one type and adds it to the tables, under all its names and those of its provider.
func (r *reader) typ(providers []string, name string, n *yaml.Node) {
	t := &Type{provider: providers[0]}
	var aliases []string
	var extend bool
	var attributes, found, forms *yaml.Node
	w := &wholeNode{}
	r.blocks, r.stripped = map[*yaml.Node][]attribute{}, false
	mistakes := len(r.errs)
	r.mapping(n, "type "+name, keys{
		"aliases": r.texts(&aliases), "extend": r.flag(&extend), "none": r.text(&t.none), "kind": r.text(&t.kind),
		"id": func(n *yaml.Node) { t.ids = r.alternatives(n) }, "place": r.template(&t.place), "name": r.template(&t.called),
		"template": r.reference(&t.made), "covers": func(n *yaml.Node) { t.covers = r.covers(n) },
		"import": r.template(&t.imported), "whole": w.read(r), "local": r.patterns(&t.local),
		"identities": func(n *yaml.Node) { t.knownBy = r.identities(n) }, "fills": func(n *yaml.Node) { t.fills = r.fills(n) },
		"replaces":    func(n *yaml.Node) { t.replaces = r.replaces(n) },
		"parts":       func(n *yaml.Node) { t.parts = r.parts(n) },
		"by_identity": r.flag(&t.byIdentity), "also": r.texts(&t.also),
		"unlisted": func(n *yaml.Node) {
			r.mapping(n, "unlisted", keys{"if": r.text(&t.unlisted.onlyIf), "reason": r.text(&t.unlisted.reason)})
		},
		"compare": r.compare(&t.byPlan), "children": func(n *yaml.Node) { t.children = byName(r, n, "children", r.text) },
		"stands_for": func(n *yaml.Node) { t.stands = r.stands(n) }, "logged": r.template(&t.logged),
		"only_known": r.flag(&t.onlyKnown), "stripped": r.flag(&r.stripped),
		"find":       func(n *yaml.Node) { found = n },
		"attributes": func(n *yaml.Node) { attributes = n },
		"forms":      func(n *yaml.Node) { forms = n },
	})
	searches := map[string]*slots{}
	if found != nil {
		r.each(found, "find", func(name string, _, value *yaml.Node) { searches[name] = r.search(value) })
	}
	w.search(r, searches)
	var own map[string]attribute
	if attributes != nil {
		own = r.attributes(attributes, searches)
	}
	if forms != nil {
		t.forms = r.forms(forms, searches, own, w)
	}
	if extend {
		r.extend(n, t, name, own, w)
	}
	if len(r.errs) > mistakes {
		return
	}
	r.finish(n, t, own, w)
	for _, each := range append([]string{name}, aliases...) {
		named := *t
		named.name, named.like = each, name
		r.tables.put(&named, providers)
	}
}

// put adds a type under all names of its provider.
func (t *Tables) put(typ *Type, providers []string) {
	for _, provider := range providers {
		t.own[typeKey{provider, typ.name}] = typ
	}
}

// finish checks a type and creates its lens.
func (r *reader) finish(n *yaml.Node, t *Type, attributes map[string]attribute, w *wholeNode) {
	switch {
	case t.none != "" && t.kind == "":
		return
	case t.none != "":
		r.fail(n, "a type has either kind or none, not both")
	case !regexp.MustCompile(`^[^/]+/[^/]+$`).MatchString(t.kind):
		r.fail(n, "kind must be system/kind, such as proxmox/qemu; for a type without a live side, set none to the reason")
	case len(t.ids) == 0 && t.stands == nil:
		r.fail(n, "id is missing: add a template of the live resource's id")
	}
	if len(t.forms) == 0 {
		t.forms = []form{{lens: newLens(sortedAttributes(attributes), w.compile())}}
	}
	if u := t.unlisted; u != (unlisted{}) && (u.onlyIf == "" || u.reason == "" || !t.byIdentity) {
		r.fail(n, "unlisted needs if, reason, and a type with by_identity: true")
	}
	r.checkReplaces(n, t)
	r.checkByPlan(n, t)
}

// checkByPlan checks the keys of types that a plan compares.
func (r *reader) checkByPlan(n *yaml.Node, t *Type) {
	switch {
	case t.byPlan && (len(t.forms) != 1 || len(t.forms[0].lens.attributes) > 0 || t.forms[0].lens.whole != nil || len(t.fills)+len(t.parts)+len(t.replaces) > 0):
		r.fail(n, "a type with compare: plan has an identity only: remove attributes, forms, whole, fills, parts and replaces")
	case !t.byPlan && (t.children != nil || t.stands != nil):
		r.fail(n, "children and stands_for are for types with compare: plan")
	}
}

// compare reads the value of the key compare.
func (r *reader) compare(byPlan *bool) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var by string
		if r.text(&by)(n); by != "plan" {
			r.fail(n, "compare must be plan, or left out")
		}
		*byPlan = true
	}
}

// forms reads the forms of a type. The common attributes are added to each.
func (r *reader) forms(n *yaml.Node, searches map[string]*slots, common map[string]attribute, w *wholeNode) []form {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.fail(n, "forms must be a list")
		return nil
	}
	forms := make([]form, len(n.Content))
	for i, item := range n.Content {
		own := maps.Clone(common)
		if own == nil {
			own = map[string]attribute{}
		}
		r.mapping(item, "a form", keys{
			"with": r.text(&forms[i].with), "using": r.text(&forms[i].using), "given": r.conditions(&forms[i].given),
			"attributes": func(n *yaml.Node) { maps.Copy(own, r.attributes(n, searches)) },
		})
		if last := i == len(forms)-1; last != (forms[i].with == "" && forms[i].using == "" && forms[i].given == nil) {
			r.fail(item, "every form but the last needs with, using or given, and the last one none")
		}
		forms[i].lens = newLens(sortedAttributes(own), w.compile())
	}
	return forms
}

// extend merges the definition t into the existing definition of the type.
func (r *reader) extend(n *yaml.Node, t *Type, name string, own map[string]attribute, w *wholeNode) {
	old, ok := r.tables.find(typeKey{t.provider, name})
	if !ok || len(old.forms) != 1 {
		r.fail(n, "extend: no earlier table has a type %s with a kind and without forms", name)
		return
	}
	if own == nil {
		own = map[string]attribute{}
	}
	t.kind, t.made, t.unlisted = cmp.Or(t.kind, old.kind), cmp.Or(t.made, old.made), cmp.Or(t.unlisted, old.unlisted)
	if t.children == nil {
		t.children = old.children
	}
	t.ids, t.knownBy, t.stands = orElse(t.ids, old.ids), orElse(t.knownBy, old.knownBy), orElse(t.stands, old.stands)
	t.place, t.called, t.logged = orElse(t.place, old.place), orElse(t.called, old.called), orElse(t.logged, old.logged)
	t.onlyKnown, t.byIdentity, t.byPlan = t.onlyKnown || old.onlyKnown, t.byIdentity || old.byIdentity, t.byPlan || old.byPlan
	t.also = append(slices.Clone(old.also), t.also...)
	t.fills = append(slices.Clone(old.fills), t.fills...)
	t.covers = append(slices.Clone(old.covers), t.covers...)
	t.parts = append(slices.Clone(old.parts), t.parts...)
	t.replaces = append(t.inherited(old.replaces), t.replaces...)
	t.local = append(slices.Clone(old.local), t.local...)
	for _, a := range old.forms[0].lens.attributes {
		if _, again := own[a.name]; !again && !t.isLocal(a.name) {
			own[a.name] = a
		}
	}
	w.inherit(old.forms[0].lens.whole)
}

// orElse returns the first of two lists that is not empty.
func orElse[T ~[]E, E any](mine, old T) T {
	if len(mine) == 0 {
		return old
	}
	return mine
}

func (r *reader) patterns(to *[]string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.texts(to)(n)
		for _, pattern := range *to {
			_, err := path.Match(pattern, "")
			r.check(n, err)
		}
	}
}

// alternatives reads one template of an id, or a list of alternatives.
func (r *reader) alternatives(n *yaml.Node) []template {
	var texts []string
	r.texts(&texts)(n)
	templates := make([]template, len(texts))
	for i, text := range texts {
		t, err := parseTemplate(text)
		r.check(n, err)
		templates[i] = t
	}
	return templates
}

func (r *reader) reference(to **reference) func(*yaml.Node) {
	return func(n *yaml.Node) {
		*to = &reference{}
		r.mapping(n, "template", keys{"kind": r.text(&(*to).kind), "id": r.template(&(*to).id), "name": r.template(&(*to).name)})
	}
}

func (r *reader) covers(n *yaml.Node) []cover {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "covers must be a list")
		return nil
	}
	covers := make([]cover, len(n.Content))
	for i, item := range n.Content {
		c := &covers[i]
		r.mapping(item, "covers", keys{"kind": r.text(&c.kind), "id": r.template(&c.id), "each": r.text(&c.each), "if": r.text(&c.onlyIf)})
	}
	return covers
}

func (r *reader) identities(n *yaml.Node) []identity {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "identities must be a list")
		return nil
	}
	identities := make([]identity, len(n.Content))
	for i, item := range n.Content {
		known := &identities[i]
		r.mapping(item, "an identity", keys{"by": r.text(&known.by), "is": r.template(&known.is), "upper": r.flag(&known.upper),
			"lower": r.flag(&known.lower), "if": r.text(&known.onlyIf)})
	}
	return identities
}

func (r *reader) fills(n *yaml.Node) []fill {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "fills must be a list")
		return nil
	}
	fills := make([]fill, len(n.Content))
	for i, item := range n.Content {
		f := &fills[i]
		r.mapping(item, "fills", keys{"kind": r.text(&f.kind), "id": r.template(&f.id), "each": r.text(&f.each), "attributes": r.texts(&f.attributes),
			"with": r.text(&f.with), "is": r.template(&f.is), "block": func(n *yaml.Node) { f.block = byName(r, n, "block", r.template) }, "sum": r.flag(&f.sum),
			"through": r.reference(&f.through)})
	}
	return fills
}

// byName reads the values of a mapping with any keys.
func byName[T any](r *reader, n *yaml.Node, what string, read func(*T) func(*yaml.Node)) map[string]T {
	all := map[string]T{}
	r.each(n, what, func(name string, _, value *yaml.Node) {
		var v T
		read(&v)(value)
		all[name] = v
	})
	return all
}

func (r *reader) search(n *yaml.Node) *slots {
	s := &slots{}
	r.mapping(n, "a search", keys{"slots": r.texts(&s.prefixes), "where": r.conditions(&s.where), "except": r.conditions(&s.except)})
	return s
}

// wholeNode is the value of the key whole.
type wholeNode struct {
	set      bool
	node     *yaml.Node
	ignore   []string
	defaults map[string]model.Value
	only     map[string][]string
	found    map[string]string
	searches map[string]*slots
	parts    []string
}

func (w *wholeNode) read(r *reader) func(*yaml.Node) {
	return func(n *yaml.Node) {
		w.set = true
		r.mapping(n, "whole", keys{"ignore": r.texts(&w.ignore), "defaults": func(n *yaml.Node) { w.defaults = r.values(n) },
			"only":  func(n *yaml.Node) { w.only = byName(r, n, "only", r.texts) },
			"parts": r.texts(&w.parts),
			"found": func(n *yaml.Node) { w.found = byName(r, n, "found", r.text) }})
		w.node = n
	}
}

// search resolves the names of searches in found.
func (w *wholeNode) search(r *reader, searches map[string]*slots) {
	for _, attribute := range slices.Sorted(maps.Keys(w.found)) {
		s, ok := searches[w.found[attribute]]
		if !ok {
			r.fail(w.node, "found: no search of find has the name %s", w.found[attribute])
			continue
		}
		if w.searches == nil {
			w.searches = map[string]*slots{}
		}
		w.searches[attribute] = s
	}
}

func (w *wholeNode) inherit(old *whole) {
	if old == nil {
		return
	}
	w.set = true
	w.ignore = append(w.ignore, slices.Sorted(maps.Keys(old.known))...)
	merged := maps.Clone(old.defaults)
	if merged == nil {
		merged = map[string]model.Value{}
	}
	maps.Copy(merged, w.defaults)
	w.defaults = merged
	if w.only == nil {
		w.only = old.only
	}
	if w.searches == nil {
		w.searches = old.found
	}
	if w.parts == nil {
		w.parts = old.partsExcept
	}
}

func (w *wholeNode) compile() *whole {
	if !w.set {
		return nil
	}
	compiled := &whole{known: map[string]bool{}, defaults: w.defaults, only: w.only, found: w.searches, partsExcept: w.parts}
	for _, name := range w.ignore {
		if prefix, numbered := strings.CutSuffix(name, "#"); numbered {
			compiled.indexed = append(compiled.indexed, &slots{prefixes: []string{prefix}})
		}
		compiled.known[name] = true
	}
	return compiled
}
