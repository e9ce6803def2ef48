// Package netbox derives a declaration of intent from the snapshot of a NetBox. NetBox's
// virtual machines claim the guests of Proxmox clusters and the servers of OpenStack clouds.
// The members of configured clusters claim the nodes of a Kubernetes cluster. The package is
// pure: the same snapshot gives the same declaration.
//
// A claim uses the fields and units of NetBox (memory in MB, status active) and contains only
// fields that NetBox has a value for. Its machine is found by identities: the VMID in a custom
// field, the UUID, the MAC addresses and the name. The table of systems contains the
// differences between the types of sources.
package netbox

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/model"
)

// Type is the type of the derived declarations, and of the source from which they are derived.
const Type = "netbox"

// Definition returns the definition of the declaration type "netbox".
func Definition() declared.Definition { return declared.DefineDerived(Type, Defaults(), open) }

func open(env declared.Env, config Config) (declared.Deriver, error) {
	if err := config.check(env); err != nil {
		return nil, err
	}
	d := &deriver{env: env, config: config, ignored: map[string]bool{}}
	for _, field := range config.Ignore {
		d.ignored[field] = true
	}
	for _, name := range slices.Sorted(slices.Values(env.Governs)) {
		if systemOf(env.Types[name]) != nil {
			d.sources = append(d.sources, name)
		}
	}
	return d, nil
}

// A deriver derives declarations from the snapshots of one NetBox. It is immutable.
type deriver struct {
	env    declared.Env
	config Config
	// ignored contains the names of the fields that are not compared.
	ignored map[string]bool
	// sources are the governed sources whose type is a system, sorted.
	sources []string
}

// From implements declared.Deriver.
func (d *deriver) From() string { return d.config.Source }

// Object implements declared.Deriver.
func (d *deriver) Object(address string) (ref model.Ref, ok bool) {
	list, id, _ := strings.Cut(address, "/")
	switch list {
	case "virtual-machines":
		ref = model.Ref{Kind: kindMachine, ID: id}
	case "devices":
		ref = model.Ref{Kind: kindDevice, ID: id}
	}
	return ref, ref.ID != ""
}

// Derive implements declared.Deriver. Objects of NetBox that could not be read become Problems; the others
// have claims.
func (d *deriver) Derive(snapshot model.Snapshot) (model.Declaration, error) {
	ix := newIndex(&snapshot)
	placements := d.place(ix)
	c := newBuilder(d, ix)
	out := model.Declaration{Name: d.env.Name, Governs: d.env.Governs, Inventory: true, Scopes: d.scopes(),
		Claims: make([]model.Claim, 0, len(ix.machines))}
	for _, vm := range ix.machines {
		in := placements.of(ix, vm)
		typ := d.env.Types[in.source]
		if s := systemOf(typ); s != nil {
			out.Claims = append(out.Claims, c.claim(vm, s, in))
		} else if typ == kubernetes {
			out.Claims = append(out.Claims, d.node(ix, vm, in.source))
		}
	}
	for _, device := range ix.devicesByID() {
		if in := placements.of(ix, device); d.env.Types[in.source] == kubernetes {
			out.Claims = append(out.Claims, d.node(ix, device, in.source))
		}
	}
	out.Removals, out.LogUnread = d.removals(ix, placements), ix.snapshot.LogUnread
	out.Problems = slices.Concat(ix.unread(), placements.problems, c.omissions.problems())
	slices.SortFunc(out.Claims, func(a, b model.Claim) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Address, b.Address))
	})
	return out, nil
}

// scopes returns the kinds of machines of the governed sources: NetBox is expected to contain
// all of them.
func (d *deriver) scopes() []model.Scope {
	var scopes []model.Scope
	for _, s := range systems() {
		if slices.ContainsFunc(d.sources, func(source string) bool { return d.env.Types[source] == s.typ }) {
			for _, kind := range slices.Sorted(slices.Values(s.kinds)) {
				scopes = append(scopes, model.Scope{Kind: kind})
			}
		}
	}
	return scopes
}
