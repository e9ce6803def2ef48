package cli

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/remedy/yamledit"
)

// patchEdits returns the edits of a patch file of a kustomization that adopt a finding: those of a
// strategic merge patch for an object, or of the operations of a JSON Patch. A patch that does not
// have the declared values as such has none.
func patchEdits(file manifests.Source, base manifests.Source, baseLine int, f *model.Finding, schema *model.Schema) [][]byte {
	// A file that cannot be read is not edited.
	documents, err := decode.YAML(bytes.NewReader(file.Content))
	if err != nil {
		return nil
	}
	object := objectAt(base.Content, baseLine)
	var found [][]byte
	for _, d := range documents {
		var edits []yamledit.Change
		switch {
		case d.Value.Kind() == model.List:
			edits = operationEdits(d.Value, object, f, schema)
		case patches(d.Value, object):
			edits = fieldEdits(f, schema)
		}
		if edits == nil {
			continue
		}
		if edited, err := yamledit.Object(file.Content, d.Line, edits); err == nil {
			found = append(found, edited)
		}
	}
	return found
}

// objectAt returns the object that begins on a line of a stream; null if none does.
func objectAt(text []byte, line int) model.Value {
	// A document that cannot be read has no object.
	documents, _ := decode.YAML(bytes.NewReader(text))
	for _, d := range documents {
		for i, at := range d.ItemLines {
			if at == line {
				return d.Value.At("items").Items()[i]
			}
		}
		if d.Line == line {
			return d.Value
		}
	}
	return model.Value{}
}

// patches reports whether a strategic merge patch is for an object. Kustomize matches the name that
// the object has in its file.
func patches(patch, object model.Value) bool {
	return patch.At("kind").Str() != "" && patch.At("kind").Equal(object.At("kind")) && patch.At("metadata", "name").Equal(object.At("metadata", "name"))
}

// fieldEdits returns the changes of a finding as edits of an object.
func fieldEdits(f *model.Finding, schema *model.Schema) []yamledit.Change {
	edits := make([]yamledit.Change, len(f.Changes))
	for i := range f.Changes {
		edits[i] = yamledit.Change{Path: f.Changes[i].Path, Was: f.Changes[i].Declared, Value: f.Changes[i].Live, Schema: schema}
	}
	return edits
}

// operationEdits returns the edits of the values in a JSON Patch that set the changed fields of an
// object; nil unless it sets all of them.
func operationEdits(patch, object model.Value, f *model.Finding, schema *model.Schema) []yamledit.Change {
	var edits []yamledit.Change
	for i := range f.Changes {
		c := &f.Changes[i]
		at := pointerTo(object, c.Path, schema)
		if at == "" || c.Declared == nil || c.Live == nil {
			return nil
		}
		for n, operation := range patch.Items() {
			op := operation.At("op").Str()
			if (op == "replace" || op == "add") && operation.At("path").Str() == at {
				edits = append(edits, yamledit.Change{Path: "[" + strconv.Itoa(n) + "].value", Was: c.Declared, Value: c.Live})
				break
			}
		}
	}
	if len(edits) < len(f.Changes) {
		return nil
	}
	return edits
}

// pointerTo returns the JSON Pointer of a path in an object; "" if there is none.
func pointerTo(object model.Value, path string, schema *model.Schema) string {
	steps, ok := fieldpath.Parse(path)
	if !ok {
		return ""
	}
	var pointer strings.Builder
	for i := range steps {
		step := &steps[i]
		if step.Kind == fieldpath.Field {
			pointer.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step.Name))
			object, schema = object.At(step.Name), yamledit.Below(schema, step)
			continue
		}
		n := yamledit.Element(object, step, schema)
		if n < 0 {
			return ""
		}
		pointer.WriteString("/" + strconv.Itoa(n))
		object, schema = object.Items()[n], yamledit.Below(schema, step)
	}
	return pointer.String()
}
