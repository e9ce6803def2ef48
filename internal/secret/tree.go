package secret

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A frame holds the certainties that follow from the names above a value.
type frame struct {
	// sure is the certainty that a scalar here is secret.
	sure certainty
	// below is the certainty for all fields of a map here: passwords: {db: x}.
	below certainty
	// all reports whether the operator's rules make everything here secret.
	all bool
	// counts reports whether the fields here are the limits of a quota, which have the names of
	// the kinds that they count.
	counts bool
	// program is the command to which the arguments here belong.
	program *program
}

// tree returns the sealed value; changed reports whether it differs from v. It copies only
// the parts that change.
func (w *walker) tree(v model.Value, f frame) (sealed model.Value, changed bool) {
	switch v.Kind() {
	case model.Map:
		return w.fields(v, f)
	case model.List:
		return w.items(v, f)
	case model.String:
		return w.str(v, f)
	case model.Number:
		if f.all || f.sure == certain {
			return w.whole(v, v.Text())
		}
	case model.Bool:
		if f.all {
			return w.whole(v, v.Text())
		}
	case model.Null, model.Secret:
	}
	return v, false
}

// whole returns the digest of a scalar.
func (w *walker) whole(v model.Value, content string) (model.Value, bool) {
	if content == "" {
		return v, false
	}
	w.note("name", content)
	return w.room.Sealer().SealTree(model.StringOf(content)), true
}

func (w *walker) note(why, content string) {
	if w.found != nil {
		at, _ := w.at()
		w.found(at, why, content)
	}
}

func (w *walker) str(v model.Value, f frame) (model.Value, bool) {
	content := v.Text()
	switch {
	case f.all:
		return w.whole(v, content)
	case f.sure > described && isContent(content, f.sure) && !isMark(content):
		return w.named(v, content, f.sure)
	case isManifest(content):
		return w.whole(v, content)
	}
	sealed := w.inText(content)
	if sealed == content {
		return v, false
	}
	w.note("form", content)
	return model.StringOf(sealed), true
}

func isMark(content string) bool { return len(content) == markSize && markAt(content, 0) }

// named seals the text of a secret name. It seals the whole text, but only the secret part of a
// connection.
func (w *walker) named(v model.Value, content string, sure certainty) (model.Value, bool) {
	if sure == connection {
		if sealed := w.inText(content); sealed != content {
			w.note("form", content)
			return model.StringOf(sealed), true
		}
	}
	return w.whole(v, content)
}

func (w *walker) push(s model.Step) { w.path = append(w.path, s) }
func (w *walker) pop()              { w.path = w.path[:len(w.path)-1] }

func (w *walker) fields(v model.Value, f frame) (model.Value, bool) {
	paired, isPair := w.pairOf(v)
	program := w.programOf(v)
	traced := w.traced()
	content := w.secretContent(v)
	var fields []model.Field
	for i, field := range v.Fields() {
		below := w.frameOf(f, field)
		if isPair && isValueKey(field.Name) {
			below.sure = max(below.sure, paired)
		}
		below.program = program
		below.all = below.all || slices.Contains(content, field.Name)
		if traced {
			w.push(model.Step{Text: field.Name})
		}
		sealed, changed := w.ruled(field.Value, below, traced)
		if traced {
			w.pop()
		}
		if changed {
			if fields == nil {
				fields = slices.Clone(v.Fields())
			}
			fields[i].Value = sealed
		}
	}
	if fields == nil {
		return v, false
	}
	return model.MapOf(fields...), true
}

// ruled seals a value by the operator's path rules, or else by its frame.
func (w *walker) ruled(v model.Value, f frame, traced bool) (model.Value, bool) {
	if traced && len(w.room.rules.paths)+len(w.room.rules.bare) > 0 {
		at, bare := w.at()
		fits := func(r pathRule) bool { return r.fits(w.kind, at, bare) }
		switch {
		case slices.ContainsFunc(w.room.rules.bare, fits):
			return v, false
		case slices.ContainsFunc(w.room.rules.paths, fits):
			f.all = true
		}
	}
	return w.tree(v, f)
}

// frameOf returns the frame of a field below a frame.
func (w *walker) frameOf(f frame, field model.Field) frame {
	name := field.Name
	below := frame{all: f.all, counts: name == quotaLimits && isQuota(w.kind)}
	if f.all {
		return below
	}
	sure := w.room.rules.rate(name, false)
	switch {
	case f.counts && sure < certain && isQuantity(field.Value.Text()):
		return below
	case sure == open:
		below.sure = f.inherited(name)
		return below
	}
	below.add(sure, name, field.Value)
	return below
}

// add sets the certainty of a frame for a field with the name of a secret.
func (f *frame) add(sure certainty, name string, v model.Value) {
	plural := sure > described && maps[lastWord(name)]
	switch v.Kind() {
	case model.Map:
		f.sure = sure
		if plural {
			f.below = text
		}
	case model.List:
		if sure == certain || sure > described && lists[lastWord(name)] {
			f.sure = sure
		}
	default:
		if !plural || !isPort(v.Text()) { // A count of secrets is not a secret.
			f.sure = sure
		}
	}
}

