package setup

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/config"
)

// A Configuration is a generated configuration of driftd.
type Configuration struct {
	stateDir              string
	sources, declarations []entry
	slackToken, channel   string
	// notes are what is left to the user.
	notes []string
}

// An entry is a source or a declaration.
type entry struct {
	name, typ, note string
	governs         []string
	settings        []setting
}

// A setting is a text or a list of texts with a comment.
type setting struct {
	key   string
	value any
	note  string
}

// New returns a configuration for the facts and choices.
func New(f *Facts, c *Choices) *Configuration {
	b := builder{facts: f, choices: c, config: &Configuration{stateDir: c.StateDir, slackToken: c.SlackTokenFile, channel: c.SlackChannel},
		sources: map[string]string{}, names: map[string]bool{}, governs: map[*Root][]string{}, remotes: map[string]bool{}}
	b.clusters()
	for _, name := range c.Clouds {
		b.cloud(name)
	}
	for _, typ := range []string{proxmox, netbox} {
		if a := f.defaultAddress(c, typ); a != "" && a != None {
			b.system(typ, a)
		}
	}
	for root := range f.configured() {
		b.governs[root] = b.managed(root)
	}
	for i := range f.Trees {
		b.tree(&f.Trees[i])
	}
	b.notes()
	return b.config
}

// Empty returns an error with the reason if the configuration has neither a source nor a declaration, so
// that driftd could not load it. Otherwise it returns nil.
func (c *Configuration) Empty() error {
	if len(c.sources)+len(c.declarations) > 0 {
		return nil
	}
	return fmt.Errorf("nothing is left to write: name a folder with Terraform roots, or a cluster with --context. %s", strings.Join(c.notes, " "))
}

type builder struct {
	facts   *Facts
	choices *Choices
	config  *Configuration
	// sources are the names of the sources, by type and address, context, cloud or profile.
	sources map[string]string
	// names are the names that are taken: of sources, and of declarations after "declaration ".
	names map[string]bool
	// governs are the sources that the roots manage.
	governs map[*Root][]string
	// remotes are the URLs of the git repositories that are read.
	remotes map[string]bool
}

// maxName leaves room for a number in a name of at most 100 characters.
const maxName = 80

// name returns a free name like a text, or like the fallback if the text has no letters and digits.
func (b *builder) name(kind, text, fallback string) string {
	name := strings.TrimLeft(config.NameOf(text), "_-.")
	name = cmp.Or(name[:min(len(name), maxName)], fallback)
	for free, n := name, 2; ; free, n = fmt.Sprintf("%s-%d", name, n), n+1 {
		if !b.names[kind+" "+free] {
			b.names[kind+" "+free] = true
			return free
		}
	}
}

// add adds a source, and returns its name.
func (b *builder) add(typ, which, name, note string, settings ...setting) string {
	key := typ + " " + which
	if b.sources[key] == "" {
		b.sources[key] = b.name("source", name, typ)
		b.config.sources = append(b.config.sources, entry{name: b.sources[key], typ: typ, note: note, settings: settings})
	}
	return b.sources[key]
}

func (b *builder) note(format string, args ...any) {
	b.config.notes = append(b.config.notes, fmt.Sprintf(format, args...))
}

func (b *builder) clusters() {
	for _, c := range b.facts.Contexts {
		if c.Name == "" || !slices.Contains(b.choices.Contexts, c.Name) {
			continue
		}
		var settings []setting
		if c.File != "" && !b.facts.SeveralKubeconfigs {
			settings = append(settings, setting{key: "kubeconfig", value: b.file(c.File)})
		}
		b.add("kubernetes", c.Name, c.Name, "", append(settings, setting{key: "context", value: c.Name})...)
	}
}

// cloud adds the source of an entry of the clouds.yaml.
func (b *builder) cloud(name string) string {
	if name == "" || !slices.Contains(b.facts.Clouds, name) {
		return ""
	}
	return b.add(openstack, name, name, "", setting{key: "clouds_file", value: b.file(b.facts.CloudsFile)}, setting{key: "cloud", value: name})
}

