package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// builtin is the host and namespace of the providers that are part of the CLI.
const builtin = "terraform.io/builtin"

// defaultHosts returns the registries of addresses without a host: those of Terraform and OpenTofu.
func defaultHosts() []string { return []string{"registry.terraform.io", "registry.opentofu.org"} }

// An address is the source address of a provider, or a pattern of addresses. An empty host is the
// default registry of the CLI.
type address struct{ host, namespace, name string }

// parseAddress parses "aws", "hashicorp/aws" or "registry.example.org/acme/cloud".
func parseAddress(text string) (address, error) {
	parts := strings.Split(strings.ToLower(text), "/")
	for _, part := range parts {
		if part == "" || strings.ContainsAny(part, " \t\n@?#%\\") {
			return address{}, fmt.Errorf("%q is not an address of a provider: want NAMESPACE/NAME or HOST/NAMESPACE/NAME", text)
		}
	}
	switch len(parts) {
	case 1:
		return address{namespace: "hashicorp", name: parts[0]}, nil
	case 2:
		return address{namespace: parts[0], name: parts[1]}, nil
	case 3:
		return address{parts[0], parts[1], parts[2]}, nil
	}
	return address{}, fmt.Errorf("%q is not an address of a provider: want NAMESPACE/NAME or HOST/NAMESPACE/NAME", text)
}

// implied returns the provider of a local name that required_providers does not have.
func implied(local string) address {
	if local == "terraform" {
		return address{"terraform.io", "builtin", "terraform"}
	}
	return address{namespace: "hashicorp", name: strings.ToLower(local)}
}

// String returns the address in its shortest form.
func (a address) String() string {
	return strings.TrimPrefix(a.host+"/"+a.namespace+"/"+a.name, "/")
}

// matches reports whether the pattern a matches an address. A pattern without a host matches in
// both default registries. An address without a host may be in either of them.
func (a address) matches(b address) bool {
	hosts, own := []string{b.host}, []string{a.host}
	if b.host == "" {
		hosts = defaultHosts()
	}
	if a.host == "" {
		own = defaultHosts()
	}
	if !matchPath(a.namespace, b.namespace) || !matchPath(a.name, b.name) {
		return false
	}
	for _, pattern := range own {
		for _, host := range hosts {
			if matchPath(pattern, host) {
				return true
			}
		}
	}
	return false
}

// allowsProvider reports whether the allow-list has a provider.
func (p Policy) allowsProvider(a address) bool {
	if p.Providers == nil || a.host+"/"+a.namespace == builtin {
		return true
	}
	for _, pattern := range p.Providers {
		// Check has already parsed all patterns.
		if parsed, err := parseAddress(pattern); err == nil && parsed.matches(a) {
			return true
		}
	}
	return false
}

// installed returns the providers that init installed in TF_DATA_DIR, including those that only the
// state requires.
func installed(data string) ([]address, error) {
	top := filepath.Join(data, "providers")
	if _, err := os.Stat(top); os.IsNotExist(err) {
		return nil, nil
	}
	names, err := filepath.Glob(filepath.Join(globEscape(top), "*", "*", "*"))
	if err != nil {
		return nil, fmt.Errorf("list installed providers: %w", err)
	}
	var found []address
	for _, name := range names {
		relative, err := filepath.Rel(top, name)
		if err != nil {
			return nil, fmt.Errorf("list installed providers: %w", err)
		}
		a, err := parseAddress(filepath.ToSlash(relative))
		if err != nil {
			return nil, fmt.Errorf("list installed providers: %w", err)
		}
		found = append(found, a)
	}
	return found, nil
}

// globEscape returns a pattern that matches only path.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