// quotaLimits is the field of a quota with its limits.
const quotaLimits = "hard"

// isQuota reports whether a kind is ResourceQuota, or ClusterResourceQuota of OpenShift.
func isQuota(kind string) bool {
	name, _, _ := strings.Cut(path.Base(kind), ".")
	return strings.HasSuffix(name, "ResourceQuota")
}

// isQuantity reports whether a text is a number with the suffix of a unit: 2k, 1.5Gi.
func isQuantity(t string) bool {
	unit := strings.TrimLeft(t, "0123456789.")
	return len(unit) < len(t) && slices.Contains([]string{"", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}, unit)
}

// inherited returns the certainty of a field whose own name is not that of a secret.
func (f *frame) inherited(name string) certainty {
	switch {
	case f.sure > described && holders[strings.Join(words(name), " ")]:
		return f.sure
	case f.below > described && isFree(name):
		return f.below
	}
	return open
}

// isFree reports whether a name below secrets: or passwords: is the name of a secret, and not
// part of a reference to a secret.
func isFree(name string) bool {
	switch lower := strings.ToLower(name); lower {
	case "key", "property", "optional", "items", "user", "url", "enabled", "create", "annotations", "labels":
		return false
	default:
		return !aboutLast[lastWord(name)] && !strings.HasPrefix(lower, "x-")
	}
}

func lastWord(name string) string {
	all := words(name)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// pairOf rates the value of a map with a name and a value field, such as a variable, a header,
// a tag or a parameter.
func (w *walker) pairOf(v model.Value) (certainty, bool) {
	fields := v.Fields()
	if len(fields) < 2 {
		return open, false
	}
	name, hasValue := "", false
	for i := range fields {
		switch {
		case isNameKey(fields[i].Name):
			name = fields[i].Value.Str()
		case isValueKey(fields[i].Name):
			hasValue = true
		}
	}
	if name == "" || !hasValue {
		return open, false
	}
	return w.room.rules.rate(name, false), true
}

// secretContent returns the fields of a map in which everything is secret: those of a Secret of Kubernetes that is inside of
// something else, such as a template, and in a Secret those of copies and patches of it in its annotations.
func (w *walker) secretContent(v model.Value) []string {
	data := []string{"data", "stringData"}
	if !w.inSecret {
		if v.At("kind").Str() == "Secret" && v.At("apiVersion").Str() == "v1" {
			return data
		}
		return nil
	}
	at, isPatch := strings.CutPrefix(v.At("path").Str(), "/")
	if parent, _, _ := strings.Cut(at, "/"); isPatch && slices.Contains(data, parent) {
		return []string{"value"}
	}
	return data
}

// programOf returns the program that a map with command and args runs: command: [mysql],
// args: [-pPW].
func (w *walker) programOf(v model.Value) *program {
	command, ok := v.Get("command")
	if !ok {
		return nil
	}
	items := command.Items()
	if len(items) == 0 {
		return nil
	}
	if p, ok := programs[base(items[0].Str())]; ok {
		return &p
	}
	return nil
}

func (w *walker) items(v model.Value, f frame) (model.Value, bool) {
	traced := w.traced()
	var items []model.Value
	before := ""
	for i, item := range v.Items() {
		if traced {
			w.push(stepOf(i, item))
		}
		var sealed model.Value
		var changed bool
		if item.Kind() == model.String && f.sure <= described && !f.all {
			sealed, changed = w.argument(&f, before, item)
			before = item.Text()
		} else {
			sealed, changed = w.ruled(item, frame{sure: f.sure, below: f.below, all: f.all}, traced)
			before = ""
		}
		if traced {
			w.pop()
		}
		if changed {
			if items == nil {
				items = slices.Clone(v.Items())
			}
			items[i] = sealed
		}
	}
	if items == nil {
		return v, false
	}
	return model.ListOf(items...), true
}

// argument seals a text in a list, which may be an argument of a command.
func (w *walker) argument(f *frame, before string, item model.Value) (model.Value, bool) {
	content := item.Text()
	if p, ok := programs[base(content)]; ok && f.program == nil {
		f.program = &p
	}
	if strings.HasPrefix(content, "-") || isFlag(before) {
		from, to := secretOf(w.room.rules, f.program, before, content)
		switch secret := content[from:to]; {
		case from >= to || isMark(secret) || w.again && Marked(secret):
		case from == 0 && to == len(content):
			return w.whole(item, content)
		default:
			w.note("argument", content)
			return model.StringOf(content[:from] + w.mark(secret) + content[to:]), true
		}
	}
	return w.str(item, frame{})
}

// isFlag reports whether an argument is the name of an option.
func isFlag(t string) bool { return len(t) > 1 && t[0] == '-' && tail(t, 0, isIdentifier) == len(t) }

func stepOf(i int, item model.Value) model.Step {
	if name := item.At("name"); name.Kind() == model.String {
		return model.Step{Kind: model.KeyStep, Text: "name=" + name.Text()}
	}
	return model.Step{Kind: model.IndexStep, Text: strconv.Itoa(i)}
}
