package docs

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/audit"
)

// A completer completes a part of a configuration, in a folder with the files and the sources
// that the part names.
type completer struct {
	dir string
	// table is the content of a custom mapping table.
	table string
}

func (c completer) complete(tree map[string]any) error {
	if tree["state_dir"] == nil {
		tree["state_dir"] = filepath.Join(c.dir, "state")
	}
	sources, names := list(tree["sources"]), map[string]bool{}
	for _, s := range sources {
		source, _ := s.(map[string]any)
		name, _ := source["name"].(string)
		names[name] = true
		settings(source, minimal(fmt.Sprint(source["type"])))
	}
	for _, name := range namedSources(tree) {
		if !names[name] {
			names[name] = true
			typ := typeByName(name)
			sources = append(sources, map[string]any{"name": name, "type": typ, "settings": minimal(typ)})
		}
	}
	if len(sources) == 0 {
		sources = append(sources, map[string]any{"name": "prod", "type": "kubernetes", "settings": minimal("kubernetes")})
	}
	tree["sources"] = sources
	tree["declarations"] = declarations(tree)
	for _, d := range list(tree["declarations"]) {
		if declaration, _ := d.(map[string]any); declaration["type"] == "terraform" {
			settings(declaration, map[string]any{"dir": "."})
		}
	}
	return errors.Join(c.folders(tree), os.MkdirAll(filepath.Join(c.dir, "mappings"), 0o750), os.WriteFile(filepath.Join(c.dir, "mappings", "own.yaml"), []byte(c.table), 0o600), c.files(tree))
}