// system adds the source of a Proxmox VE or a NetBox.
func (b *builder) system(typ, address string) string {
	if typ == netbox {
		return b.add(typ, address, cmp.Or(hostName(address), typ), "token_file is a file beside this one with a token, which needs the permissions in docs/netbox.md.",
			setting{key: "url", value: address}, setting{key: "token_file", value: b.tokenFile("netbox-token", typ)})
	}
	return b.add(typ, address, cmp.Or(hostName(address), "pve"), "token_file is a file beside this one with the secret of a token, which needs the permissions in docs/proxmox.md.",
		setting{key: "url", value: address},
		setting{key: "token_id", value: "driftd@pve!ro", note: "ca_file: pve-root-ca.pem # its own authority, /etc/pve/pve-root-ca.pem of a node"},
		setting{key: "token_file", value: b.tokenFile("pve-token", typ)})
}

// tokenFile returns the name of the token's file of the next source of a type.
func (b *builder) tokenFile(name, typ string) string {
	n := 1
	for _, s := range b.config.sources {
		if s.typ == typ {
			n++
		}
	}
	if n > 1 {
		return fmt.Sprintf("%s-%d", name, n)
	}
	return name
}

// bucket adds the source of an AWS account.
func (b *builder) bucket(p provider) string {
	profile := cmp.Or(p.Settings["profile"], b.facts.Environment["AWS_PROFILE"])
	region := cmp.Or(p.Settings["region"], b.facts.Environment["AWS_REGION"], b.facts.Environment["AWS_DEFAULT_REGION"])
	var settings []setting
	for _, s := range []setting{{key: "region", value: region}, {key: "profile", value: profile}} {
		if s.value != "" {
			settings = append(settings, s)
		}
	}
	note := "AWS: buckets, and what exists in EC2, IAM and other services."
	if region == "" {
		note += "\nsettings: {region: eu-central-1} # if neither the environment nor the profile of AWS has a region"
	}
	return b.add(aws, profile, cmp.Or(profile, aws), note, settings...)
}

// managed returns the sources that a root manages, sorted.
func (b *builder) managed(root *Root) []string {
	var names []string
	for _, outline := range root.Providers {
		p, name := provider{outline}, ""
		switch p.Name {
		case proxmox, netbox:
			a := cmp.Or(address(p.Name, p.endpoint()), b.facts.defaultAddress(b.choices, p.Name))
			if a != "" && a != None {
				name = b.system(p.Name, a)
			}
		case openstack:
			name = b.cloud(b.cloudOf(p))
		case aws:
			name = b.bucket(p)
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// cloudOf returns the cloud that a provider manages; "" if it is unknown or not chosen.
func (b *builder) cloudOf(p provider) string {
	cloud := cmp.Or(p.Settings["cloud"], b.facts.Environment["OS_CLOUD"])
	if cloud == "" && len(b.choices.Clouds) == 1 {
		cloud = b.choices.Clouds[0]
	}
	if !slices.Contains(b.choices.Clouds, cloud) {
		return ""
	}
	return cloud
}

// typeOf returns the type of a source.
func (b *builder) typeOf(name string) string {
	for _, s := range b.config.sources {
		if s.name == name {
			return s.typ
		}
	}
	return ""
}

// file returns the path of a file as it is written: relative to the configuration if it is below its folder, else from the home folder.
func (b *builder) file(file string) string {
	absolute, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	if name, ok := below(absolute, b.choices.Base); ok {
		return strings.TrimSuffix("./"+name, "/.")
	}
	if name, ok := below(absolute, b.facts.Home); ok && b.facts.Home != "" {
		return "~/" + name
	}
	return absolute
}

// place returns the settings of a folder or a pattern in a tree. ok is false if the path of the tree cannot be written.
func (b *builder) place(t *Tree, dir string, fromDisk bool) (settings []setting, ok bool) {
	inRepository, inside := below(t.Dir, t.Origin.Top)
	if t.Origin.URL == "" || !inside || b.choices.WorkTree || fromDisk {
		return b.folder(t.Dir, dir)
	}
	if isUnwritable(inRepository) {
		return nil, false
	}
	b.remotes[t.Origin.URL] = true
	settings = append(settings, setting{key: "git", value: t.Origin.URL})
	if t.Origin.Branch != "" {
		settings = append(settings, setting{key: "ref", value: t.Origin.Branch})
	}
	if in := path.Join(inRepository, dir); in != "." {
		settings = append(settings, setting{key: "path", value: in})
	}
	return settings, true
}

// folder returns the settings of a folder or a pattern below a folder of this machine.
func (b *builder) folder(top, dir string) (settings []setting, ok bool) {
	top = b.file(top)
	if isUnwritable(top) || isUnwritable(b.choices.Base) {
		return nil, false
	}
	if dir != "." {
		top += "/" + dir
	}
	return []setting{{key: "dir", value: top}}, true
}
