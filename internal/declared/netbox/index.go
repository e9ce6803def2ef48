package netbox

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// The kinds that are read from NetBox, and the kinds that are claimed.
const (
	kindMachine     = "netbox/virtualization.virtualmachine"
	kindInterface   = "netbox/virtualization.vminterface"
	kindDisk        = "netbox/virtualization.virtualdisk"
	kindCluster     = "netbox/virtualization.cluster"
	kindClusterType = "netbox/virtualization.clustertype"
	kindDevice      = "netbox/dcim.device"
	kindMAC         = "netbox/dcim.macaddress"
	kindAddress     = "netbox/ipam.ipaddress"
	kindVLAN        = "netbox/ipam.vlan"
	kindTag         = "netbox/extras.tag"
	kindTenant      = "netbox/tenancy.tenant"

	kindQEMU   = "proxmox/qemu"
	kindLXC    = "proxmox/lxc"
	kindServer = "openstack/server"
	kindNode   = "kubernetes/Node"
)

// An index finds the objects that belong to a virtual machine.
type index struct {
	snapshot *model.Snapshot
	// machines are the virtual machines, sorted by ID.
	machines []*model.Resource
	// of contains the resources by kind and ID, tags the tags by name.
	of   map[string]map[string]*model.Resource
	tags map[string]*model.Resource
	// interfaces and disks are those of each virtual machine, by its ID. They are sorted by
	// ID.
	interfaces, disks map[string][]*model.Resource
	auditEvents       map[model.Ref][]*model.AuditEvent
}

func newIndex(s *model.Snapshot) *index {
	ix := &index{snapshot: s, of: map[string]map[string]*model.Resource{}, tags: map[string]*model.Resource{},
		interfaces: map[string][]*model.Resource{}, disks: map[string][]*model.Resource{}, auditEvents: map[model.Ref][]*model.AuditEvent{}}
	for _, kind := range []string{kindMachine, kindInterface, kindDisk, kindCluster, kindClusterType, kindDevice, kindMAC, kindAddress, kindVLAN, kindTag, kindTenant} {
		ix.of[kind] = map[string]*model.Resource{}
	}
	for i := range s.Resources {
		if r := &s.Resources[i]; ix.of[r.Kind] != nil {
			ix.of[r.Kind][r.ID] = r
		}
	}
	ix.machines = byID(ix.of[kindMachine])
	for _, r := range byID(ix.of[kindInterface]) {
		vm := idOf(r.Value.At("virtual_machine"))
		ix.interfaces[vm] = append(ix.interfaces[vm], r)
	}
	for _, r := range byID(ix.of[kindDisk]) {
		vm := idOf(r.Value.At("virtual_machine"))
		ix.disks[vm] = append(ix.disks[vm], r)
	}
	for _, r := range byID(ix.of[kindTag]) {
		ix.tags[r.Value.At("name").Str()] = r
	}
	for i := range s.AuditEvents {
		if t := &s.AuditEvents[i]; ix.of[t.Kind] != nil {
			ix.auditEvents[t.Ref] = append(ix.auditEvents[t.Ref], t)
		}
	}
	return ix
}

// byID returns the resources of a kind, sorted by ID.
func byID(of map[string]*model.Resource) []*model.Resource {
	return slices.SortedFunc(maps.Values(of), func(a, b *model.Resource) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
}

func (ix *index) devicesByID() []*model.Resource { return byID(ix.of[kindDevice]) }

// find returns the resource of a kind that ref refers to, or nil if it was not read.
func (ix *index) find(kind string, ref model.Value) *model.Resource { return ix.of[kind][idOf(ref)] }

// idOf returns the ID in a reference, or "".
func idOf(ref model.Value) string {
	if ref.Kind() != model.Number {
		return ""
	}
	return ref.Text()
}

// covers reports whether all objects of a kind were read.
func (ix *index) covers(kind string) bool {
	complete, _ := ix.snapshot.Covers(kind, "")
	return complete
}

// failure returns why a kind was not read completely. It returns "" if the kind was read, is
// excluded, or does not exist in this version of NetBox.
func (ix *index) failure(kind string) string {
	for _, scope := range []string{kind, ""} {
		for _, c := range ix.snapshot.Coverage {
			if c.Kind != scope || c.Place != "" {
				continue
			}
			if !c.Failed() {
				return ""
			}
			return cmp.Or(c.Reason, "not read in full")
		}
	}
	return ""
}

// unread returns the problems of virtual machines that could not be read.
func (ix *index) unread() []model.Problem {
	var problems []model.Problem
	if complete, reason := ix.snapshot.Covers(kindMachine, ""); !complete {
		problems = append(problems, model.Problem{Address: "virtual-machines",
			Reason: "not all virtual machines could be read: " + cmp.Or(reason, "not read in full")})
	}
	for _, u := range ix.snapshot.Unread {
		if u.Kind == kindMachine {
			problems = append(problems, model.Problem{Address: "virtual-machines/" + u.ID, Reason: u.Reason})
		}
	}
	slices.SortFunc(problems, func(a, b model.Problem) int { return cmp.Compare(a.Address, b.Address) })
	return problems
}

// An omission is a field that is not claimed because objects of a kind could not be read.
type omission struct{ fields, kind string }

// omissions counts the virtual machines with each omission.
type omissions struct {
	ix    *index
	count map[omission]int
}

// add counts a virtual machine whose field is not claimed, because objects of a kind could not
// be read. Excluded kinds are not counted.
func (u omissions) add(fields, kind string) {
	if u.ix.failure(kind) != "" {
		u.count[omission{fields, kind}]++
	}
}

// problems returns one problem that lists all omissions, or nil.
func (u omissions) problems() []model.Problem {
	if len(u.count) == 0 {
		return nil
	}
	texts := make([]string, 0, len(u.count))
	for o, n := range u.count {
		machines := fmt.Sprintf("%d virtual machines", n)
		if n == 1 {
			machines = "one virtual machine"
		}
		texts = append(texts, fmt.Sprintf("%s of %s (%s: %s)", o.fields, machines, strings.TrimPrefix(o.kind, Type+"/"), u.ix.failure(o.kind)))
	}
	slices.Sort(texts)
	return []model.Problem{{Address: Type, Reason: "not compared, because NetBox was not read completely: " + strings.Join(texts, "; ")}}
}
