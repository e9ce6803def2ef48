package plan

import (
	"cmp"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
)

// Input is the input of Read.
type Input struct {
	// Plan is the plan with a refresh.
	Plan *Plan
	// RefreshOnly is a refresh-only plan that evaluates check blocks with live values. It is nil if Plan
	// evaluates them so.
	RefreshOnly *Plan
	// Schemas are the schemas of the providers in use, or nil if they are unknown. Without schemas, lists
	// are compared in order, and attributes that the configuration does not set are attributed to the
	// provider.
	Schemas *Schemas
	// Ignored maps the addresses of resources in the configuration to their ignore_changes.
	Ignored map[string]syntax.Ignored
	// Blocks maps the addresses of resources in the configuration to their blocks. A resource without an
	// entry may have any blocks.
	Blocks map[string]Blocks
	// Impure maps the addresses of resources in the configuration to their arguments that call a function
	// with a different result in each plan, such as "timestamp". Each argument is mapped to the function,
	// or to "" if it is uncertain whether the argument depends on one.
	Impure map[string]map[string]string
	// JSON reports whether the configuration contains files in JSON syntax, in which such functions may
	// have been overlooked.
	JSON bool
	// Unset maps the addresses of instances to the attributes that the configuration has an expression for, but sets to
	// null, as a plan without a refresh shows: it keeps the recorded values.
	Unset map[string]map[string]bool
	// Diagnostics are the errors that the plan reported.
	Diagnostics []Diagnostic
	// AsPlanned keeps the trees as they are in the plan. Declared and Live then differ exactly where an
	// apply changes a value, as far as the plan contains the value. The instances have neither Whole nor
	// Form, and a Schema with which an empty value differs from an absent one.
	AsPlanned bool
}

// Blocks describes the blocks of a resource, which the configuration in a plan does not contain.
type Blocks struct {
	// Names are the types of the top-level blocks. An attribute in block syntax has no expression in the
	// plan.
	Names []string
	// Dynamic are the paths of the dynamic blocks, without positions.
	Dynamic [][]string
}

// Read converts a plan to instances, sorted by address. It is pure and deterministic. It uses sealer to
// replace sensitive values by digests.
func Read(in Input, sealer model.Sealer) Result {
	r := newReader(in, sealer)
	for _, c := range in.Plan.ResourceChanges {
		if c.Mode != tfjson.DataResourceMode {
			r.add(r.instance(c))
		}
	}
	for _, d := range in.Plan.DeferredChanges {
		r.deferred(d)
	}
	r.vanished()
	r.unplanned()
	r.checks()
	slices.SortFunc(r.instances, func(a, b Instance) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Deposed, b.Deposed))
	})
	res := Result{Version: in.Plan.TerraformVersion, Complete: !in.Plan.Errored, Instances: r.instances, Varying: r.varying, Undetermined: in.JSON || r.unfollowed}
	if in.Plan.Errored {
		res.Complete, res.Reason = r.isExplained(), r.failures.summary()
	}
	return res
}

// An objectKey identifies an object. An instance has one current object and may have deposed ones.
type objectKey struct{ address, deposed string }

func keyOf(c *tfjson.ResourceChange) objectKey { return objectKey{c.Address, c.DeposedKey} }

type reader struct {
	Input
	sealer    model.Sealer
	config    map[string]*tfjson.ConfigResource
	drift     map[objectKey]*tfjson.ResourceChange
	failures  failures
	seen      map[objectKey]bool
	instances []Instance
	varying   []Varying
	// unfollowed is set if a value may be unknown because of an impure function.
	unfollowed bool
	// relatives caches the result of family.
	relatives *family
	// destroys is set for a plan that was made with -destroy.
	destroys bool
	// unlisted is set if there may be instances that neither the plan nor the state has.
	unlisted bool
}

func newReader(in Input, sealer model.Sealer) *reader {
	r := &reader{Input: in, sealer: sealer, config: configured(in.Plan.Config),
		drift: map[objectKey]*tfjson.ResourceChange{}, seen: map[objectKey]bool{}, destroys: destroysAll(in.Plan.ResourceChanges)}
	for _, c := range in.Plan.ResourceDrift {
		if c.Mode != tfjson.DataResourceMode {
			r.drift[keyOf(c)] = c
		}
	}
	r.failures = newFailures(in)
	return r
}

// isExplained reports whether the instances of a partial plan explain all its errors: each error
// belongs to an unchecked instance, and no instance is missing.
func (r *reader) isExplained() bool {
	unchecked := map[string]bool{}
	for i := range r.instances {
		if r.instances[i].Unchecked != "" {
			unchecked[r.instances[i].Address] = true
		}
	}
	return len(r.failures) > 0 && !r.unlisted &&
		!slices.ContainsFunc(r.failures, func(d Diagnostic) bool { return !unchecked[d.Address] })
}

func (r *reader) add(i Instance) {
	r.seen[objectKey{i.Address, i.Deposed}] = true
	i.Alias, i.Ignored = r.alias(i.Address), r.ignored(&i)
	r.instances = append(r.instances, i)
}

