package netbox

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// The kinds that are read, and those that are claimed.
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

// An index finds what belongs to a virtual machine.
type index struct {
	snapshot *model.Snapshot
	// machines are sorted by id.
	machines []*model.Resource
	// of holds the resources of each kind by id, named the tags by name.
	of    map[string]map[string]*model.Resource
	named map[string]*model.Resource
	// interfaces and disks are by virtual machine, sorted by id.
	interfaces, disks map[string][]*model.Resource
	traces            map[model.Ref][]*model.AuditEvent
}

func newIndex(s *model.Snapshot) *index {
	ix := &index{snapshot: s, of: map[string]map[string]*model.Resource{}, named: map[string]*model.Resource{},
		interfaces: map[string][]*model.Resource{}, disks: map[string][]*model.Resource{}, traces: map[model.Ref][]*model.AuditEvent{}}
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
		ix.named[r.Value.At("name").Str()] = r
	}
	for i := range s.AuditEvents {
		if t := &s.AuditEvents[i]; ix.of[t.Kind] != nil {
			ix.traces[t.Ref] = append(ix.traces[t.Ref], t)
		}
	}
	return ix
}

// byID returns resources in the order of their ids.
func byID(of map[string]*model.Resource) []*model.Resource {
	return slices.SortedFunc(maps.Values(of), func(a, b *model.Resource) int {
		return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
}

func (ix *index) devicesByID() []*model.Resource { return byID(ix.of[kindDevice]) }

// find returns what a reference leads to, or nil where that was not seen.
func (ix *index) find(kind string, ref model.Value) *model.Resource { return ix.of[kind][idOf(ref)] }

// idOf returns the id that a reference holds; "" is nobody's.
func idOf(ref model.Value) string {
	if ref.Kind() != model.Number {
		return ""
	}
	return ref.Text()
}

// covers tells whether everything of a kind was read.
func (ix *index) covers(kind string) bool {
	complete, _ := ix.snapshot.Covers(kind, "")
	return complete
}

// failure says why a kind was not fully read that should have been; "" where it
// was, or was left out on purpose, or is not known to this version of NetBox.
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

// unread are the problems of virtual machines that were not read: what they
// declare is not known.
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

// An omission is what is not claimed because something else was not seen.
type omission struct{ words, kind string }

// An unseen counts what is not claimed because it could not be read.
type unseen struct {
	ix    *index
	count map[omission]int
}

// note counts that the words of one virtual machine are not claimed since what is
// of a kind could not be read. What was left out on purpose does not count.
func (u unseen) note(words, kind string) {
	if u.ix.failure(kind) != "" {
		u.count[omission{words, kind}]++
	}
}

// problems is one problem that says all, or none.
func (u unseen) problems() []model.Problem {
	if len(u.count) == 0 {
		return nil
	}
	texts := make([]string, 0, len(u.count))
	for o, n := range u.count {
		machines := fmt.Sprintf("%d virtual machines", n)
		if n == 1 {
			machines = "one virtual machine"
		}
		texts = append(texts, fmt.Sprintf("%s of %s (%s: %s)", o.words, machines, strings.TrimPrefix(o.kind, Type+"/"), u.ix.failure(o.kind)))
	}
	slices.Sort(texts)
	return []model.Problem{{Address: Type, Reason: "not compared, because it could not be read: " + strings.Join(texts, "; ")}}
}
