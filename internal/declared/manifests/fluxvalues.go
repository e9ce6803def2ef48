package manifests

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// fluxValues are the values of a HelmRelease, some of which may be unknown. A chart decides by a value what it
// declares, so that it is rendered with values of several types in place of unknown ones.
type fluxValues struct {
	parts []fluxValue
	// unknown are the origins of unknown values. whole reports whether all of a value is unknown, and optional whether it may be absent.
	unknown         map[string]bool
	whole, optional bool
	// files are the files with values.
	files []string
}

// A fluxValue is a part of the values: one of its fields is set.
type fluxValue struct {
	// text is a file of values, and trees are those with unknown values: one for each of the builds.
	text  string
	trees []model.Value
	// path is where a value is set: in texts, one for each of the builds, or unknown if there is none.
	path              string
	texts             []string
	literal, optional bool
}

// pairs is the number of values in place of unknown ones that are in pairs of one type.
const pairs = 6

// standIns returns the values in place of unknown ones. The first two have the values of the two builds. Templates can make an
// element of each number below a number, so that one is 0: of two others, the first elements are the same.
func standIns() []model.Value {
	const number = 201
	return []model.Value{
		model.StringOf(placeholder(0)), model.StringOf(placeholder(1)), model.BoolOf(false), model.BoolOf(true), model.IntOf(number), model.IntOf(number + 1),
		model.StringOf(""), model.IntOf(0),
	}
}

// paired reports whether a chart was rendered with two values of one type, so that fields that depend on the value differ.
func paired(rendered []bool) bool {
	for n := 0; n+1 < min(len(rendered), pairs+1); n += 2 {
		if rendered[n] && rendered[n+1] {
			return true
		}
	}
	return false
}

// fluxValues returns the values of a HelmRelease. https://fluxcd.io/flux/components/helm/helmreleases/#values-references
func (r *fluxReader) fluxValues(h *helmRelease) (*fluxValues, error) {
	v := &fluxValues{unknown: map[string]bool{}}
	for _, ref := range h.spec.At("valuesFrom").Items() {
		if err := r.valuesFrom(v, h, ref); err != nil {
			return nil, err
		}
	}
	trees := []model.Value{h.spec.At("values")}
	for _, again := range h.again {
		trees = append(trees, again.At("spec", "values"))
	}
	v.add(trees, h.chance)
	return v, nil
}

// valuesFrom adds the values of an entry of valuesFrom.
func (r *fluxReader) valuesFrom(v *fluxValues, h *helmRelease, ref model.Value) error {
	kind, name := ref.At("kind").Str(), h.space+"/"+ref.At("name").Str()
	key, target := cmp.Or(ref.At("valuesKey").Str(), "values.yaml"), ref.At("targetPath").Str()
	part := fluxValue{path: target, literal: ref.At("literal").Text() == "true", optional: ref.At("optional").Text() == "true"}
	source, found := r.input(kind + " " + name)
	v.files = append(v.files, source.files...)
	text, has := source.value.At("data").Get(key)
	if target != "" && !h.spec.At("values").At(strings.Split(before(target, "["), ".")...).IsNull() {
		return notRead(sketch{}, "its valuesFrom sets %s, which spec.values sets, too", shown(target))
	}
	if !found || !source.hasValues() || strings.Contains(text.Text(), encryptedMark) {
		return v.addUnknown(part, shown(kind), shown(name))
	}
	if !has && part.optional {
		return nil
	}
	if !has {
		return notRead(sketch{}, "its ConfigMap %s has no key %s", shown(name), shown(key))
	}
	texts := []string{text.Text()}
	for _, again := range source.again {
		texts = append(texts, again.At("data", key).Text())
	}
	if target == "" {
		return v.addTexts(texts, source.chance, name)
	}
	part.texts = texts
	if !source.isCertain("data", key) {
		v.unknown[source.chance] = true
		v.whole = true
	}
	v.parts = append(v.parts, part)
	return nil
}

