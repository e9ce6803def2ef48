package state

import (
	"errors"
	"slices"
	"strings"
)

// A Provider identifies a provider configuration. The default registries of Terraform and OpenTofu count as
// the same.
type Provider struct {
	// Host is the host of the registry, or "" for the default registry of either program.
	Host string
	// Namespace is "" for a state of Terraform 0.12 that does not contain it.
	Namespace string
	Type      string
	// Alias is the alias of the configuration, or "" for the default configuration.
	Alias string
}

// String returns the source address without a default host: "bpg/proxmox".
func (p Provider) String() string {
	parts := slices.DeleteFunc([]string{p.Host, p.Namespace, p.Type}, func(s string) bool { return s == "" })
	return strings.Join(parts, "/")
}

// parseProvider parses the address of a provider configuration:
//
//	module.a.provider["registry.opentofu.org/bpg/proxmox"].alias["key"]
//	module.a.provider.proxmox.alias
//
// The second form is that of Terraform 0.12. Only OpenTofu writes a key.
func parseProvider(address string) (Provider, error) {
	rest, ok := strings.CutPrefix(withoutModules(address), "provider")
	if !ok {
		return Provider{}, errors.New("not the address of a provider")
	}
	var source, alias string
	if quoted, ok := strings.CutPrefix(rest, `["`); ok {
		source, alias, ok = strings.Cut(quoted, `"]`)
		if !ok {
			return Provider{}, errors.New("not the address of a provider")
		}
	} else {
		source, alias, _ = strings.Cut(strings.TrimPrefix(rest, "."), ".")
	}
	p, err := parseSource(source)
	p.Alias, _, _ = strings.Cut(strings.TrimPrefix(alias, "."), "[")
	return p, err
}

// withoutModules removes the prefix "module.a.module.b." of a provider address.
func withoutModules(address string) string {
	for {
		below, ok := strings.CutPrefix(address, "module.")
		_, rest, found := strings.Cut(below, ".")
		if !ok || !found {
			return address
		}
		address = rest
	}
}

func parseSource(source string) (Provider, error) {
	parts := strings.Split(source, "/")
	if len(parts) > 3 || slices.Contains(parts, "") {
		return Provider{}, errors.New("not the address of a provider")
	}
	parts = append(make([]string, 3-len(parts)), parts...)
	p := Provider{Host: parts[0], Namespace: parts[1], Type: parts[2]}
	if p.Host == "registry.terraform.io" || p.Host == "registry.opentofu.org" {
		p.Host = ""
	}
	if p.Namespace == "-" {
		p.Namespace = ""
	}
	return p, nil
}
