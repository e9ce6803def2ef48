package netbox

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A system is a type of source whose machines NetBox's virtual machines are.
type system struct {
	// typ is the type of source, and aliases what else the type of a NetBox
	// cluster may call it.
	typ     string
	aliases []string
	// kinds are those of its machines; noun is what people call one.
	kinds []string
	noun  string
	// known is what tells which machine is meant, uuidFields the custom fields
	// that may hold its uuid.
	known, uuidFields []string
	// parts says what of the system a source may be alone, so that absence there
	// proves nothing; "" where a source is always all of it.
	parts string
	// slot tells a name that the system has for the place of a disk.
	slot func(name string) bool
	read func(live model.Value) machine
}

// systems are those that NetBox speaks for, by name.
func systems() []*system {
	return []*system{
		{
			typ: openstack, kinds: []string{kindServer}, noun: "server",
			known: []string{byUUID, byMAC, byName}, uuidFields: []string{"uuid", "openstack_uuid", "openstack_id"},
			parts: "project", slot: isVolume, read: readServer,
		},
		{
			typ: proxmox, aliases: []string{"pve"}, kinds: []string{kindQEMU, kindLXC}, noun: "guest",
			known: identities(), uuidFields: []string{"uuid", "proxmox_uuid"},
			slot: isSlot, read: readGuest,
		},
	}
}

// systemOf returns the system that sources of a type are, or nil.
func systemOf(typ string) *system {
	for _, s := range systems() {
		if s.typ == typ {
			return s
		}
	}
	return nil
}

// calls tells whether a text of a cluster's type names the system: by its name
// anywhere, or by another one as a word, whatever version follows.
func (s *system) calls(text string) bool {
	text = strings.ToLower(text)
	words := strings.FieldsFunc(text, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') })
	return strings.Contains(text, s.typ) || slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains(s.aliases, strings.TrimRight(word, "0123456789"))
	})
}

// A machine is a live one, as far as NetBox has words for it.
type machine interface {
	// look returns what stands behind a word that is a scalar. What the system
	// does not tell is what the claim says.
	look(word string, says model.Value) sight
	// means returns what the field behind a word, or behind a field of an element
	// of it, would hold if NetBox said v; known is false where that cannot be told.
	means(word, field string, v model.Value) (means model.Value, known bool)
	// drives returns its disks, nics its network devices, each in their order.
	drives() []drive
	nics() []nic
	// told returns the addresses that it has on no device that is known.
	told() []located
}

// A sight is a live field in the claim's words, and its path in the live
// resource; "" where it stands for several, or tells nothing.
type sight struct {
	value model.Value
	path  string
}
