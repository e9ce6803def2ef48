//go:build e2e

package secrets

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/driftd/driftd/internal/collectors/openstack/openstacktest"
	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/netboxlab"
	"github.com/driftd/driftd/test/pvelab"
)

// A guest is a virtual machine with a secret in an attribute of the state, and in a setting of
// the cluster.
type guest struct {
	what      string
	form      form
	text      string
	attribute string
	setting   string
}

func guests() []guest {
	return []guest{
		{"proxmox: kvm_arguments", plain, "-vnc 0.0.0.0:1 --password %s", "kvm_arguments", "args"},
		{"proxmox: description with a password", plain, "owner: shop\npassword: %s\n", "description", "description"},
		{"proxmox: description with a URL", inURL, "see https://u:%s@wiki.example.org/web", "description", "description"},
	}
}

// A machine is a virtual machine of NetBox with a secret in a field.
type machine struct {
	what  string
	form  form
	value func(secret string) any
	field string
}

func machines() []machine {
	return []machine{
		{"netbox: comments with a URL", inURL, text("postgres://u:%s@db/x"), "comments"},
		{"netbox: description with a token", shaped("ghp_", mixed, 36), text("deployed with %s"), "description"},
		{"netbox: local context data", plain, func(s string) any { return object{"db": object{"password": s}} }, "local_context_data"},
	}
}

// managed returns a resource of a state.
func managed(provider, typ, name string, attributes object) object {
	return object{"mode": "managed", "type": typ, "name": name, "provider": fmt.Sprintf("provider[%q]", "registry.terraform.io/"+provider),
		"instances": []any{object{"schema_version": 0, "attributes": attributes, "sensitive_attributes": []any{}}}}
}

