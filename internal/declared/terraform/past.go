package terraform

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform/literal"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// A past reads the versions of one claim.
type past struct {
	commits  *commits
	claim    *model.Claim
	instance *plan.Instance
	// typ is the mapping from the instance to the claim; nil if the claim is on a
	// resource that the plan's own provider read.
	typ *mapping.Type
	// addresses are the claim's address and its former ones, from moved blocks.
	addresses []string
	// contents are the distinct contents. index has their positions by their text.
	contents []content
	index    map[string]int
	// unread counts the commits that cannot be evaluated. first is the reason of the
	// first one.
	unread int
	first  string
}

// A content is what a commit declares. value is nil if it declares nothing, or if
// that is unknown; in the second case unknown contains "".
type content struct {
	value   *model.Value
	unknown []string
}

// maxVersions bounds the versions of one claim, and maxFormer its former addresses.
const (
	maxVersions = 2000
	maxFormer   = 20
)

func newPast(c *commits, claim *model.Claim, instance *plan.Instance) *past {
	p := &past{commits: c, claim: claim, instance: instance, addresses: []string{claim.Address}, index: map[string]int{}}
	if claim.LiveRead == nil && claim.Source != model.LiveSource(c.plans.env.Name) {
		p.typ = c.plans.mapped(claim, instance)
	}
	return p
}

// mapped returns the mapping that turned an instance into a claim.
func (l *loader) mapped(claim *model.Claim, i *plan.Instance) *mapping.Type {
	typ, known := l.tables.Find(i.Provider, i.Type)
	if !known || typ.Kind() == claim.Kind {
		return typ
	}
	for _, part := range l.tables.Parts(typ, wholeOf(i)) {
		if part.Kind() == claim.Kind {
			return part
		}
	}
	return typ
}

// wholeOf returns the attributes that the mapping of an instance uses.
func wholeOf(i *plan.Instance) model.Value {
	for _, v := range []*model.Value{i.Whole.Recorded, i.Whole.Declared} {
		if v != nil {
			return *v
		}
	}
	return model.Value{}
}

// read returns the past.
func (p *past) read(log gitrepo.Log) model.Past {
	distrusted, err := p.distrusted(log.Ref.Commits[0])
	if err != nil {
		return model.Past{Gap: joined(log.Gap, err.Error())}
	}
	spans := gitrepo.Spans(log, p.at)
	found := model.Past{Gap: log.Gap}
	if p.unread > 0 {
		found.Gap = joined(found.Gap, p.first)
	}
	if p.unread > 1 {
		found.Gap += fmt.Sprintf(" (and %d more commits)", p.unread-1)
	}
	if len(spans) > maxVersions {
		spans = spans[:maxVersions]
		found.Gap = joined(found.Gap, fmt.Sprintf("more than %d versions", maxVersions))
	}
	head := log.Ref.Commits[0].Hash
	for _, s := range spans {
		found.Versions = append(found.Versions, p.version(s, head, distrusted))
	}
	return found
}

// version returns the version of a span. The plan of the head gives the value of a
// span that begins at the head, whether it is literal or not.
func (p *past) version(s gitrepo.Span[int], head string, distrusted []string) model.Version {
	v := model.Version{Value: p.contents[s.State].value, Unknown: p.contents[s.State].unknown, From: s.From, Until: s.Until, Branch: s.Branch}
	switch {
	case s.From.Hash == head && p.instance.Whole.Declared != nil:
		v.Value, v.Unknown = &p.claim.Value, nil
	case v.Value != nil:
		v.Unknown = sortedUnique(slices.Concat(v.Unknown, distrusted))
	}
	return v
}

// distrusted returns the paths at which the literal values of the head differ from
// the plan of the head: other inputs determine these values. An error means that the
// files and the plan disagree whether the resource is declared.
func (p *past) distrusted(head *gitrepo.LogCommit) ([]string, error) {
	written, err := p.commits.at(head, p.claim.Address)
	if err != nil {
		return nil, fmt.Errorf("at commit %.12s: %w", head.Hash, err)
	}
	there := p.instance.Whole.Declared != nil
	if there && written.Presence == literal.Absent || !there && written.Presence == literal.Present {
		return nil, fmt.Errorf("%s: the plan and the files of commit %.12s do not agree whether it is declared", p.claim.Address, head.Hash)
	}
	if written.Presence != literal.Present {
		return nil, nil
	}
	return p.texts(p.instance.Form.Disagrees(p.instance.Form.Arrange(written)), p.claim.Value), nil
}

// at returns the position of the content at a commit, or none if it is unknown.
func (p *past) at(commit *gitrepo.LogCommit) []int {
	next := 0
	for next < len(p.addresses) { // follow may add addresses
		address := p.addresses[next]
		next++
		written, err := p.commits.at(commit, address)
		if err != nil {
			if p.unread++; p.first == "" {
				p.first = fmt.Sprintf("at commit %.12s: %v", commit.Hash, err)
			}
			return nil
		}
		p.follow(commit, address)
		if written.Presence != literal.Absent {
			return []int{p.intern(p.arranged(written))}
		}
	}
	return []int{p.intern(content{})}
}

