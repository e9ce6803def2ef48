package setup

import (
	"cmp"
	"fmt"
	"iter"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/httpclient"
)

// The types of sources that providers of Terraform manage. They are also the names of the providers.
const (
	proxmox   = "proxmox"
	netbox    = "netbox"
	openstack = "openstack"
	aws       = "aws"
)

// None is the address with which the user excludes a system.
const None = "none"

// Choices are the answers of the user.
type Choices struct {
	// Contexts and Clouds are the names of the contexts and clouds to read.
	Contexts, Clouds []string
	// ProxmoxURL and NetBoxURL are the addresses for roots that do not contain one. None excludes the
	// system.
	ProxmoxURL, NetBoxURL string
	// SlackTokenFile is a file with the token of a bot, and SlackChannel is the ID of a channel. Both are
	// "" if there are no notifications.
	SlackTokenFile, SlackChannel string
	// WorkTree selects the folders as they are instead of their git remotes.
	WorkTree bool
	// StateDir is the state folder. "" means the default.
	StateDir string
	// Base is the folder of the configuration, to which its paths are relative.
	Base string
}

// A Question is a question that the user must answer.
type Question struct {
	// Flag is the flag that answers the question, and Text is the question.
	Flag, Text string
}

// Questions returns the questions that neither the facts nor the choices answer.
func Questions(f *Facts, c *Choices) []Question {
	var missing []Question
	for _, system := range []struct{ typ, title, flag string }{
		{proxmox, "Proxmox VE", "proxmox-url"}, {netbox, "NetBox", "netbox-url"},
	} {
		if f.defaultAddress(c, system.typ) != "" {
			continue
		}
		for root, p := range f.configured() {
			if p.Name == system.typ && address(system.typ, p.endpoint()) == "" {
				missing = append(missing, Question{system.flag, fmt.Sprintf("the address of the %s that %s manages, which is in none of its files", system.title, root.Dir)})
				break
			}
		}
	}
	return missing
}

// CheckAddress returns an error if text is not a valid address of a source.
func CheckAddress(text string) error {
	if text == "" || text == None || address("", text) != "" {
		return nil
	}
	return fmt.Errorf("%q is not an address: want one such as https://pve.example.org:8006, or %s", text, None)
}

// configured returns the providers of all roots.
func (f *Facts) configured() iter.Seq2[*Root, provider] {
	return func(yield func(*Root, provider) bool) {
		for i := range f.Trees {
			for j := range f.Trees[i].Roots {
				root := &f.Trees[i].Roots[j]
				for _, p := range root.Providers {
					if !yield(root, provider{p}) {
						return
					}
				}
			}
		}
	}
}

// A provider is a provider of a root.
type provider struct{ terraform.ProviderOutline }

func (p provider) endpoint() string {
	return cmp.Or(p.Settings["endpoint"], p.Settings["pm_api_url"], p.Settings["server_url"])
}

// defaultAddress returns the address of the system of a type for providers without one; None if it is left out, and "" if it is unknown.
func (f *Facts) defaultAddress(c *Choices, typ string) string {
	chosen, found := c.ProxmoxURL, []string{"PROXMOX_VE_ENDPOINT", "PM_API_URL"}
	if typ == netbox {
		chosen, found = c.NetBoxURL, []string{"NETBOX_SERVER_URL"}
	}
	if chosen == None {
		return None
	}
	for _, text := range append([]string{chosen}, f.Environment[found[0]], f.Environment[found[len(found)-1]]) {
		if a := address(typ, text); a != "" {
			return a
		}
	}
	return ""
}

// address returns the address of a system from the endpoint of a provider, without credentials; "" if no source may have it.
func address(typ, endpoint string) string {
	u, err := url.Parse(strings.TrimSpace(endpoint))
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && (u.Scheme != "http" || !httpclient.Loopback(u.Hostname())) {
		return ""
	}
	u.User, u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = nil, "", "", "", false
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), ""
	if typ == proxmox {
		u.Path = strings.TrimSuffix(u.Path, "/api2/json")
	}
	return u.String()
}

// hostName returns the first label of the host of an address; "" for an IP address.
func hostName(address string) string {
	u, err := url.Parse(address)
	if err != nil || net.ParseIP(u.Hostname()) != nil {
		return ""
	}
	label, _, _ := strings.Cut(u.Hostname(), ".")
	return label
}

// withoutCredentials returns the names of providers that need none, and no source.
func withoutCredentials() []string {
	return []string{"archive", "cloudinit", "external", "local", "null", "random", "template", "terraform", "time", "tls"}
}

// passed returns the patterns of the environment variables that the programs of roots need: those of their providers and backends, and of
// Terraform's variables.
func passed(roots []*Root) []string {
	byName := map[string][]string{
		proxmox: {"PROXMOX_VE_*", "PM_*"}, openstack: {"OS_*"}, "azurerm": {"ARM_*"}, "azuread": {"ARM_*"}, "azapi": {"ARM_*"}, "s3": {"AWS_*"},
		"gcs": {"GOOGLE_*"}, "google": {"GOOGLE_*"}, "google-beta": {"GOOGLE_*"}, "http": {"TF_HTTP_*"}, "pg": {"PG*"}, "remote": {"TF_TOKEN_*"},
		"cloud": {"TF_TOKEN_*"}, "kubernetes": {"KUBE*"}, "helm": {"KUBE*", "HELM_*"}, "local": {}, "": {},
	}
	patterns := []string{"TF_VAR_*"}
	for _, root := range roots {
		names := []string{root.Backend}
		for _, p := range root.Providers {
			names = append(names, p.Name)
		}
		for _, name := range names {
			more, known := byName[name]
			if !known && !slices.Contains(withoutCredentials(), name) && isWord(name) {
				more = []string{strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "_*"}
			}
			patterns = append(patterns, more...)
		}
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}

// isWord reports whether a text is a name of a provider or a backend.
func isWord(text string) bool {
	return text != "" && len(text) < 50 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}