// TestState plants secrets in a state, in the systems of its resources, in the changes in their
// logs, and in resources that driftd does not compare.
func TestState(t *testing.T) {
	t.Parallel()
	i := install(t)
	r := i.receive()
	var resources []any
	var expected []expectation
	changed := []model.Verdict{model.Changed}

	cluster := pvelab.Cluster()
	for n := range guests() {
		cluster.Guests = append(cluster.Guests, pvetest.Guest{ID: 301 + n, Kind: "qemu", Node: "pve1", Status: "stopped",
			Config: pvetest.Row{"name": "web" + strconv.Itoa(n), "memory": "512", "cores": 1}})
	}
	pve := pvetest.New(cluster, rand.New(rand.NewPCG(1, 2)))
	for n, g := range guests() {
		name := "web" + strconv.Itoa(n)
		resources = append(resources, managed("bpg/proxmox", "proxmox_virtual_environment_vm", name, object{"id": strconv.Itoa(301 + n), "vm_id": 301 + n,
			"node_name": "pve1", "name": name, g.attribute: filled(g.text, g.form(i.vault, g.what+" (state)")),
			"initialization": []any{object{"user_account": []any{object{"username": "u", "password": i.secret(g.what + ": cloud-init password")}}}}}))
		pve.SetConfig(301+n, g.setting, filled(g.text, g.form(i.vault, g.what+" (before)")), "carol@pve")
		pve.SetConfig(301+n, g.setting, filled(g.text, g.form(i.vault, g.what+" (live)")), "carol@pve")
		pve.SetPending(301+n, "cipassword", i.secret(g.what+": pending password"), "carol@pve")
		expected = append(expected, expectation{g.what, "proxmox_virtual_environment_vm." + name, g.attribute, changed})
	}

	netbox, err := netboxlab.New(netboxlab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	netbox.Grant("driftd", netboxlab.Permission{Models: netbox.Models(), Actions: []string{"view"}})
	in := i.plantNetBox(netbox)
	for n, m := range machines() {
		name := "app" + strconv.Itoa(n)
		id := in(name, m)
		attributes := object{"id": strconv.Itoa(id), "name": name, m.field: m.value(m.form(i.vault, m.what+" (state)"))}
		if m.field == "local_context_data" {
			attributes[m.field] = mustJSON(attributes[m.field])
		}
		resources = append(resources, managed("e-breuninger/netbox", "netbox_virtual_machine", name, attributes))
		expected = append(expected, expectation{m.what, "netbox_virtual_machine." + name, m.field, changed})
	}

	estate := openstacktest.Small()
	server := estate.Lists[openstacktest.Servers][0]
	server["metadata"] = openstacktest.Row{"role": "web", "db_password": i.secret("openstack metadata (live)")}
	server["description"] = "https://u:" + inURL(i.vault, "openstack description (live)") + "@h/"
	server["OS-EXT-SRV-ATTR:user_data"] = inBase64Of("#cloud-config\npassword: %s\n")(i.vault, "openstack user_data (live)")
	resources = append(resources, managed("terraform-provider-openstack/openstack", "openstack_compute_instance_v2", "web", object{"id": server["id"], "name": server["name"],
		"metadata":   object{"role": "web", "db_password": i.secret("openstack metadata (state)")},
		"admin_pass": i.secret("openstack admin_pass"), "user_data": inBase64Of("password: %s\n")(i.vault, "openstack user_data (state)")}))
	expected = append(expected, expectation{"openstack metadata", "openstack_compute_instance_v2.web", "metadata", changed})
	cloud := openstacktest.New(estate, rand.New(rand.NewPCG(1, 2)))

	resources = append(resources,
		managed("hashicorp/random", "random_password", "p", object{"id": "none", "result": i.secret("random_password")}),
		managed("hashicorp/kubernetes", "kubernetes_secret", "s", object{"id": "shop/s", "data": object{"k": i.secret("kubernetes_secret")}}),
		managed("hashicorp/aws", "aws_lambda_function", "f", object{"id": "f", "environment": []any{object{"variables": object{"API_TOKEN": i.secret("aws_lambda_function")}}}}))
	i.write("terraform.tfstate", mustJSON(object{"version": 4, "terraform_version": "1.9.0", "serial": 3, "lineage": "l", "resources": resources,
		"outputs": object{"db_password": object{"value": i.secret("output of a state"), "type": "string"}, "x": object{"value": i.secret("sensitive output of a state"), "type": "string", "sensitive": true}}}))

	i.write("pve-token", i.secret("token of Proxmox"))
	i.write("netbox-token", i.keep("token of NetBox", netboxlab.Token("driftd")))
	i.keep("secret in clouds.yaml", openstacktest.Secret)
	i.write("clouds.yaml", fmt.Sprintf("clouds:\n  shop:\n    auth_type: v3applicationcredential\n    auth: {auth_url: %q, application_credential_id: %s, application_credential_secret: %s}\n",
		serve(t, cloud)+"/v3", openstacktest.Credential, openstacktest.Secret))
	i.configure(fmt.Sprintf(`
sources:
- {name: pve, type: proxmox, settings: {url: %q, token_id: "driftd@pve!ro", token_file: pve-token}}
- {name: netbox, type: netbox, settings: {url: %q, token_file: netbox-token}}
- {name: cloud, type: openstack, settings: {clouds_file: clouds.yaml, cloud: shop}}
declarations:
- {name: infra, type: terraform, governs: [pve, netbox, cloud], settings: {engine: state, state: [terraform.tfstate]}}
- {name: intent, type: netbox, governs: [pve], settings: {source: netbox}}
`, serve(t, pve), serve(t, netbox)) + r.config())
	d := i.serve()
	report := i.scan()
	for _, want := range expected {
		if !containsFinding(report, want) {
			t.Errorf("%s: nothing says that %s of %s changed", want.what, want.path, want.resource)
			for _, f := range report.Findings {
				t.Logf("%s %s %s %s", f.Verdict, f.Key, f.Address, f.Reason)
			}
		}
	}
	i.driftd("mapping", "test", i.path("terraform.tfstate"))
	r.notified()
	d.everything(report)
}

func serve(t *testing.T, answers http.Handler) string {
	t.Helper()
	server := httptest.NewServer(answers)
	t.Cleanup(server.Close)
	return server.URL
}

// plantNetBox returns a function that creates a machine in NetBox, and changes its field from
// one secret to another: the changelog has both.
func (i *installation) plantNetBox(lab *netboxlab.Lab) func(name string, m machine) (id int) {
	i.t.Helper()
	made := func(endpoint string, body netboxlab.Object) int {
		i.t.Helper()
		id, err := lab.Make("mara", endpoint, body)
		if err != nil {
			i.t.Fatal(err)
		}
		return id
	}
	typ := made("virtualization/cluster-types", netboxlab.Object{"name": "Proxmox VE", "slug": "proxmox-ve"})
	cluster := made("virtualization/clusters", netboxlab.Object{"name": "pve", "type": typ})
	return func(name string, m machine) int {
		i.t.Helper()
		id := made("virtualization/virtual-machines", netboxlab.Object{"name": name, "cluster": cluster, m.field: m.value(m.form(i.vault, m.what+" (before)"))})
		if _, err := lab.Do("mara", http.MethodPatch, fmt.Sprintf("virtualization/virtual-machines/%d", id), map[string]any{m.field: m.value(m.form(i.vault, m.what+" (live)"))}); err != nil {
			i.t.Fatal(err)
		}
		return id
	}
}
