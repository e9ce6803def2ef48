//go:build e2e

package secrets

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// A parrot is a server that returns errors with the content of the request: in headers, in the
// body, and in the target of a redirect.
func parrot(t *testing.T, start func(http.Handler) *httptest.Server) *httptest.Server {
	t.Helper()
	server := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20)) // a truncated body is returned as received
		user, password, _ := r.BasicAuth()
		said := fmt.Sprintf("invalid request %s by %s:%s with %v: %s", r.URL, user, password, r.Header, body)
		w.Header().Set("Www-Authenticate", "Bearer realm=\""+strings.Join(r.Header.Values("Authorization"), " ")+"\"")
		switch {
		case strings.HasPrefix(r.URL.Path, "/redirect/"):
			w.Header().Set("Location", "http://127.0.0.1:1/?said="+url.QueryEscape(said))
			w.WriteHeader(http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/html/"):
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprintf(w, "<html><head><title>%s</title></head><body>%s</body></html>", said, said)
		case strings.HasPrefix(r.URL.Path, "/garbled/"):
			fmt.Fprintf(w, "{\"error\": %q, %s", said, said)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"detail":%[1]q,"message":%[1]q,"error":%[1]q,"errors":[%[1]q],"ok":false,"data":null,"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`, said)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// rudeMail is a mail server that returns errors with the text of the command.
func rudeMail(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	talk := func(c *textproto.Conn) {
		defer func() { _ = c.Close() }()
		_ = c.PrintfLine("220 mail.example.org ESMTP") // the client may have disconnected
		for {
			line, err := c.ReadLine()
			if err != nil {
				return
			}
			if strings.HasPrefix(line, "EHLO") {
				_ = c.PrintfLine("250-mail.example.org\r\n250 AUTH PLAIN LOGIN")
				continue
			}
			_ = c.PrintfLine("535 5.7.8 bad credentials: %s", line)
		}
	}
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() { talk(textproto.NewConn(conn)) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		group.Wait()
	})
	return listener.Addr().String()
}

// TestFailures has sources, declarations and receivers that fail, with errors that contain the
// credentials and the related secrets.
func TestFailures(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.env = []string{"VAULT_TOKEN=" + i.secret("variable VAULT_TOKEN of driftd")}
	failing := i.failures(parrot(t, httptest.NewServer).URL, parrot(t, httptest.NewTLSServer))
	d := i.serve()
	report := i.scan()
	for _, name := range failing {
		if text := i.failed(name); text == "" {
			t.Errorf("nothing says that %s failed", name)
		}
	}
	d.await("receivers that fail", func() error {
		receivers := i.receivers()
		for _, one := range receivers {
			if one.Error == "" {
				return fmt.Errorf("%s does not fail", one.Name)
			}
		}
		if len(receivers) == 0 {
			return errors.New("there is none")
		}
		return nil
	})
	d.everything(report)
}

// failed returns why a source or a declaration could not be read; "" if it was.
func (i *installation) failed(name string) string {
	i.t.Helper()
	stdout, _ := i.driftd("status", "-o", "json")
	var status struct {
		Run model.Run `json:"last_run"`
	}
	if err := json.Unmarshal([]byte(stdout), &status); err != nil {
		i.t.Fatalf("read status: %v: %s", err, stdout)
	}
	var said strings.Builder
	for _, s := range status.Run.Sources {
		if s.Name == name {
			said.WriteString(s.Err)
		}
	}
	for _, d := range status.Run.Declarations {
		if d.Name == name {
			said.WriteString(d.Err)
			for _, p := range d.Problems {
				said.WriteString(p.Reason)
			}
		}
	}
	return said.String()
}

// failures writes a configuration of failing sources and declarations, and returns their names.
func (i *installation) failures(at string, sealed *httptest.Server) []string {
	token := func(name string) string { return i.write("tokens/"+name, i.secret("token of "+name)) }
	host := strings.TrimPrefix(at, "http://")
	i.write("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: sealed.Certificate().Raw})))
	i.write("clouds.yaml", fmt.Sprintf("clouds:\n  c: {region_name: r, auth: {auth_url: %q, username: u, password: %q, project_name: p, user_domain_name: d, project_domain_name: d}}\n",
		at+"/json/v3", i.secret("password in clouds.yaml")))
	i.write("aws", fmt.Sprintf("[default]\naws_access_key_id = AKIAABCDEFGHIJKLMNOP\naws_secret_access_key = %s\n", i.secret("AWS secret key")))
	i.write("kubeconfig", fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: m, clusters: [{name: c, cluster: {server: "%s/json"}}], users: [{name: u, user: {token: %s}}], contexts: [{name: m, context: {cluster: c, user: u}}]}`,
		at, i.secret("token in a kubeconfig")))
	i.write("dump.yaml", `{"apiVersion":"v1","kind":"List","items":[]}`)
	i.write("fine/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: missing, namespace: shop}\n")
	// These files have a syntax error at a secret.
	i.write("broken/a.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  password: "+i.secret("broken YAML: value")+": x\n  b: \"unclosed "+i.secret("broken YAML: unclosed")+"\n")
	i.write("broken/b.json", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"password":"`+i.secret("broken JSON")+"\x01"+`"}}`)
	i.write("broken/c.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: t}\ndata: ["+i.secret("Secret with a list for data")+"]\n")
	i.write("broken/d.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: u}\ndata: {password: &a "+i.secret("YAML anchor")+", <<: *b}\n")
	i.write("broken/e.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: v}\nstringData:\n  password: *"+i.secret("password that begins like an alias")+"\n")
	i.write("kustomize/kustomization.yaml", "resources: [r.yaml]\npatches:\n- patch: |-\n    - op: replace\n      path: /data/nope/deep\n      value: {password: "+i.secret("kustomize patch")+"}\n  target: {kind: ConfigMap}\n")
	i.write("kustomize/r.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {password: "+i.secret("kustomize resource")+"}\n")
	i.write("kustomize2/kustomization.yaml", "secretGenerator:\n- name: s\n  literals: [\"password "+i.secret("kustomize literal")+"\"]\n")
	i.write("kustomize3/kustomization.yaml", "resources: [\"https://u:"+i.secret("kustomize remote password")+"@127.0.0.1:1/x.git\"]\npassword: "+i.secret("unknown key of a kustomization")+"\n")
	i.write("broken.tfstate", `{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":[{"mode":"managed","type":"openstack_compute_instance_v2","name":"a","provider":"x","instances":[{"attributes":{"admin_pass":"`+i.secret("broken state")+`" x}}]}]}`)
	i.write("acceptances/acceptances.yaml", "version: 1\nacceptances:\n- {reason: \"password: "+i.secret("broken acceptances")+"\", nope: "+i.secret("unknown key of acceptances")+"}\n")
	i.write("passphrase", i.secret("passphrase of a state")+"0123456789")
	i.write("webhook-url", at+"/json/"+i.secret("path of the webhook's URL"))
	i.write("hook-url", at+"/services/T000/B000/"+i.secret("Slack webhook URL"))
	i.write("slack-token", "xoxb-"+i.secret("Slack token"))
	i.write("mail-url", "smtp://u:"+i.secret("password in the URL of shoutrrr")+"@"+rudeMail(i.t)+"/?from=a@example.org&to=b@example.org")
	state := func(name, setting string) string {
		return fmt.Sprintf("- {name: %s, type: terraform, governs: [pve], settings: {engine: state, %s}}\n", name, setting)
	}
	i.configure(fmt.Sprintf(`
sources:
- {name: nb-json, type: netbox, settings: {url: "%[1]s/json", token_file: "%[3]s"}}
- {name: nb-html, type: netbox, settings: {url: "%[1]s/html", token_file: "%[3]s"}}
- {name: nb-redirect, type: netbox, settings: {url: "%[1]s/redirect", token_file: "%[3]s"}}
- {name: nb-garbled, type: netbox, settings: {url: "%[1]s/garbled", token_file: "%[3]s"}}
- {name: pve, type: proxmox, settings: {url: "%[1]s", token_id: "a@pve!b", token_file: "%[4]s"}}
- {name: pve-login, type: proxmox, settings: {url: "%[1]s", username: "a@pve", password_file: "%[5]s"}}
- {name: cloud, type: openstack, settings: {clouds_file: clouds.yaml, cloud: c}}
- {name: s3, type: aws, settings: {endpoint: "%[1]s/html", path_style: true, region: r, credentials_file: aws}}
- {name: k8s, type: kubernetes, settings: {kubeconfig: kubeconfig}}
- {name: dump, type: kubernetes, settings: {dump: dump.yaml, dump_complete: true}}
declarations:
- {name: git-user, type: manifests, governs: [dump], settings: {git: "https://u:%[6]s@%[2]s/html/x.git", ca_file: ca.pem}}
- {name: git-query, type: manifests, governs: [dump], settings: {git: "https://%[2]s/html/x.git?private_token=%[7]s", ca_file: ca.pem}}
- {name: git-token, type: manifests, governs: [dump], settings: {git: "https://%[2]s/json/x.git", token_file: "%[8]s", ca_file: ca.pem}}
- {name: fine, type: manifests, governs: [dump], settings: {dir: fine}}
- {name: broken, type: manifests, governs: [dump], settings: {dir: broken}}
- {name: patch, type: manifests, governs: [dump], settings: {dir: kustomize}}
- {name: literal, type: manifests, governs: [dump], settings: {dir: kustomize2}}
- {name: remote, type: manifests, governs: [dump], settings: {dir: kustomize3}}
- {name: accepted, type: acceptances, settings: {dir: acceptances}}
%[9]s
`, at, strings.TrimPrefix(sealed.URL, "https://"), token("NetBox"), token("Proxmox"), token("Proxmox' user"), i.secret("password in a git URL"), i.secret("token in a git URL's query"), token("git"),
		state("st-broken", "state: [broken.tfstate], passphrase_files: [passphrase]")+
			state("st-http", fmt.Sprintf(`state: ["%s/html/state"], backend: {http: {username: u, password_file: "%s"}}`, at, token("the http backend")))+
			state("st-s3", fmt.Sprintf(`state: ["s3://bucket/key"], backend: {s3: {region: r, endpoint: "%s/html", path_style: true, credentials_file: aws}}`, at))+
			state("st-consul", fmt.Sprintf(`state: ["consul://%s/path"], backend: {consul: {scheme: http, token_file: "%s"}}`, host, token("consul")))+
			state("st-pg", fmt.Sprintf(`state: ["pg://u@127.0.0.1:1/db"], backend: {pg: {password_file: "%s"}}`, token("the pg backend")))+
			state("st-kube", `state: ["kubernetes://default/state"], backend: {kubernetes: {kubeconfig: kubeconfig}}`)) +
		fmt.Sprintf(`
notify:
  unchecked_after: 1s
  receivers:
  - {name: webhook, type: webhook, settings: {url_file: webhook-url}}
  - {name: slack, type: slack, settings: {token_file: slack-token, channel: C0123456789, api_url: "%[1]s/json/", pace: 0s}}
  - {name: slackhook, type: slack, settings: {webhook_url_file: hook-url, pace: 0s}}
  - {name: mail, type: shoutrrr, settings: {url_file: mail-url}}
  - {name: alerts, type: alertmanager, settings: {urls: ["%[1]s/html"], username: u, password_file: "%[2]s"}}
`, at, token("Alertmanager")))
	return []string{"nb-json", "nb-html", "nb-redirect", "nb-garbled", "pve", "pve-login", "cloud", "s3", "k8s",
		"git-user", "git-query", "git-token", "broken", "patch", "literal", "remote", "accepted",
		"st-broken", "st-http", "st-s3", "st-consul", "st-pg", "st-kube"}
}