// folders creates the folders and files of variables from which declarations are read.
func (c completer) folders(tree map[string]any) error {
	var errs []error
	for _, d := range list(tree["declarations"]) {
		declaration, _ := d.(map[string]any)
		have, _ := declaration["settings"].(map[string]any)
		if dir, ok := have["dir"].(string); ok && !filepath.IsAbs(dir) {
			errs = append(errs, os.MkdirAll(filepath.Join(c.dir, dir), 0o750))
		}
		for _, file := range list(have["env_files"]) {
			errs = append(errs, os.WriteFile(filepath.Join(c.dir, fmt.Sprint(file)), []byte("TOKEN=x\n"), 0o600))
		}
	}
	return errors.Join(errs...)
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// settings adds the required settings that a page omits.
func settings(thing, needed map[string]any) {
	have, _ := thing["settings"].(map[string]any)
	if thing["type"] == "terraform" && have["state"] != nil {
		return
	}
	merged := maps.Clone(needed)
	if have["kubeconfig"] != nil || have["dump"] != nil || have["in_cluster"] != nil {
		merged = map[string]any{}
	}
	maps.Copy(merged, have)
	if merged["git"] != nil {
		delete(merged, "dir")
	}
	thing["settings"] = merged
}

// minimal returns the settings that a type requires.
func minimal(typ string) map[string]any {
	switch typ {
	case "proxmox":
		return map[string]any{"url": "https://pve.example.org:8006", "token_id": "driftd@pve!ro", "token_file": "pve-token"}
	case "netbox":
		return map[string]any{"url": "https://netbox.example.org", "token_file": "netbox-token"}
	case "openstack":
		return map[string]any{"clouds_file": "clouds.yaml", "cloud": "shop"}
	case "aws":
		return map[string]any{"region": "eu-central-1"}
	}
	return map[string]any{"server": "https://prod.example.org:6443", "token_file": "prod-token"}
}

func typeByName(name string) string {
	switch name {
	case "pve", "east", "west":
		return "proxmox"
	case "netbox":
		return "netbox"
	case "cloud-shop", "cloud-lab":
		return "openstack"
	}
	return "kubernetes"
}

// namedSources returns the sources that the rest of a configuration names.
func namedSources(tree map[string]any) []string {
	var names []string
	for _, d := range list(tree["declarations"]) {
		declaration, _ := d.(map[string]any)
		for _, name := range list(declaration["governs"]) {
			names = append(names, fmt.Sprint(name))
		}
		if own, _ := declaration["settings"].(map[string]any); declaration["type"] == "netbox" && own["source"] != nil {
			names = append(names, fmt.Sprint(own["source"]))
		}
	}
	for _, key := range []string{"ignore", "owners", "triggers"} {
		for _, r := range list(tree[key]) {
			rule, _ := r.(map[string]any)
			match, _ := rule["match"].(map[string]any)
			for _, v := range []any{rule["source"], match["source"]} {
				if name, ok := v.(string); ok && !strings.Contains(name, "*") {
					names = append(names, name)
				}
			}
			for _, name := range list(rule["sources"]) {
				names = append(names, fmt.Sprint(name))
			}
		}
	}
	return names
}

// declarations returns the declarations of a configuration, and one for each that is only
// named.
func declarations(tree map[string]any) []any {
	all := list(tree["declarations"])
	for _, t := range list(tree["triggers"]) {
		trigger, _ := t.(map[string]any)
		for _, name := range list(trigger["declarations"]) {
			if !slices.ContainsFunc(all, func(d any) bool { return d.(map[string]any)["name"] == name }) {
				first, _ := list(tree["sources"])[0].(map[string]any)
				all = append(all, map[string]any{"name": name, "type": "manifests", "governs": []any{first["name"]}, "settings": map[string]any{"dir": "."}})
			}
		}
	}
	return all
}

// files creates the files that a configuration names, with valid content.
func (c completer) files(tree map[string]any) error {
	var errs []error
	for key, value := range tree {
		switch value := value.(type) {
		case map[string]any:
			errs = append(errs, c.files(value))
		case []any:
			for _, item := range value {
				if below, ok := item.(map[string]any); ok {
					errs = append(errs, c.files(below))
				}
			}
		case string:
			if strings.HasSuffix(key, "_file") && value != "" {
				name := filepath.Join(c.dir, cmp.Or(filepath.Base(value), key))
				text, err := content(key, value)
				errs = append(errs, err, os.WriteFile(name, []byte(text), 0o600))
				tree[key] = name
			}
		}
	}
	return errors.Join(errs...)
}

// content returns valid content of a file with that key.
func content(key, name string) (string, error) {
	switch {
	case key == "ca_file":
		return certificate()
	case key == "key_file":
		return audit.GenerateKey("driftd.example.org/prod")
	case key == "url_file":
		return "smtp://user:password@mail.example.org:587/?from=driftd@example.org&to=ops@example.org", nil
	case key == "webhook_url_file":
		return "https://hooks.slack.com/services/a/b/c", nil
	case key == "app_token_file":
		return "xapp-1-a", nil
	case key == "headers_file":
		return "Authorization: Bearer a", nil
	case key == "secret_file":
		return "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, 32)), nil
	case key == "users_file":
		return "alice:$2a$12$xxxxxxxxxxxxxxxxxxxxxuxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n", nil
	case key == "web_config_file":
		return "{}\n", nil
	case strings.Contains(name, "slack"):
		return "xoxb-1-a", nil
	}
	return "secret", nil
}

// certificate returns a certificate in PEM.
func certificate() (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), err
}

// adopt merges a configuration of the page into that of the place.
func (p *place) adopt(b Block) {
	p.t.Helper()
	text := b.Text
	for was, is := range p.instead {
		text = strings.ReplaceAll(text, was, is)
	}
	var tree map[string]any
	p.must(yaml.Unmarshal([]byte(text), &tree))
	delete(tree, "state_dir") // the commands set it
	for _, s := range list(tree["sources"]) {
		if source, _ := s.(map[string]any); source["type"] == "kubernetes" {
			source["settings"] = map[string]any{"dump": "cluster.yaml"}
			if p.kubeconfig != "" {
				source["settings"] = map[string]any{"kubeconfig": p.kubeconfig}
			}
		}
	}
	if notify, _ := tree["notify"].(map[string]any); notify != nil {
		for _, r := range list(notify["receivers"]) {
			receiver, _ := r.(map[string]any)
			own, _ := receiver["settings"].(map[string]any)
			own["api_url"] = p.instead["https://slack.com/api/"]
		}
	}
	maps.Copy(p.config, tree)
	p.writeConfig()
}

// writeConfig writes the configuration to the path in pages, and the files that it names.
func (p *place) writeConfig() {
	p.t.Helper()
	if p.config["sources"] == nil {
		return
	}
	ca, err := certificate()
	p.must(err)
	p.write("pve-root-ca.pem", ca)
	text, err := yaml.Marshal(p.config)
	p.must(err)
	p.write("driftd.yaml", string(text))
}
