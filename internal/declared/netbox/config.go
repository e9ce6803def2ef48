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

// The kinds of identities of a machine.
const (
	byVMID = "vmid"
	byUUID = "uuid"
	byMAC  = "mac"
	byName = "name"
)

// Config configures a declaration in NetBox.
type Config struct {
	// Source is the name of the source of type netbox from which the declaration is read. It
	// is required.
	Source string `mapstructure:"source"`
	// Clusters maps the names of NetBox clusters to governed sources. If neither Clusters nor Tenants has a
	// source of a type, driftd compares the names and types of the clusters.
	Clusters map[string]string `mapstructure:"clusters"`
	// Tenants maps the names of NetBox tenants to the governed sources of their virtual machines, in any
	// cluster (an OpenStack project).
	Tenants map[string]string `mapstructure:"tenants"`
	// Identity lists the kinds of identities by which machines are matched, the most reliable first: vmid,
	// uuid, mac, name.
	Identity []string `mapstructure:"identity"`
	// VMIDField is the custom field with the ID of a guest. The default is the first of proxmox_vmid, vmid
	// and vm_id that any virtual machine has.
	VMIDField string `mapstructure:"vmid_field"`
	// UUIDField is the custom field with the UUID of a machine. The default is the field uuid, or those
	// usual for the type of source, or else the serial number.
	UUIDField string `mapstructure:"uuid_field"`
	// Ignore lists fields of claims that are not compared (tags, disks, vlan).
	Ignore []string `mapstructure:"ignore"`
	// IgnoreTags lists patterns of tags that are not compared, neither in NetBox nor in the source.
	IgnoreTags []string `mapstructure:"ignore_tags"`
	// BridgeVLANs maps bridges to their untagged VLANs. A device in such a VLAN needs no tag.
	BridgeVLANs map[string]int64 `mapstructure:"bridge_vlans"`
}

// Defaults returns the default settings.
func Defaults() Config { return Config{Identity: identities()} }

func identities() []string { return []string{byVMID, byUUID, byMAC, byName} }

// fieldNames returns the names of the fields that a claim can have, including those of devices.
func fieldNames() []string {
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
		return fmt.Errorf("setting source is missing: name the source of type netbox (%s)", strings.Join(found, ", "))
	}
	return fmt.Errorf("setting source is %q, which is no source of type netbox: want %s", c.Source, strings.Join(found, " or "))
}

// unknownType reports whether the types of the sources do not show if the source is a NetBox,
// because its type is unknown or there are no sources. Both are reported elsewhere.
func unknownType(env declared.Env, source string) bool {
	typ, exists := env.Types[source]
	return exists && typ == "" || len(env.Types) == 0
}

func (c Config) checkGoverned(env declared.Env) error {
	named := slices.Collect(maps.Values(c.Clusters))
	for _, name := range env.Governs {
		switch typ := env.Types[name]; {
		case typ == "": // An unknown source is reported elsewhere.
		case typ == kubernetes && !slices.Contains(named, name):
			return fmt.Errorf("governs %q, a Kubernetes cluster: name the NetBox cluster of its nodes, as in clusters: {k8s-prod: %s}", name, name)
		case typ != kubernetes && systemOf(typ) == nil:
			return fmt.Errorf("governs %q, a source of type %s: NetBox can govern sources of type openstack, proxmox and kubernetes; remove it", name, typ)
		}
	}
	return nil
}

func (c Config) checkPlaces(setting string, places map[string]string, env declared.Env) error {
	for _, place := range slices.Sorted(maps.Keys(places)) {
		if name := places[place]; !slices.Contains(env.Governs, name) {
			return fmt.Errorf("setting %s maps %q to %q, which the declaration does not govern: want %s", setting, place, name, strings.Join(env.Governs, " or "))
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
			return fmt.Errorf("setting identity: unknown identity %q: want some of %s", by, strings.Join(identities(), ", "))
		case slices.Contains(c.Identity[:i], by):
			return fmt.Errorf("setting identity names %s twice: remove one", by)
		}
	}
	for _, field := range c.Ignore {
		if !slices.Contains(fieldNames(), field) {
			return fmt.Errorf("setting ignore: unknown field %q: want some of %s", field, strings.Join(fieldNames(), ", "))
		}
	}
	for _, pattern := range c.IgnoreTags {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("setting ignore_tags: pattern %q is malformed: want a tag such as backup or team-*", pattern)
		}
	}
	for _, bridge := range slices.Sorted(maps.Keys(c.BridgeVLANs)) {
		if vid := c.BridgeVLANs[bridge]; vid < 1 || vid > lastVLAN {
			return fmt.Errorf("setting bridge_vlans: %s carries VLAN %d: want 1 to %d", bridge, vid, lastVLAN)
		}
	}
	return nil
}
