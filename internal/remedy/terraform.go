package remedy

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/remedy/literals"
)

// terraformApply returns the step that applies the whole root of a claim.
func (c *issue) terraformApply(title string) Step {
	s := Step{Title: title}
	s.commands(command{"terraform", "plan"})
	s.commands(command{"terraform", "apply"})
	s.note("Run it in the root of the declaration %s (with tofu where OpenTofu is used). Both plans must contain %s and nothing that is not wanted: answer yes only then.", c.Declaration, c.place())
	s.note("Do not use -target: it also changes what the target depends on, leaves the rest of the drift, and exits with 0. If the plan contains more, apply or withdraw that first.")
	s.note("If HCP Terraform or Terraform Enterprise applies the root, start a run of its workspace there instead. With Atlantis, open a pull request for the root, and comment atlantis plan and then atlantis apply.")
	switch {
	case c.Replaces:
		s.note("Not safe: the apply destroys the resource and creates it again.")
	case c.Destroys:
		s.note("Not safe: the apply destroys the resource, because nothing declares it any more.")
	case len(c.Changes) > 0 && !slices.ContainsFunc(c.Changes, func(ch model.Change) bool { return ch.Unenforced == "" }):
		s.note("First set the recorded value in the configuration: the plan has no change otherwise, and an apply only records the live value.")
	}
	if c.Verdict == model.Pending || c.Verdict == model.Conflict {
		s.note("The apply ships commits that are not applied yet.")
	}
	return s
}

// adoptTerraform returns the step that edits a resource block.
func (c *issue) adoptTerraform() Step {
	s := Step{Title: "Edit the resource " + c.place()}
	var lines []string
	for i := range c.Changes {
		change := &c.Changes[i]
		steps, ok := fieldpath.Parse(change.Path)
		literal := ""
		if ok && change.Live != nil && len(steps) == 1 && attributeName().MatchString(steps[0].Name) {
			literal = hclText(*change.Live)
		}
		switch {
		case change.Secret:
			s.note("%s is a secret: its value is not shown. It is declared in %s.", change.Path, c.place())
		case change.Live == nil:
			s.note("Remove %s.", change.Path)
		case literal != "":
			lines = append(lines, steps[0].Name+" = "+literal)
		default:
			s.note("Set %s to %s.", change.Path, change.Live)
		}
	}
	s.add("hcl", strings.Join(lines, "\n"))
	c.adoptCommand(&s)
	s.note("If the value comes from a variable, a local value or a module, change it there. Then terraform plan must not mention %s.", c.place())
	if c.Replaces {
		s.note("The fields cannot be changed in place: without this, the next apply destroys the resource and creates it again.")
	}
	return s
}

// attributeName matches the names of attributes.
var attributeName = lazyregexp.New(`^[a-z_][a-z0-9_-]*$`)

// hclText returns a scalar, or a list of scalars, as an expression of Terraform; "" for other
// values.
func hclText(v model.Value) string {
	switch v.Kind() {
	case model.Bool, model.Number:
		return v.Text()
	case model.String:
		return literals.HCL(v.Text())
	case model.List:
		texts := make([]string, len(v.Items()))
		for i, item := range v.Items() {
			if texts[i] = hclText(item); texts[i] == "" || item.Kind() == model.List {
				return ""
			}
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return ""
}

// importBlock returns the step that imports an unmanaged resource into a Terraform root.
func (c *issue) importBlock() Step {
	s := Step{Title: "Import it with " + c.Provider}
	s.add("hcl", strings.TrimSuffix(c.Import, "\n"))
	s.commands(command{"terraform", "plan", "-generate-config-out=imported.tf"})
	if Adoptable(c.Finding, c.Facts) == "" {
		s.commands(command{"driftd", "adopt", c.ID, "--to=FILE"})
		s.note("driftd adopt writes the block and the generated configuration to a new file, if a plan proves that.")
	} else if !c.Planned {
		s.note("driftd adopt can write both if a root with engine: plan governs %s: states have no files to edit.", c.Source)
	}
	s.note("Write the block into a file of the root that is to manage it. The second command writes the resource block into a new file; its secrets are missing or in plain text: check it.")
	s.note("Apply only if the plan says: 1 to import, 0 to add, 0 to change, 0 to destroy. If the provider cannot import this type, the plan is an error and nothing is changed.")
	return s
}
