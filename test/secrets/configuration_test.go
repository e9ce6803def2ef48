//go:build e2e

package secrets

import (
	"strings"
	"testing"
)

// A mistake is a configuration with an error at a secret, or one that leads to an error at run
// time.
type mistake struct {
	what string
	// config and file have the secret as %s. The file is named "file".
	config, file string
}

const (
	fromSource = "sources: [{name: a, type: %t, settings: {%x}}]\n"
	fromState  = "sources: [{name: pve, type: proxmox, settings: {url: \"https://127.0.0.1:1\", token_id: a@pve!b, token_file: token}}]\n" +
		"declarations: [{name: a, type: terraform, governs: [pve], settings: {engine: state, %x}}]\n"
	fromReceiver = "sources: [{name: a, type: kubernetes, settings: {dump: dump.yaml}}]\nnotify: {receivers: [{name: a, type: %t, settings: {%x}}]}\n"
)

func mistakes() []mistake {
	source := func(typ, settings string) string {
		return strings.NewReplacer("%t", typ, "%x", settings).Replace(fromSource)
	}
	state := func(settings string) string { return strings.ReplaceAll(fromState, "%x", settings) }
	receiver := func(typ, settings string) string {
		return strings.NewReplacer("%t", typ, "%x", settings).Replace(fromReceiver)
	}
	return []mistake{
		{"URL of NetBox", source("netbox", `url: "https://u:%s@127.0.0.1:1", token_file: token`), ""},
		{"broken URL of NetBox", source("netbox", `url: "https://u:%s@127.0.0.1:port", token_file: token`), ""},
		{"query of NetBox' URL", source("netbox", `url: "https://127.0.0.1:1/?token=%s", token_file: token`), ""},
		{"URL of Proxmox", source("proxmox", `url: "https://u:%s@127.0.0.1:1", token_id: a@pve!b, token_file: token`), ""},
		{"token_id with its secret", source("proxmox", `url: "https://127.0.0.1:1", token_id: "a@pve!b=%s", token_file: token`), ""},
		{"endpoint of S3", source("aws", `endpoint: "https://u:%s@127.0.0.1:1", region: r, credentials_file: token`), ""},
		{"server of Kubernetes", source("kubernetes", `server: "https://u:%s@127.0.0.1:1", token_file: token`), ""},
		{"unknown setting token", source("netbox", `url: "https://127.0.0.1:1", token: %s`), ""},
		{"unknown setting password", source("proxmox", `url: "https://127.0.0.1:1", username: a@pve, password: %s`), ""},
		{"a list for a file", source("netbox", `url: "https://127.0.0.1:1", token_file: [password=%s]`), ""},
		{"a map for a file", source("netbox", `url: "https://127.0.0.1:1", token_file: {password: %s}`), ""},
		{"unknown key of the configuration", "password: %s\n", ""},
		{"broken YAML", "sources: [{name: a, password: \"%s}]\n", ""},
		{"broken YAML: a value in a value", "notify:\n  password: %s: x\n", ""},
		{"broken YAML: an alias", "notify: {password: *%s}\n", ""},
		{"a number wanted", "retention: {max_runs: \"password=%s\"}\n", ""},
		{"kubeconfig with a broken line", source("kubernetes", "kubeconfig: file"), "users:\n- name: a\n  user: {token: %s\nclusters: x"},
		{"kubeconfig with a wrong type", source("kubernetes", "kubeconfig: file"), "apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user: {token: [%s]}\n"},
		{"kubeconfig with a wrong key", source("kubernetes", "kubeconfig: file"), "apiVersion: v1\nkind: Config\nusers: {token: %s}\n"},
		{"clouds.yaml with a broken line", source("openstack", "clouds_file: file, cloud: c"), "clouds:\n  c:\n    auth: {password: %s\n"},
		{"clouds.yaml with a wrong type", source("openstack", "clouds_file: file, cloud: c"), "clouds:\n  c:\n    auth: [password, %s]\n"},
		{"clouds.yaml with a password in a URL", source("openstack", "clouds_file: file, cloud: c"), "clouds:\n  c:\n    auth: {auth_url: \"http://u:%s@127.0.0.1:1/v3\", username: u, password: x, project_name: p, user_domain_name: d, project_domain_name: d}\n"},
		{"credentials of AWS with a broken line", source("aws", "region: r, credentials_file: file"), "[default\naws_secret_access_key %s\n"},
		{"bus of OpenStack", source("openstack", "clouds_file: clouds.yaml, cloud: c, notifications: {url_file: file}"), "amqps://u:%s@127.0.0.1:port/"},
		{"http state", state(`state: ["http://u:%s@127.0.0.1:1/s"]`), ""},
		{"broken http state", state(`state: ["https://u:%s@127.0.0.1:port/s"]`), ""},
		{"pg state", state(`state: ["pg://u:%s@127.0.0.1:1/db"]`), ""},
		{"postgres state", state(`state: ["postgres://u:%s@127.0.0.1:1/db"]`), ""},
		{"consul state", state(`state: ["consul://u:%s@127.0.0.1:1/p"]`), ""},
		{"s3 state", state(`state: ["s3://AKIA:%s@bucket/key"]`), ""},
		{"unknown setting of a backend", state(`state: ["s3://bucket/key"], backend: {s3: {secret_key: %s}}`), ""},
		{"headers of a state", state(`state: ["https://127.0.0.1:1/s"], backend: {http: {headers_file: file}}`), "Authorization Bearer %s\n"},
		{"reserved variable of a plan", strings.Replace(state(`vars: {a: b}, env: {TF_CLI_ARGS: "-var password=%s"}, dir: .`), "engine: state", "engine: plan", 1), ""},
		{"git over http", "declarations: [{name: a, type: manifests, governs: [], settings: {git: \"http://u:%s@git.example.org/x.git\"}}]\n", ""},
		{"broken git URL", "declarations: [{name: a, type: manifests, governs: [], settings: {git: \"https://u:%s@git.example.org:port/x.git\"}}]\n", ""},
		{"git over ssh with a password", "declarations: [{name: a, type: manifests, governs: [], settings: {git: \"ssh://git:%s@127.0.0.1:1/x.git\", ssh_key_file: token}}]\n", ""},
		{"webhook", receiver("webhook", `url: "https://u:%s@127.0.0.1:1/"`), ""},
		{"webhook file", receiver("webhook", `url_file: file`), "https://127.0.0.1:port/hook/%s"},
		{"webhook file of two lines", receiver("webhook", `url_file: file`), "https://127.0.0.1:1/hook\n%s\n"},
		{"webhook headers", receiver("webhook", `url: "https://127.0.0.1:1/", headers_file: file`), "X-Api-Key %s\n"},
		{"Alertmanager", receiver("alertmanager", `urls: ["https://u:%s@127.0.0.1:1"]`), ""},
		{"broken Alertmanager", receiver("alertmanager", `urls: ["https://u:%s@127.0.0.1:port"]`), ""},
		{"Slack's address", receiver("slack", `token_file: token, channel: C0123456789, api_url: "https://u:%s@127.0.0.1:1/"`), ""},
		{"Slack webhook", receiver("slack", `webhook_url_file: file`), "hooks.slack.com/services/T01234567/B01234567/%s"},
		{"shoutrrr", receiver("shoutrrr", `url_file: file`), "smtp://u:%s@127.0.0.1:port/?from=a@b.c&to=c@d.e"},
		{"shoutrrr of an unknown kind", receiver("shoutrrr", `url_file: file`), "nope://u:%s@127.0.0.1/"},
		{"address of driftd", "notify: {url: \"https://u:%s@driftd.example.org\"}\n", ""},
		{"OpenID issuer", "server: {listen: \"127.0.0.1:0\", access: {oidc: {issuer: \"https://u:%s@127.0.0.1:1\", client_id: a}}}\nnotify: {url: \"https://driftd.example.org\"}\n", ""},
		{"users file", "server: {listen: \"127.0.0.1:0\", access: {users_file: file}}\n", "alice:%s\n"},
		{"web configuration", "server: {listen: \"127.0.0.1:0\", web_config_file: file}\n", "basic_auth_users: {alice: %s, bob\n"},
		{"web configuration with a wrong type", "server: {listen: \"127.0.0.1:0\", web_config_file: file}\n", "basic_auth_users: [\"password: %s\"]\n"},
		{"trigger", "triggers: [{name: a, type: github, secret: %s}]\n", ""},
		{"included file", "include: [file]\n", "sources: [{name: a, password: \"%s}]\n"},
	}
}

// TestMistakes checks that each configuration is an error, or leads to one.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, m := range mistakes() {
		t.Run(m.what, func(t *testing.T) {
			t.Parallel()
			i := install(t)
			secret := i.secret(m.what)
			i.write("token", "token-of-somebody-else")
			i.write("dump.yaml", `{"apiVersion":"v1","kind":"List","items":[]}`)
			i.write("clouds.yaml", "clouds:\n  c: {region_name: r, auth: {auth_url: \"https://127.0.0.1:1/v3\", username: u, password: p, project_name: p, user_domain_name: d, project_domain_name: d}}\n")
			i.write("file", filled(m.file, secret))
			i.write("driftd.yaml", "state_dir: state\n"+filled(m.config, secret))
			_, code := i.driftd("config", "check")
			if code != 0 {
				return
			}
			_, scan := i.driftd("scan")
			_, test := i.driftd("sources", "test")
			_, notify := i.driftd("notify", "test")
			if scan == 0 && test == 0 && notify == 0 {
				t.Error("nothing is wrong with it")
			}
		})
	}
}
