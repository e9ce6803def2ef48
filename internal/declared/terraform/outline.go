package terraform

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// An Outline lists the providers and the backend in the configuration files of a root. It does not include
// those of its modules.
type Outline struct {
	// Providers are the configured and the required providers, sorted by name. A provider with several
	// configurations has several entries.
	Providers []ProviderOutline
	// Backend is the type of the backend: "local" if there is no backend block, "cloud" for a cloud block,
	// and "" for a Terragrunt root.
	Backend string
	// Partial reports whether the backend block is empty, so that init must be given its settings.
	Partial bool
}

// A ProviderOutline is a provider of a root.
type ProviderOutline struct {
	// Name is the last part of the provider's source address, such as "proxmox".
	Name string
	// Settings maps the names of arguments in OutlineSettings to their values, if the root sets them to a
	// string, or to a variable whose default is a string.
	Settings map[string]string
}

// outlineSettings returns the arguments of providers that an Outline has. None is a credential.
func outlineSettings() []string {
	return []string{"endpoint", "pm_api_url", "server_url", "cloud", "region", "profile", "config_context"}
}

// ReadOutline returns the outline of the root in a folder. If a file cannot be read or parsed, ReadOutline
// returns an error together with the outline of the other files.
func ReadOutline(fsys fs.FS, dir string) (Outline, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return Outline{}, err
	}
	o := outliner{backend: "local", sources: map[string]string{}, variables: map[string]cty.Value{}, configured: map[string][]hcl.Body{}}
	var problems []error
	for _, e := range entries {
		switch name := e.Name(); {
		case !IsConfiguration(name) || !e.Type().IsRegular():
		case strings.HasPrefix(name, "terragrunt.hcl"):
			o.backend = ""
		default:
			problems = append(problems, o.add(fsys, path.Join(dir, name)))
		}
	}
	return o.outline(), errors.Join(problems...)
}

// An outliner collects the blocks of a root.
type outliner struct {
	backend    string
	partial    bool
	sources    map[string]string // source addresses by local name
	variables  map[string]cty.Value
	configured map[string][]hcl.Body // by local name
}

func (o *outliner) add(fsys fs.FS, name string) error {
	text, err := readBounded(fsys, name)
	if err != nil {
		return err
	}
	file, err := syntax.Parse(name, text)
	if err != nil {
		return err
	}
	for _, block := range blocksOf(file.Body, hcl.BlockHeaderSchema{Type: "terraform"}, hcl.BlockHeaderSchema{Type: "provider", LabelNames: []string{"name"}},
		hcl.BlockHeaderSchema{Type: "variable", LabelNames: []string{"name"}}) {
		switch block.Type {
		case "terraform":
			o.addTerraform(block.Body)
		case "provider":
			o.configured[block.Labels[0]] = append(o.configured[block.Labels[0]], block.Body)
		case "variable":
			if value, ok := textOf(block.Body, "default", nil); ok {
				o.variables[block.Labels[0]] = cty.StringVal(value)
			}
		}
	}
	return nil
}

func (o *outliner) addTerraform(body hcl.Body) {
	for _, block := range blocksOf(body, hcl.BlockHeaderSchema{Type: "backend", LabelNames: []string{"type"}}, hcl.BlockHeaderSchema{Type: "cloud"},
		hcl.BlockHeaderSchema{Type: "required_providers"}) {
		switch block.Type {
		case "backend":
			settings, _ := block.Body.JustAttributes()
			o.backend, o.partial = block.Labels[0], len(settings) == 0 && block.Labels[0] != "local"
		case "cloud":
			o.backend = block.Type
		case "required_providers":
			required, _ := block.Body.JustAttributes()
			for local, attribute := range required {
				o.sources[local] = local
				if value, _ := attribute.Expr.Value(nil); value.IsKnown() && !value.IsNull() && value.Type().IsObjectType() && value.Type().HasAttribute("source") {
					if source, ok := text(value.GetAttr("source")); ok {
						o.sources[local] = source
					}
				}
			}
		}
	}
}

func (o *outliner) outline() Outline {
	result := Outline{Backend: o.backend, Partial: o.partial}
	for local := range o.configured {
		if o.sources[local] == "" {
			o.sources[local] = local
		}
	}
	scope := &hcl.EvalContext{Variables: map[string]cty.Value{"var": cty.ObjectVal(o.variables)}}
	for _, local := range slices.Sorted(maps.Keys(o.sources)) {
		name := path.Base(o.sources[local])
		for _, body := range o.configured[local] {
			settings := map[string]string{}
			for _, setting := range outlineSettings() {
				if value, ok := textOf(body, setting, scope); ok {
					settings[setting] = value
				}
			}
			result.Providers = append(result.Providers, ProviderOutline{name, settings})
		}
		if len(o.configured[local]) == 0 {
			result.Providers = append(result.Providers, ProviderOutline{Name: name})
		}
	}
	return result
}

func blocksOf(body hcl.Body, headers ...hcl.BlockHeaderSchema) hcl.Blocks {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: headers})
	return content.Blocks
}

// textOf returns the value of an attribute that is a text.
func textOf(body hcl.Body, name string, scope *hcl.EvalContext) (string, bool) {
	content, _, _ := body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: name}}})
	attribute := content.Attributes[name]
	if attribute == nil {
		return "", false
	}
	value, diags := attribute.Expr.Value(scope)
	if diags.HasErrors() {
		return "", false
	}
	return text(value)
}

// text returns a known text.
func text(value cty.Value) (string, bool) {
	if value.IsMarked() || !value.IsKnown() || value.IsNull() || value.Type() != cty.String {
		return "", false
	}
	return value.AsString(), true
}
