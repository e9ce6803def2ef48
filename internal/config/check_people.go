package config

import (
	"fmt"

	"github.com/driftd/driftd/internal/access"
)

// checkPeople adds a problem for each person without a name or an identity, for each invalid one,
// and for each name and identity that occurs twice.
func (d *document) checkPeople(people []Person) {
	names, owners := map[string]string{}, map[access.Identity]string{}
	for i, p := range people {
		at := fmt.Sprintf("people[%d]", i)
		d.checkPersonName(at, p.Name, names)
		ids := p.Identified().Identities()
		if len(ids) == 0 {
			d.add(at, "person %q without an identity: set one of unix, login, oidc, slack, kubernetes, proxmox", p.Name)
		}
		for _, id := range ids {
			key := child(at, string(id.Kind))
			first, taken := owners[id]
			switch err := id.Check(); {
			case err != nil:
				d.add(key, "%s of person %q: %v", id.Kind, p.Name, err)
			case taken:
				d.add(key, "%s %q belongs to two persons: %s has it already, keep one", id.Kind, id.ID, d.line(first, key))
			default:
				owners[id] = key
			}
		}
	}
}

// checkPersonName adds a problem for an invalid or duplicate name. names has the paths of the
// earlier names.
func (d *document) checkPersonName(at, name string, names map[string]string) {
	key := child(at, "name")
	first, taken := names[name]
	switch err := access.CheckPersonName(name); {
	case name == "":
		d.missing(at, "name", "a person without a name: give it one, decisions record it")
	case err != nil:
		d.add(key, "person name %q: %v", name, err)
	case taken:
		d.add(key, "duplicate person name %q: %s has it already", name, d.line(first, key))
	default:
		names[name] = key
	}
}