// ignored returns Instance.Ignored. Without a plan of its own, an instance has no action.
func (r *reader) ignored(i *Instance) syntax.Ignored {
	if i.Deposed != "" || i.Action != "" && i.Action != "no-op" && i.Action != "update" {
		return syntax.Ignored{}
	}
	return r.Ignored[withoutKeys(i.Address)]
}

// alias returns the provider configuration that a resource uses. A key of the plan's provider
// configurations is "proxmox.west", with the module's address before it for a configuration in a
// module.
func (r *reader) alias(address string) string {
	c := r.config[withoutKeys(address)]
	if c == nil {
		return ""
	}
	key := c.ProviderConfigKey[strings.LastIndexByte(c.ProviderConfigKey, ':')+1:]
	_, alias, _ := strings.Cut(key, ".")
	return alias
}

// describe returns an instance without its trees.
func (r *reader) describe(c *tfjson.ResourceChange) Instance {
	i := Instance{Address: c.Address, Deposed: c.DeposedKey, Module: c.ModuleAddress, Type: c.Type, Name: c.Name,
		Provider: c.ProviderName, LiveRead: true, Schema: r.Schemas.schema(c.ProviderName, c.Type)}
	if r.AsPlanned {
		i.Schema = exactSchema()
	}
	return i
}

// instance adds the instance of a planned change.
func (r *reader) instance(c *tfjson.ResourceChange) Instance {
	i := r.describe(c)
	i.Action, i.Pending, i.Previous, i.Imports = action(c), r.pending(c), c.PreviousAddress, c.Change.Importing != nil
	before := valueOf(c.Change.Before)
	n := sides{d: valueOf(c.Change.After), r: before, l: before}
	drift := r.drift[keyOf(c)]
	switch {
	case drift != nil:
		n.r, n.l = valueOf(drift.Change.Before), valueOf(drift.Change.After)
		if n.l.IsNull() && !n.d.IsNull() {
			// The removal is more important than the move.
			i.Pending = ""
		}
	case i.Action == "create":
		i.Pending = cmp.Or(i.Pending, "declared and never applied: the next apply creates it")
	}
	if i.Action == "replace" {
		i.Replaces = replacePaths(c.Change.ReplacePaths)
	}
	m := r.marksOf(i, n, c, drift)
	r.fill(&i, n, c.Change.AfterUnknown, m)
	r.addImpure(&i, valueOf(c.Change.After), c.Change.AfterUnknown, m)
	i.Unchecked = tooDeep(c, drift)
	return i
}

// vanished adds the drifted objects that were not planned: objects that are gone and no longer
// declared, and in a partial plan objects whose own plan failed. The declared value of the latter
// is unknown.
func (r *reader) vanished() {
	for _, c := range r.Plan.ResourceDrift {
		if r.seen[keyOf(c)] || c.Mode == tfjson.DataResourceMode {
			continue
		}
		i := r.describe(c)
		n := sides{r: valueOf(c.Change.Before), l: valueOf(c.Change.After)}
		if r.Plan.Errored {
			n.d = n.r
		}
		r.fill(&i, n, nil, r.marksOf(i, n, c))
		i.Unchecked = tooDeep(c)
		r.add(i)
	}
}

// fill normalizes the sides, seals them, and stores them in the instance.
func (r *reader) fill(i *Instance, n sides, unknown any, m *marks) {
	i.ID = m.shownID(n)
	if r.AsPlanned {
		n.d = r.asPlanned(i, n, unknown)
		i.Declared, i.Recorded, i.Live = m.side(r.sealer, n.d), m.side(r.sealer, n.r), m.side(r.sealer, n.l)
		return
	}
	n = r.mirrored(i, n)
	whole := r.settling(i)
	whole.computed, whole.whole = true, true
	all := whole.node(r.Schemas.shape(i.Provider, i.Type), n, unknown)
	i.Whole = Whole{m.side(r.sealer, all.d), m.side(r.sealer, all.r)}
	n = r.settle(i, n, unknown)
	if i.Action != "replace" {
		i.Unset = append(i.Unset, whole.unenforced()...)
	}
	i.Declared, i.Recorded, i.Live = m.side(r.sealer, n.d), m.side(r.sealer, n.r), m.side(r.sealer, n.l)
	i.Form = &Form{shape: r.Schemas.shape(i.Provider, i.Type), marks: m, sealer: r.sealer, schema: i.Schema,
		declared: i.Declared, recorded: i.Recorded, writes: r.settling(i).writes}
}

// side returns a sealed tree for an instance; nil for null.
func (m *marks) side(sealer model.Sealer, v model.Value) *model.Value {
	if v.IsNull() {
		return nil
	}
	v = m.seal(sealer, v)
	return &v
}

