package proxmox

import (
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

func TestMissingPrivileges(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		rights func(map[string][]string)
		blind  []string
		words  []string
		sees   []string
	}{
		{
			"nothing at all", func(r map[string][]string) { clear(r) },
			[]string{"qemu", "lxc", "storage", "pool", "user", "group", "acl", "sdn_zone", "mapping_pci", "cluster_options", "firewall_alias", "node_dns"},
			[]string{"--users driftd@pve --tokens 'driftd@pve!ro' --roles PVEAuditor"},
			[]string{"role"},
		},
		{
			"guests of one pool only", func(r map[string][]string) {
				r["/vms"] = []string{"Sys.Audit"}
				r["/vms/401"] = []string{"VM.Audit"}
			},
			[]string{"qemu", "lxc", "pool_member", "firewall_rules"},
			[]string{"lacks VM.Audit on /vms:"},
			[]string{"storage", "pool", "user", "cluster_options"},
		},
		{
			"one guest hidden", func(r map[string][]string) { r["/vms/401"] = nil },
			[]string{"qemu"}, []string{"lacks VM.Audit on /vms/401:"}, []string{"storage", "pool"},
		},
		{
			"no access rules", func(r map[string][]string) { r["/access"] = nil },
			[]string{"acl", "user", "token", "group"}, []string{"lacks Sys.Audit on /access:"}, []string{"qemu", "role"},
		},
		{
			"no mappings", func(r map[string][]string) { r["/mapping"] = nil },
			[]string{"mapping_pci", "mapping_usb", "mapping_dir"}, []string{"lacks Mapping.Audit on /mapping/"}, []string{"qemu"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			server := lab()
			server.Edit(func(c *pvetest.Cluster) {
				c.Rights = maps.Clone(c.Rights)
				tc.rights(c.Rights)
				for path := range c.Rights {
					// Privileges are only taken away by a row of the access control list.
					c.Lists["/access/acl"] = append(c.Lists["/access/acl"], pvetest.Row{"path": path, "type": "user", "ugid": "driftd@pve", "roleid": "NoAccess", "propagate": 1})
				}
			})
			s := collect(t, server)
			for _, kind := range tc.blind {
				ok, reason := s.Covers(Type+"/"+kind, "")
				if ok {
					t.Errorf("%s counts as read in full", kind)
				}
				wantIn(t, reason, tc.words...)
				wantIn(t, reason, "driftd@pve!ro lacks", "pveum acl modify")
			}
			for _, kind := range tc.sees {
				if ok, reason := s.Covers(Type+"/"+kind, ""); !ok {
					t.Errorf("%s is not covered: %s", kind, reason)
				}
			}
		})
	}
}

func TestAccessRulesOfUsersAndGroups(t *testing.T) {
	t.Parallel()
	s := collect(t, lab())
	rules := must(t, &s, "group", "sellers").Value.At("acl").Items()
	if len(rules) != 1 || rules[0].At("path").Str() != "/pool/shop" || rules[0].At("roleid").Str() != "Keeper" || rules[0].At("propagate").Text() != "true" {
		t.Errorf("the group's rules are %v", rules)
	}
	if token := must(t, &s, "token", "driftd@pve!ro"); token.Parent != (model.Ref{Kind: "proxmox/user", ID: "driftd@pve"}) {
		t.Errorf("the token belongs to %v", token.Parent)
	}
	must(t, &s, "acl", "/vms/401?dana@pve?PVEVMUser")
}

