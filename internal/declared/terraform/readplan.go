package terraform

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/preview"
)

// maxPlan bounds the JSON of a plan, in bytes.
const maxPlan = 256 << 20

// notJSON is the next step for a file that is not the JSON of a plan.
const notJSON = "write it with: terraform show -json tfplan > tfplan.json (or tofu)"

// ReadPlan reads the output of `terraform show -json` for a plan file. It seals values that the plan or its
// providers mark as sensitive. name is the name of the plan's declaration, or "".
func ReadPlan(r io.Reader, name string, sealer model.Sealer) (preview.Plan, error) {
	p, err := decodePlan(r)
	if err != nil {
		return preview.Plan{}, err
	}
	tables, err := mapping.Load()
	if err != nil {
		return preview.Plan{}, err
	}
	own, read := newOwn(name, p.TerraformVersion), plan.Read(plan.Input{Plan: p, AsPlanned: true}, sealer)
	content := preview.Plan{Objects: map[string]preview.Object{},
		Declaration: model.Declaration{Name: name, Governs: []string{own.snapshot.Source}}}
	for i := range read.Instances {
		instance := &read.Instances[i]
		switch {
		case instance.Type == plan.CheckType:
		case instance.Unchecked != "":
			content.Gaps = append(content.Gaps, preview.Gap{Declaration: name, Address: instance.Address, Reason: instance.Unchecked})
		default:
			if instance.Action == "" && instance.Live != nil {
				content.Gaps = append(content.Gaps, preview.Gap{Declaration: name, Address: instance.Address,
					Reason: "it was changed outside of Terraform, and the plan has no action for it, as if it was made with -refresh-only: make a normal plan"})
			}
			o := objectOf(instance)
			content.Objects[o.id] = previewed(instance, tables, sealer)
			content.Declaration.Claims = append(content.Declaration.Claims, own.add(&o, instance))
		}
	}
	targeted := p.Complete != nil && !*p.Complete
	if targeted && !p.Errored {
		content.Gaps = append(content.Gaps, preview.Gap{Declaration: name, Reason: "the plan is incomplete, because of -target or deferred changes: plan the whole root"})
	}
	if !read.Complete {
		content.Gaps = append(content.Gaps, preview.Gap{Declaration: name, Reason: "the plan ended with an error, and may lack resources: run the plan again"})
	}
	content.Partial = p.Errored || !read.Complete || targeted
	content.Declaration.Live = own.sorted()
	return content, nil
}

// decodePlan decodes a plan. Errors name the next step.
func decodePlan(r io.Reader) (*plan.Plan, error) {
	content, err := bounded.ReadAll(r, maxPlan)
	switch {
	case errors.Is(err, bounded.ErrTooLarge):
		return nil, fmt.Errorf("read plan: it has more than %d MiB: split the root", maxPlan>>20)
	case err != nil:
		return nil, fmt.Errorf("read plan: %w", err)
	case len(bytes.TrimSpace(content)) == 0:
		return nil, errors.New("read plan: it is empty: " + notJSON)
	case bytes.HasPrefix(content, []byte("PK")):
		return nil, errors.New("read plan: it is a plan file, and not its JSON: " + notJSON)
	}
	p, err := plan.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("read plan: not the JSON of a plan: %w; %s", err, notJSON)
	}
	if p.Config == nil {
		return nil, errors.New("read plan: it has no configuration, so it is the JSON of a state or is incomplete: " + notJSON)
	}
	return p, nil
}

// objectOf returns the object of an instance that is compared with its own live value.
func objectOf(i *plan.Instance) object {
	o := object{id: i.Address, address: i.Address, typ: i.Type, name: i.Name, provider: i.Provider,
		replaces: i.Replaces, replaced: i.Action == "replace"}
	if i.Deposed != "" {
		o.id += " (deposed " + i.Deposed + ")"
	}
	return o
}

// previewed returns the object of an instance for a preview.
func previewed(i *plan.Instance, tables *mapping.Tables, sealer model.Sealer) preview.Object {
	o := preview.Object{Address: i.Address, Type: i.Type, Name: i.Name, ID: i.ID, Action: i.Action, Imports: i.Imports}
	if i.Action == "delete" || i.Action == "replace" {
		o.Reason = i.Pending
	}
	typ, known := tables.Find(i.Provider, i.Type)
	if !known || i.Recorded == nil || i.Deposed != "" {
		return o
	}
	if _, none := typ.NoLiveSide(); none {
		return o
	}
	// If the ID only names the claim, there is no identity to compare.
	if mapped, err := typ.Claim(*i.Recorded, sealer); err == nil && !mapped.ByIdentity {
		o.Live = model.Ref{Kind: mapped.Kind, ID: mapped.ID}
	}
	return o
}
