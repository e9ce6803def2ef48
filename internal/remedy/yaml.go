package remedy

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/remedy/literals"
)

// adoptManifest returns the step that edits a manifest.
func (c *issue) adoptManifest() Step {
	s := Step{Title: "Edit the manifest " + c.Address}
	var root branch
	for i := range c.Changes {
		change := &c.Changes[i]
		steps, ok := fieldpath.Parse(path(change))
		switch {
		case change.Secret:
			s.note("%s is a secret: its value is not shown. It is declared in %s.", change.Path, c.place())
		case change.Live == nil:
			s.note("Remove %s, which the live object does not have.", change.Path)
		case !ok || !jsonpatch.IsExact(change.Live) || !root.insert(steps, change.Live):
			s.note("Set %s to %s.", change.Path, change.Live)
		}
	}
	if len(root.below) > 0 {
		s.add("yaml", strings.TrimSuffix(root.text("", ""), "\n"))
		c.noteOtherFiles(&s)
		s.note("The YAML shows only the fields to set, in their places. As a strategic merge patch of Kustomize it also needs apiVersion, kind and metadata.name.")
	}
	c.adoptCommand(&s)
	if c.Verdict == model.Conflict {
		s.note("The declaration has moved as well: decide which of both values is right.")
	}
	return s
}

// noteOtherFiles names the files that may decide about a field instead of the manifest.
func (c *issue) noteOtherFiles(s *Step) {
	if len(c.AlsoIn) == 0 {
		return
	}
	s.Title = "Edit the manifest " + c.Address + ", or the file that changes it"
	s.note("A kustomization also takes the object from %s. If one of them sets the field, that value decides: edit it there, and not in the manifest.", strings.Join(c.AlsoIn, ", "))
}

// adoptCommand adds the command that writes the declaration, if there is one.
func (c *issue) adoptCommand(s *Step) {
	if Adoptable(c.Finding, c.Facts) != "" {
		return
	}
	s.commands(command{"driftd", "adopt", c.ID, "--to=FILE"})
	s.note("driftd adopt writes the edited file to a new file, if a scan proves that the finding is then gone. After a scan with PATH it needs the PATH and the flags of the scan.")
}

// A branch is a node of a YAML document that holds only some fields.
type branch struct {
	step  fieldpath.Step
	value *model.Value
	below []*branch
}

// insert adds a value at a path; it reports false if the path has steps that only the whole
// list determines.
func (b *branch) insert(steps []fieldpath.Step, value *model.Value) bool {
	for i := range steps {
		kind := steps[i].Kind
		if kind == fieldpath.Index || kind == fieldpath.Item || i == 0 && kind != fieldpath.Field {
			return false
		}
	}
	at := b
	for i := range steps {
		same := func(known *branch) bool {
			return known.step.Kind == steps[i].Kind && known.step.Name == steps[i].Name && slices.Equal(known.step.Keys, steps[i].Keys)
		}
		n := slices.IndexFunc(at.below, same)
		if n < 0 {
			at.below = append(at.below, &branch{step: steps[i]})
			n = len(at.below) - 1
		}
		at = at.below[n]
	}
	at.value = value
	return true
}

// text returns the fields below a node as YAML. The first line has the given indent.
func (b *branch) text(first, indent string) string {
	var out strings.Builder
	for _, child := range b.below {
		switch {
		case child.step.Kind == fieldpath.Keyed && child.value != nil:
			out.WriteString(first + "- " + literals.YAML(*child.value) + "\n")
		case child.step.Kind == fieldpath.Keyed:
			out.WriteString(child.element(first, indent))
		case child.value != nil:
			out.WriteString(first + yamlKey(child.step.Name) + ": " + literals.YAML(*child.value) + "\n")
		case child.below[0].step.Kind == fieldpath.Keyed:
			out.WriteString(first + yamlKey(child.step.Name) + ":\n" + child.text(indent, indent))
		default:
			out.WriteString(first + yamlKey(child.step.Name) + ":\n" + child.text(indent+"  ", indent+"  "))
		}
		first = indent
	}
	return out.String()
}

// element returns an element of a keyed list: its keys, and the fields below it.
func (b *branch) element(first, indent string) string {
	var out strings.Builder
	lead := first + "- "
	for _, key := range b.step.Keys {
		text := model.StringOf(key.Value)
		if n, ok := model.NumberOf(key.Value); ok {
			text = n
		}
		out.WriteString(lead + yamlKey(key.Name) + ": " + literals.YAML(text) + "\n")
		lead = indent + "  "
	}
	return out.String() + b.text(lead, lead)
}

// plainKey matches field names that YAML reads as text without quotes.
var plainKey = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_-]*$`)

// yamlKey returns a field name in YAML.
func yamlKey(name string) string {
	switch strings.ToLower(name) {
	case "y", "yes", "n", "no", "on", "off", "true", "false", "null":
	default:
		if plainKey().MatchString(name) {
			return name
		}
	}
	return literals.YAML(model.StringOf(name))
}
