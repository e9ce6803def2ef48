package netbox

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A system is a type of source whose machines are virtual machines in NetBox.
type system struct {
	// typ is the type of source. aliases are other names of it in the types of NetBox
	// clusters.
	typ     string
	aliases []string
	// kinds are the kinds of its machines. noun is the word for a machine in messages.
	kinds []string
	noun  string
	// identities are the kinds of identities of its machines. uuidFields are the custom
	// fields that can contain a machine's UUID.
	identities, uuidFields []string
	// part is the unit of the system that a source can be limited to ("project"). A machine
	// that such a source lacks may exist elsewhere. It is "" if a source always reads all.
	part string
	// slot reports whether name is a name that the system gives to a disk.
	slot func(name string) bool
	read func(live model.Value) machine
}

// systems returns the supported systems, sorted by type.
func systems() []*system {
	return []*system{
		{
			typ: openstack, kinds: []string{kindServer}, noun: "server",
			identities: []string{byUUID, byMAC, byName}, uuidFields: []string{"uuid", "openstack_uuid", "openstack_id"},
			part: "project", slot: isVolume, read: readServer,
		},
		{
			typ: proxmox, aliases: []string{"pve"}, kinds: []string{kindQEMU, kindLXC}, noun: "guest",
			identities: identities(), uuidFields: []string{"uuid", "proxmox_uuid"},
			slot: isSlot, read: readGuest,
		},
	}
}

// systemOf returns the system of the source type typ, or nil.
func systemOf(typ string) *system {
	for _, s := range systems() {
		if s.typ == typ {
			return s
		}
	}
	return nil
}

// matchesType reports whether text, the name or slug of a cluster type, names the system: it
// contains the source type, or an alias as a word, with or without a version number.
func (s *system) matchesType(text string) bool {
	text = strings.ToLower(text)
	words := strings.FieldsFunc(text, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	return strings.Contains(text, s.typ) || slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains(s.aliases, strings.TrimRight(word, "0123456789"))
	})
}

// A machine is a live machine as far as NetBox has fields for it.
type machine interface {
	// observe returns the scalar field name in the form of the claim. If the system does not
	// report the field, it returns declared without a path.
	observe(name string, declared model.Value) observation
	// liveValue returns the value of the live field if the declared one is v. subfield is a
	// field of an element of name. known is false if the value does not follow from v.
	liveValue(name, subfield string, v model.Value) (value model.Value, known bool)
	// drives and nics return the disks and network devices, each in a fixed order.
	drives() []drive
	nics() []nic
	// otherAddresses returns the addresses that are on no known network device.
	otherAddresses() []liveAddress
}

// An observation is a live field in the form of the claim, with its path in the live resource.
// The path is "" if several fields determine the value, or none was compared.
type observation struct {
	value model.Value
	path  string
}