// hasValues reports whether Flux takes the values of an object as git has them.
func (o *object) hasValues() bool { return kindOf(o.value) == "ConfigMap" && o.unchecked == "" }

// addUnknown adds a part of which the values are unknown.
func (v *fluxValues) addUnknown(part fluxValue, kind, name string) error {
	if part.path == "" {
		return notRead(sketch{}, "its values come from %s %s, which driftd does not read: name the parts of them with targetPath, so that it compares what does not depend on them", kind, name)
	}
	v.unknown[fmt.Sprintf("%s %s, from which Flux takes values", kind, name)] = true
	v.whole, v.optional = true, v.optional || part.optional
	v.parts = append(v.parts, part)
	return nil
}

// before returns the part of a text before a separator.
func before(text, separator string) string {
	text, _, _ = strings.Cut(text, separator)
	return text
}

// addTexts adds files of values: one for each of the builds, if they differ.
func (v *fluxValues) addTexts(texts []string, chance, name string) error {
	if !slices.ContainsFunc(texts, func(text string) bool { return text != texts[0] }) {
		v.parts = append(v.parts, fluxValue{text: texts[0]})
		return nil
	}
	var trees []model.Value
	for _, text := range texts {
		docs, err := decode.YAML(bytes.NewReader([]byte(text)))
		if err != nil || len(docs) != 1 {
			return notRead(sketch{}, "the values in its ConfigMap %s cannot be read", shown(name))
		}
		trees = append(trees, docs[0].Value)
	}
	v.add(trees, chance)
	return nil
}

// add adds values: one for each of the builds.
func (v *fluxValues) add(trees []model.Value, chance string) {
	if trees[0].IsNull() {
		return
	}
	if slices.ContainsFunc(trees, func(t model.Value) bool { return !t.Equal(trees[0]) }) {
		v.unknown[chance] = true
		v.whole = v.whole || isWhole(trees[0])
	}
	v.parts = append(v.parts, fluxValue{trees: trees})
}

// isWhole reports whether a value has one that is unknown as a whole.
func isWhole(v model.Value) bool {
	return v.Str() == placeholder(0) || slices.ContainsFunc(v.Items(), isWhole) ||
		slices.ContainsFunc(v.Fields(), func(f model.Field) bool { return isWhole(f.Value) })
}

// standing returns a value with another one in place of those that are unknown as a whole.
func standing(v, in model.Value) model.Value {
	if v.Str() == placeholder(0) {
		return in
	}
	switch v.Kind() {
	case model.List:
		items := slices.Clone(v.Items())
		for i := range items {
			items[i] = standing(items[i], in)
		}
		return model.ListOf(items...)
	case model.Map:
		for _, f := range v.Fields() {
			v = v.With(f.Name, standing(f.Value, in))
		}
	}
	return v
}

// count returns the number of variants.
func (v *fluxValues) count() int {
	switch {
	case len(v.unknown) == 0:
		return 1
	case !v.whole:
		return 2 //nolint:mnd // the two builds
	case v.optional:
		return len(standIns()) + 1
	}
	return len(standIns())
}

// variant returns the n-th values for a chart, and the files with them.
func (v *fluxValues) variant(n int) (values []chart.Values, files map[string][]byte) {
	files = map[string][]byte{}
	ins := standIns()
	for i := range v.parts {
		p := &v.parts[i]
		name := fmt.Sprintf(".driftd-values-%d.yaml", i)
		switch {
		case p.path != "":
			if n == len(ins) && p.optional && p.texts == nil {
				continue // it may be absent
			}
			values = append(values, p.set(n, ins))
			continue
		case p.trees == nil:
			files[name] = []byte(p.text)
		case n < len(p.trees):
			files[name] = p.trees[n].AppendJSON(nil)
		default:
			files[name] = standing(p.trees[0], ins[min(n, len(ins)-1)]).AppendJSON(nil)
		}
		values = append(values, chart.Values{File: name})
	}
	return values, files
}