// follow adds the addresses from which moved blocks of a commit move an address.
func (p *past) follow(commit *gitrepo.LogCommit, address string) {
	for _, former := range p.commits.root(commit).Former(address) {
		if len(p.addresses) <= maxFormer && !slices.Contains(p.addresses, former) {
			p.addresses = append(p.addresses, former)
		}
	}
}

// intern returns the position of a content, and adds it if it is new.
func (p *past) intern(s content) int {
	text := fmt.Sprintf("%q", s.unknown)
	if s.value != nil {
		text += string(s.value.AppendJSON(nil))
	}
	i, known := p.index[text]
	if !known {
		i = len(p.contents)
		p.contents, p.index[text] = append(p.contents, s), i
	}
	return i
}

// arranged converts the configuration of a commit to the form of the claim.
func (p *past) arranged(written literal.Resource) content {
	if written.Presence == literal.Maybe {
		return content{unknown: []string{""}}
	}
	a := p.instance.Form.Arrange(written)
	if p.typ != nil {
		return p.translated(a)
	}
	return content{&a.Value, p.texts(a.Unknown, a.Value)}
}

// translated converts what a commit declares to the fields of a mapping table. A
// table may derive a field from several attributes: a field that depends on an
// unknown attribute is unknown.
func (p *past) translated(a plan.Arranged) content {
	base := p.instance.Whole.Declared
	if base == nil {
		base = p.instance.Whole.Recorded
	}
	if base == nil {
		v := model.MapOf()
		return content{&v, []string{""}}
	}
	with, without, unknown := p.instance.Form.Overlay(*base, a)
	sealer := p.commits.plans.env.Sealer
	v := p.typ.Declared(with, sealer)
	var d differing
	d.node(v, p.typ.Declared(without, sealer), nil)
	return content{&v, p.texts(slices.Concat(unknown, d.found), v)}
}

// schema returns the schema of the claim's values if a mapping table made the claim;
// nil otherwise.
func (p *past) schema() *model.Schema {
	if p.claim.Lens == nil {
		return nil
	}
	return p.claim.Lens.Schema()
}

// differing finds the paths at which two values in the form of a table differ.
type differing struct{ found [][]model.Step }

func (d *differing) node(a, b model.Value, path []model.Step) {
	switch {
	case a.Equal(b):
	case a.Kind() == model.Map && b.Kind() == model.Map:
		for _, name := range fieldNames(a, b) {
			d.node(a.At(name), b.At(name), append(slices.Clone(path), model.Step{Text: name}))
		}
	case a.Kind() == model.List && b.Kind() == model.List && len(a.Items()) == len(b.Items()):
		for i := range a.Items() {
			d.node(a.Items()[i], b.Items()[i], append(slices.Clone(path), model.Step{Kind: model.IndexStep, Text: strconv.Itoa(i)}))
		}
	default:
		d.found = append(d.found, path)
	}
}

// fieldNames returns the names of the fields of two maps, sorted.
func fieldNames(a, b model.Value) []string {
	var names []string
	for _, f := range slices.Concat(a.Fields(), b.Fields()) {
		names = append(names, f.Name)
	}
	return sortedUnique(names)
}

// texts returns paths in v in the form of model.Change.Path. In the form of a mapping
// table, an element may have another position in a change, or a name; such a path is
// cut at the list.
func (p *past) texts(paths [][]model.Step, v model.Value) []string {
	texts := make([]string, len(paths))
	for i, steps := range paths {
		if p.typ != nil {
			steps = p.certain(steps, v)
		}
		texts[i] = pathText(steps)
	}
	return sortedUnique(texts)
}

// certain returns a path in v up to the first list whose elements may have other
// positions in the claim's declared or recorded value.
func (p *past) certain(steps []model.Step, v model.Value) []model.Step {
	schema, d, r := p.schema(), p.claim.Value, model.Value{}
	if p.claim.Recorded != nil {
		r = *p.claim.Recorded
	}
	for i, s := range steps {
		if s.Kind != model.IndexStep {
			schema, v, d, r = schema.Field(s.Text), v.At(s.Text), d.At(s.Text), r.At(s.Text)
			continue
		}
		n := len(v.Items())
		aligned := n == len(d.Items()) && n == len(r.Items())
		at, err := strconv.Atoi(s.Text)
		if schema == nil || err != nil || at >= n || schema.List != model.Ordered && (schema.List != model.Sequence || !aligned) {
			return steps[:i]
		}
		schema, v, d, r = schema.Element(), v.Items()[at], itemOf(d, at), itemOf(r, at)
	}
	return steps
}

func itemOf(v model.Value, i int) model.Value {
	if i < len(v.Items()) {
		return v.Items()[i]
	}
	return model.Value{}
}

func sortedUnique(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

// pathText writes a path in the form of model.Change.Path.
func pathText(steps []model.Step) string {
	var b strings.Builder
	for _, s := range steps {
		if s.Kind == model.IndexStep {
			b.WriteString("[" + s.Text + "]")
		} else {
			model.WriteField(&b, s.Text)
		}
	}
	return b.String()
}