func TestRights(t *testing.T) {
	t.Parallel()
	held := func(fields ...string) model.Value {
		var all []model.Field
		for _, f := range fields {
			all = append(all, model.Field{Name: f, Value: model.IntOf(1)})
		}
		return model.MapOf(all...)
	}
	here := model.MapOf(model.Field{Name: "VM.Audit", Value: model.StringOf("0")})
	whole := model.MapOf(model.Field{Name: "/", Value: held("VM.Audit")}, model.Field{Name: "/vms", Value: held("VM.Audit")})
	rule := func(path string) model.Value {
		return model.MapOf(model.Field{Name: "path", Value: model.StringOf(path)})
	}
	for _, tc := range []struct {
		reason string
		held   model.Value
		acl    model.Value
		need   need
		want   string
	}{
		{"inherited", whole, model.Value{}, need{privilege: "VM.Audit", path: "/vms"}, ""},
		{"removed on the path", model.MapOf(model.Field{Name: "/", Value: held("VM.Audit")}), model.Value{}, need{privilege: "VM.Audit", path: "/vms"}, "/vms"},
		{"not inherited", model.MapOf(model.Field{Name: "/", Value: here}), model.Value{}, need{privilege: "VM.Audit", path: "/mapping"}, "/mapping"},
		{"only on the path", model.MapOf(model.Field{Name: "/vms", Value: here}), model.Value{}, need{privilege: "VM.Audit", path: "/vms"}, "/vms"},
		{"only on the path, which is enough", model.MapOf(model.Field{Name: "/", Value: here}), model.Value{}, need{privilege: "VM.Audit", path: "/", exact: true}, ""},
		{"no privileges", model.Value{}, model.Value{}, need{privilege: "VM.Audit", path: "/vms"}, "/vms"},
		{"replaced below", whole.With("/vms/7", held("Sys.Audit")), model.Value{},
			need{privilege: "VM.Audit", path: "/vms"}, "/vms/7"},
		{"removed below, known from the access control list", whole, model.ListOf(rule("/vms/9"), rule("/vms/8")),
			need{privilege: "VM.Audit", path: "/vms"}, "/vms/8"},
		{"a path of another branch", whole, model.ListOf(rule("/vmsx/9")),
			need{privilege: "VM.Audit", path: "/vms"}, ""},
	} {
		if got, _ := newRights(tc.held, tc.acl).missing(tc.need); got != tc.want {
			t.Errorf("%s: missing on %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// TestRightsDuringScan verifies that no absence counts if the permissions change, or cannot be read any more, while lists are
// read: Proxmox VE omits objects without an error.
func TestRightsDuringScan(t *testing.T) {
	t.Parallel()
	// later calls change at the second request of a path, which then is answered.
	later := func(s *pvetest.Server, path string, change func(http.ResponseWriter) (answered bool)) {
		var requested atomic.Bool
		s.Break(path, func(cluster http.Handler, w http.ResponseWriter, r *http.Request) {
			if requested.Swap(true) && change(w) {
				return
			}
			cluster.ServeHTTP(w, r)
		})
	}
	refuse := func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusForbidden); return true }
	for reason, tc := range map[string]struct {
		fault func(*pvetest.Server)
		want  string
	}{
		"the same": {func(*pvetest.Server) {}, ""},
		"less": {func(s *pvetest.Server) {
			later(s, "/access/permissions", func(http.ResponseWriter) bool {
				s.Edit(func(c *pvetest.Cluster) { c.Rights = map[string][]string{"/": {"Sys.Audit"}} })
				return false
			})
		}, "the permissions of driftd@pve!ro changed during the scan"},
		"not readable any more":          {func(s *pvetest.Server) { later(s, "/access/permissions", refuse) }, "may have changed during the scan: "},
		"the list not readable any more": {func(s *pvetest.Server) { later(s, "/access/acl", refuse) }, "may have changed during the scan: "},
		"the list never readable":        {func(s *pvetest.Server) { s.Break("/access/acl", pvetest.Message(http.StatusForbidden, "no")) }, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			server := lab()
			tc.fault(server)
			s := collect(t, server)
			for _, c := range s.Coverage {
				if c.Kind != normalize.QEMU || c.Place != "" {
					continue
				}
				if c.Complete != (tc.want == "") || !strings.Contains(c.Reason, tc.want) {
					t.Errorf("virtual machines are complete: %t, %q, want %q", c.Complete, c.Reason, tc.want)
				}
			}
			must(t, &s, "qemu", "401")
		})
	}
}
