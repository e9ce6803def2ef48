package netbox

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared"
)

// The types of sources whose resources a NetBox can claim.
const (
	proxmox    = "proxmox"
	openstack  = "openstack"
	kubernetes = "kubernetes"
)

// What a machine is known by.
const (
	byVMID = "vmid"
	byUUID = "uuid"
	byMAC  = "mac"
	byName = "name"
)

// Config is the settings of a declaration that a NetBox holds.
type Config struct {
	// Source is the configured source of type netbox that it is read from. It
	// must be given.
	Source string `mapstructure:"source"`
	// Clusters names the governed source that a NetBox cluster stands for. For a
	// type of sources of which neither it nor Tenants names one, the clusters'
	// names and types tell.
	Clusters map[string]string `mapstructure:"clusters"`
	// Tenants names the governed source that holds the virtual machines of a
	// NetBox tenant, whatever their cluster (an OpenStack project).
	Tenants map[string]string `mapstructure:"tenants"`
	// Identity is what tells which machine is meant, the surest first: vmid, uuid,
	// mac, name.
	Identity []string `mapstructure:"identity"`
	// VMIDField is the custom field that holds a guest's id; without it, the
	// first of proxmox_vmid, vmid and vm_id that any virtual machine has.
	VMIDField string `mapstructure:"vmid_field"`
	// UUIDField is the custom field that holds a machine's uuid; without it, uuid
	// and what the type of source suggests, or else the serial number.
	UUIDField string `mapstructure:"uuid_field"`
	// Ignore are words of a claim that are not compared (tags, disks, vlan).
	Ignore []string `mapstructure:"ignore"`
	// IgnoreTags are patterns of tags that only one side has on purpose.
	IgnoreTags []string `mapstructure:"ignore_tags"`
	// BridgeVLANs are the VLANs that bridges carry by themselves, so that a
	// device on one of them needs no tag.
	BridgeVLANs map[string]int64 `mapstructure:"bridge_vlans"`
}

// Defaults returns the settings that hold where the configuration is silent.
func Defaults() Config { return Config{Identity: identities()} }

func identities() []string { return []string{byVMID, byUUID, byMAC, byName} }

// words are what a claim can say of a guest, those of its devices included.
func words() []string {
	return []string{"name", "status", "device", "vcpus", "memory", "disk", "disks", "interfaces", "bridge", "vlan", "tagged_vlans",
		"enabled", "primary_ip4", "primary_ip6", "tags"}
}

func (c Config) check(env declared.Env) error {
	return errors.Join(c.checkSource(env), c.checkGoverned(env), c.checkPlaces("clusters", c.Clusters, env), c.checkPlaces("tenants", c.Tenants, env), c.checkLists())
}

func (c Config) checkSource(env declared.Env) error {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(env.Types)) {
		if env.Types[name] == Type {
			found = append(found, name)
		}
	}
	switch {
	case slices.Contains(found, c.Source), unknownType(env, c.Source):
		return nil
	case len(found) == 0:
		return errors.New("setting source: no source of type netbox is configured: add one under sources")
	case c.Source == "":
		return fmt.Errorf("setting source is missing: name the source that NetBox is read through (%s)", strings.Join(found, ", "))
	}
	return fmt.Errorf("setting source is %q, which is no source of type netbox: want %s", c.Source, strings.Join(found, " or "))
}

// unknownType reports whether the types of the sources do not tell if the source is a
// NetBox: its type is unknown, or there are no sources. Both are errors of their own.
func unknownType(env declared.Env, source string) bool {
	typ, exists := env.Types[source]
	return exists && typ == "" || len(env.Types) == 0
}

func (c Config) checkGoverned(env declared.Env) error {
	named := slices.Collect(maps.Values(c.Clusters))
	for _, name := range env.Governs {
		switch typ := env.Types[name]; {
		case typ == "": // That there is no such source is said elsewhere.
		case typ == kubernetes && !slices.Contains(named, name):
			return fmt.Errorf("governs %q, a Kubernetes cluster: name the NetBox cluster of its nodes, as in clusters: {k8s-prod: %s}", name, name)
		case typ != kubernetes && systemOf(typ) == nil:
			return fmt.Errorf("governs %q, a source of type %s: NetBox speaks for sources of type openstack, proxmox and kubernetes; leave it out", name, typ)
		}
	}
	return nil
}

func (c Config) checkPlaces(setting string, places map[string]string, env declared.Env) error {
	for _, place := range slices.Sorted(maps.Keys(places)) {
		if name := places[place]; !slices.Contains(env.Governs, name) {
			return fmt.Errorf("setting %s gives %q to %q, which the declaration does not govern: want %s", setting, place, name, strings.Join(env.Governs, " or "))
		}
	}
	return nil
}

func (c Config) checkLists() error {
	if len(c.Identity) == 0 {
		return fmt.Errorf("setting identity is empty: want some of %s", strings.Join(identities(), ", "))
	}
	for i, by := range c.Identity {
		switch {
		case !slices.Contains(identities(), by):
			return fmt.Errorf("setting identity: %q is none: want some of %s", by, strings.Join(identities(), ", "))
		case slices.Contains(c.Identity[:i], by):
			return fmt.Errorf("setting identity names %s twice: drop one", by)
		}
	}
	for _, word := range c.Ignore {
		if !slices.Contains(words(), word) {
			return fmt.Errorf("setting ignore: %q is nothing that is compared: want some of %s", word, strings.Join(words(), ", "))
		}
	}
	for _, pattern := range c.IgnoreTags {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("setting ignore_tags: pattern %q is malformed: want a tag such as backup or team-*", pattern)
		}
	}
	for _, bridge := range slices.Sorted(maps.Keys(c.BridgeVLANs)) {
		if vid := c.BridgeVLANs[bridge]; vid < 1 || vid > 4094 {
			return fmt.Errorf("setting bridge_vlans: %s carries VLAN %d: want 1 to 4094", bridge, vid)
		}
	}
	return nil
}