// settle makes the sides comparable. If a provider plans an update only for attributes that it sets
// itself, these attributes are compared, because they are the only difference.
func (r *reader) settle(i *Instance, n sides, unknown any) sides {
	shape, s := r.Schemas.shape(i.Provider, i.Type), r.settling(i)
	settled := s.node(shape, n, unknown)
	if i.Action != "update" && i.Action != "replace" || s.waiting || !settled.same(i.Schema) {
		return settled
	}
	s.computed = true
	all := s.node(shape, n, unknown)
	if all.same(i.Schema) && settled.d.Equal(settled.l) && !s.respelled {
		i.Pending = cmp.Or(i.Pending, "an apply would "+i.Action+" it, for attributes that only the provider sets")
	}
	return all
}

// settling returns the configuration-dependent settings for an instance.
func (r *reader) settling(i *Instance) *settling {
	resource := withoutKeys(i.Address)
	s := &settling{ignores: r.Ignored[resource].Covers, writes: func([]string) bool { return true }}
	s.without = func(name string, shape *shape, n sides) sides { return r.withoutChildren(i, name, shape, n) }
	if c := r.config[resource]; c != nil {
		blocks, known := r.Blocks[resource]
		s.writes = writing{expressions(c.Expressions), r.Schemas.shape(i.Provider, i.Type), blocks, known}.writes
	}
	if unset, writes := r.Unset[i.Address], s.writes; len(unset) > 0 && i.Deposed == "" {
		s.writes = func(path []string) bool { return (len(path) == 0 || !unset[path[0]]) && writes(path) }
	}
	return s
}

// same reports whether the sides have no differences.
func (n sides) same(schema *model.Schema) bool {
	return diff.Equal(schema, n.d, n.l) && diff.Equal(schema, n.r, n.l)
}

// marksOf returns the sensitive places of an instance: those in its changes and its schema, and
// copies of their values.
func (r *reader) marksOf(i Instance, n sides, changes ...*tfjson.ResourceChange) *marks {
	m := &marks{}
	m.addShape(r.Schemas.shape(i.Provider, i.Type))
	for _, c := range changes {
		if c != nil {
			m.add(c.Change.BeforeSensitive)
			m.add(c.Change.AfterSensitive)
		}
	}
	secrets := map[string]bool{}
	n.each(func(v model.Value) { m.collect(v, func(text string) { secrets[text] = true }) })
	n.each(func(v model.Value) { m.addCopies(v, secrets) })
	return m
}

// shownID returns the attribute id if it is a string that is not sensitive.
func (m *marks) shownID(n sides) string {
	below := m.below("id")
	id := ""
	n.each(func(v model.Value) { id = cmp.Or(v.At("id").Str(), id) })
	if m.self || below != nil && below.self {
		return ""
	}
	return id
}

// action returns the action of an apply as one word.
func action(c *tfjson.ResourceChange) string {
	switch a := c.Change.Actions; {
	case a.Replace():
		return "replace"
	case len(a) == 1:
		return string(a[0])
	case len(a) > 1:
		return "replace"
	}
	return "no-op"
}

// pending returns the reason why the whole instance waits for an apply, or "".
func (r *reader) pending(c *tfjson.ResourceChange) string {
	switch {
	case c.DeposedKey != "":
		return "deposed object " + c.DeposedKey + ", left over from a replacement: the next apply destroys it"
	case c.Change.Importing != nil:
		return "import block: the next apply takes " + cmp.Or(c.Change.Importing.ID, "it") + " into the state"
	case c.PreviousAddress != "" && c.PreviousAddress != c.Address:
		return "moved block: recorded as " + c.PreviousAddress
	case r.destroys && c.Change.Actions.Delete():
		return "the plan was made with -destroy: the next apply destroys it"
	}
	return pendingAction(c)
}

func pendingAction(c *tfjson.ResourceChange) string {
	switch a := c.Change.Actions; {
	case a.Delete():
		return "no longer declared (" + reason(c) + "): the next apply destroys it"
	case a.Forget():
		return "removed block: the next apply forgets it"
	case a.Replace() && c.ActionReason == tfjson.ActionReasonReplaceBecauseTainted:
		return "tainted: the next apply replaces it"
	case a.Replace() && c.ActionReason == tfjson.ActionReasonReplaceByTriggers:
		return "replace_triggered_by: the next apply replaces it"
	}
	return ""
}

// destroysAll reports whether a plan was made with -destroy, which its JSON does not record: it
// deletes each resource, and gives no reason, unlike other plans.
func destroysAll(changes []*tfjson.ResourceChange) bool {
	destroys := false
	for _, c := range changes {
		if c.Mode == tfjson.DataResourceMode || c.DeposedKey != "" {
			continue
		}
		if !c.Change.Actions.Delete() || c.ActionReason != "" {
			return false
		}
		destroys = true
	}
	return destroys
}

// reason returns the reason for the deletion of an object, as text.
func reason(c *tfjson.ResourceChange) string {
	text := strings.TrimPrefix(string(c.ActionReason), "delete_because_")
	return cmp.Or(strings.ReplaceAll(text, "_", " "), "no resource config")
}
