// Package netbox reads a NetBox as intent: its virtual machines claim the guests
// of Proxmox clusters and the servers of OpenStack clouds, and the members of
// chosen clusters the nodes of a Kubernetes cluster. It is pure: the same look at
// a NetBox gives the same declaration, and nothing is read besides.
//
// A claim is written in NetBox's own words (memory in MB, status active), and
// holds only what NetBox says. Which machine it means is told by identities: the
// id that a custom field holds, the uuid, the MAC addresses, the name. What the
// systems differ in stands in the table of systems.
package netbox

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/model"
)

// Type is the type of declarations that this package derives, and of the source
// that they are derived from.
const Type = "netbox"

// Definition returns the declaration type "netbox".
func Definition() declared.Definition { return declared.DefineDerived(Type, Defaults(), open) }

func open(env declared.Env, config Config) (declared.Deriver, error) {
	if err := config.check(env); err != nil {
		return nil, err
	}
	d := &deriver{env: env, config: config, ignored: map[string]bool{}}
	for _, word := range config.Ignore {
		d.ignored[word] = true
	}
	for _, name := range slices.Sorted(slices.Values(env.Governs)) {
		if systemOf(env.Types[name]) != nil {
			d.sources = append(d.sources, name)
		}
	}
	return d, nil
}

// A deriver makes declarations of looks at one NetBox. It is immutable.
type deriver struct {
	env    declared.Env
	config Config
	// ignored are the words that are not compared.
	ignored map[string]bool
	// sources are the governed ones that hold machines, sorted.
	sources []string
}

// From implements declared.Deriver.
func (d *deriver) From() string { return d.config.Source }

// Derive implements declared.Deriver. What could not be read of the NetBox is a
// Problem; what was read claims all the same.
func (d *deriver) Derive(snapshot model.Snapshot) (model.Declaration, error) {
	ix := newIndex(&snapshot)
	places := d.place(ix)
	c := newComposer(d, ix)
	out := model.Declaration{Name: d.env.Name, Governs: d.env.Governs, Inventory: true, Scopes: d.scopes(),
		Claims: make([]model.Claim, 0, len(ix.machines))}
	for _, vm := range ix.machines {
		in := places.of(ix, vm)
		typ := d.env.Types[in.source]
		if s := systemOf(typ); s != nil {
			out.Claims = append(out.Claims, c.claim(vm, s, in))
		} else if typ == kubernetes {
			out.Claims = append(out.Claims, d.node(ix, vm, in.source))
		}
	}
	for _, device := range ix.devicesByID() {
		if in := places.of(ix, device); d.env.Types[in.source] == kubernetes {
			out.Claims = append(out.Claims, d.node(ix, device, in.source))
		}
	}
	out.Removals, out.LogUnread = d.removals(ix, places), ix.snapshot.LogUnread
	out.Problems = slices.Concat(ix.unread(), places.problems, c.unseen.problems())
	slices.SortFunc(out.Claims, func(a, b model.Claim) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Address, b.Address))
	})
	return out, nil
}

// scopes are where NetBox is expected to know everything: all machines.
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