// set returns the setting of a value at its path.
func (p *fluxValue) set(n int, ins []model.Value) chart.Values {
	text := ins[min(n, len(ins)-1)].Text()
	if known := len(p.texts); known > 0 && (n < known || p.texts[0] != placeholder(0)) {
		text = p.texts[min(n, known-1)]
	}
	made := chart.Values{Name: "targetPath of valuesFrom"}
	quoted := func(mark string) bool { return strings.HasPrefix(text, mark) && strings.HasSuffix(text, mark) }
	switch {
	case p.literal:
		escape := strings.NewReplacer(`\`, `\\`, ",", `\,`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`)
		made.SetString = p.path + "=" + escape.Replace(text)
	case quoted("'"), quoted(`"`):
		made.SetString = p.path + "=" + strings.Trim(text, `'"`)
	default:
		made.Set = p.path + "=" + text
	}
	return made
}

// renderings returns the objects of a chart with the values of a HelmRelease. Fields that depend on unknown values are left
// to them.
func (r *fluxReader) renderings(h *helmRelease, l *loader, t *tree, v *fluxValues) (content, error) {
	var all []content
	rendered := make([]bool, v.count())
	installed, upgraded := h.installsDefinitions()
	var first error
	for n := range rendered {
		values, files := v.variant(n)
		with := *l.installing
		with.Values, with.Storage, with.PostRenderers = values, h.storage, h.postRenderers()
		with.SkipCRDs = !installed && !upgraded
		if with.Moving {
			with.Metadata = placeholder(n % 2) //nolint:mnd // there are two placeholders
		}
		l.installing = &with
		c, _, err := l.template(r.ctx, t.withFiles(r.ctx, addedFS{t.files, files}, l.config.MaxFileSize), r.helm)
		failed, isChart := errors.AsType[*chartError](err)
		switch {
		case err != nil && (!isChart || failed.passing):
			return content{}, asNotRead(err)
		case err != nil:
			// The chart may take no value of this type.
			first = cmp.Or(first, err)
			continue
		}
		rendered[n] = true
		all = append(all, c.clone())
	}
	if len(all) == 0 || len(rendered) > 1 && !paired(rendered) {
		return content{}, asNotRead(cmp.Or(first, errors.New("the chart cannot be rendered without the values of "+strings.Join(v.origins(), " and "))))
	}
	c := all[0]
	c.leaveToUnknown(all[1:], strings.Join(v.origins(), " and "), h.target)
	for i := range c.objects {
		c.objects[i].files = append(c.objects[i].files, v.files...)
	}
	return c, nil
}

// origins returns the origins of unknown values.
func (v *fluxValues) origins() []string { return slices.Sorted(maps.Keys(v.unknown)) }

// asNotRead returns a *chartError as the error of a source that is not read.
func asNotRead(err error) error {
	if failed, ok := errors.AsType[*chartError](err); ok {
		return notRead(sketch{}, "%s", failed.text)
	}
	return err
}

// leaveToUnknown adds to each object those of renderings with other values in place of unknown ones. An object that not all
// of them have is a problem.
func (c *content) leaveToUnknown(others []content, by, namespace string) {
	if len(others) == 0 {
		return
	}
	seen := map[string]bool{}
	for i := range c.objects {
		o := &c.objects[i]
		seen[kindOf(o.value)+" "+nameOf(o.value)] = true
		o.random = false // what unknown values determine, too, is no finding
	}
	c.leaveToChance(others, by, namespace)
	for _, other := range others {
		c.problems = append(c.problems, other.problems...)
		for _, o := range other.objects {
			if id := kindOf(o.value) + " " + nameOf(o.value); seen[id] {
				continue
			}
			extent := extentOf(o.value)
			extent.Name, extent.Place = "", cmp.Or(extent.Place, namespace)
			c.bounded(o.address, []model.Extent{extent, {Kind: extent.Kind, Placeless: true}}, "%s: whether there is one is left to %s", o.value.At("kind").Str(), by)
		}
	}
}
