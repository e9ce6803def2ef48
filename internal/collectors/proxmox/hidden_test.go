package proxmox

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// TestHiddenFields reads objects of which Proxmox VE omits a field, with status 200.
func TestHiddenFields(t *testing.T) {
	t.Parallel()
	rights := func(set map[string][]string) func(*pvetest.Server) {
		return func(s *pvetest.Server) {
			s.Edit(func(c *pvetest.Cluster) {
				c.Rights = maps.Clone(c.Rights)
				maps.Copy(c.Rights, set)
				for path := range set {
					c.Lists["/access/acl"] = append(c.Lists["/access/acl"], pvetest.Row{"path": path, "type": "user", "ugid": "driftd@pve", "roleid": "Some", "propagate": 1})
				}
			})
		}
	}
	someOptions := func(s *pvetest.Server) {
		s.Break("/cluster/options", func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"data":{"console":"html5","allowed-tags":[]}}`))
		})
	}
	for _, tc := range []struct {
		reason          string
		change          []func(*pvetest.Server)
		kind, id, field string
		// want are parts of the reason why the field is unread; nil if it is read, or absent.
		want []string
	}{
		{"the pool is shown", nil, "qemu", "401", "pool", nil},
		{"a guest in no pool", nil, "qemu", "403", "pool", nil},
		{"the pool is hidden", []func(*pvetest.Server){rights(map[string][]string{"/pool": {}})}, "qemu", "401", "pool",
			[]string{"its pool is hidden", "lacks Pool.Audit on /pool:", "pveum acl modify /pool"}},
		{"the pool of a container is hidden", []func(*pvetest.Server){rights(map[string][]string{"/pool": {}})}, "lxc", "411", "pool",
			[]string{"lacks Pool.Audit on /pool:"}},
		{"only another pool is visible", []func(*pvetest.Server){rights(map[string][]string{"/pool/shop": {}, "/pool/spare": {"Pool.Audit"}})}, "qemu", "401", "pool",
			[]string{"lacks Pool.Audit on /pool/shop:"}},
		{"only this pool is visible", []func(*pvetest.Server){rights(map[string][]string{"/pool": {}, "/pool/shop": {"Pool.Audit"}})}, "qemu", "401", "pool", nil},
		{"unknown permissions", []func(*pvetest.Server){func(s *pvetest.Server) {
			s.Break("/access/permissions", pvetest.Message(http.StatusInternalServerError, "broken"))
		}}, "qemu", "403", "pool", []string{"the permissions of driftd@pve!ro are unknown", "broken"}},
		{"the access rules are shown", nil, "user", "dana@pve", "acl", nil},
		{"the access rules cannot be read", []func(*pvetest.Server){func(s *pvetest.Server) {
			s.Break("/access/acl", pvetest.Message(http.StatusInternalServerError, "broken"))
		}}, "user", "dana@pve", "acl", []string{"its acl is hidden", "broken"}},
		{"the access rules of a group cannot be read", []func(*pvetest.Server){func(s *pvetest.Server) {
			s.Break("/access/acl", pvetest.Message(http.StatusInternalServerError, "broken"))
		}}, "group", "sellers", "acl", []string{"its acl is hidden", "broken"}},
		{"access rules are hidden, groups are visible", []func(*pvetest.Server){rights(map[string][]string{"/access": {}, "/access/groups": {"Sys.Audit"}})}, "group", "sellers", "acl",
			[]string{"lacks Sys.Audit on /access:"}},
		{"options are shown", nil, "cluster_options", "cluster", "nothing-like-it", nil},
		{"options are hidden", []func(*pvetest.Server){rights(map[string][]string{"/": {"VM.Audit"}}), someOptions}, "cluster_options", "cluster", "migration.type",
			[]string{"some fields are hidden", "lacks Sys.Audit on /:"}},
		{"an option that is always visible", []func(*pvetest.Server){rights(map[string][]string{"/": {"VM.Audit"}}), someOptions}, "cluster_options", "cluster", "console", nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			server := lab()
			for _, change := range tc.change {
				change(server)
			}
			s := collect(t, server)
			r := must(t, &s, tc.kind, tc.id)
			got := r.UnreadField(tc.field)
			if len(tc.want) == 0 && got != "" {
				t.Errorf("%s is unread: %s", tc.field, got)
			}
			wantIn(t, got, tc.want...)
			if _, shown := r.Value.Get(tc.field); len(tc.want) > 0 && shown {
				t.Errorf("%s is %s, which may be incomplete", tc.field, r.Value.At(tc.field))
			}
		})
	}
}

// TestForeignFieldsAreInSchemas checks that every foreign field is in the schema of its kind,
// and requires a privilege.
func TestForeignFieldsAreInSchemas(t *testing.T) {
	t.Parallel()
	kinds := normalize.Kinds()
	for _, f := range foreignFields() {
		if f.field != "" && kinds[f.kind].Schema.Fields[f.field] == nil {
			t.Errorf("%s has no field %s", f.kind, f.field)
		}
		if len(needs(f.of)) == 0 {
			t.Errorf("%s of %s needs no privilege", f.field, f.kind)
		}
	}
}

// TestLoggedElsewhere checks which log is named for changes of a field that another object
// decides.
func TestLoggedElsewhere(t *testing.T) {
	t.Parallel()
	for reason, since := range map[string]bool{"with the logs": true, "without the logs": false} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := collect(t, lab(), func(c *Config) {
				if !since {
					c.LogSince = 0
				}
			})
			for _, tc := range []struct{ kind, field, want string }{
				{"qemu", "pool", "/pools in /var/log/pveproxy/access.log"},
				{"lxc", "pool", "/pools in /var/log/pveproxy/access.log"},
				{"user", "acl", "/access/acl in /var/log/pveproxy/access.log"},
				{"pool_member", "", "/pools in /var/log/pveproxy/access.log"},
				{"acl", "", "/access/acl in /var/log/pveproxy/access.log"},
			} {
				kind := s.Kinds[Type+"/"+tc.kind]
				got := kind.LoggedElsewhere[tc.field]
				if tc.field == "" {
					got = kind.WriterUnknown
				}
				if !strings.Contains(got, tc.want) || strings.Contains(got, "log_since") {
					t.Errorf("%s %s: %q, want %q", tc.kind, tc.field, got, tc.want)
				}
			}
		})
	}
}

// TestUnreadProperties checks the place, parent and built-in mark of resources that could not
// be read.
func TestUnreadProperties(t *testing.T) {
	t.Parallel()
	server := lab()
	server.Edit(func(c *pvetest.Cluster) {
		c.Nodes[2].Offline = true
		c.Guest(403).Listed = "unknown"
	})
	for _, path := range []string{"/nodes/pve2/qemu/402/firewall/rules", "/access/domains/pam", "/cluster/sdn/zones"} {
		server.Break(path, func(cluster http.Handler, w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/zones") && r.URL.RawQuery == "" {
				cluster.ServeHTTP(w, r)
				return
			}
			w.WriteHeader(http.StatusInternalServerError)
		})
	}
	s := collect(t, server)
	for _, tc := range []struct {
		reason, kind, id string
		want             model.Unread
		words            string
	}{
		{"a guest of unknown status on an offline node", "qemu", "403", model.Unread{Place: "pve3", Name: "front"}, "node pve3 does not answer (offline)"},
		{"the firewall of a guest", "firewall_rules", "qemu/402", model.Unread{Name: "qemu/402", Parent: model.Ref{Kind: "proxmox/qemu", ID: "402"}}, "500"},
		{"a built-in realm", "realm", "pam", model.Unread{Name: "pam", SystemOwned: "built in"}, "500"},
		{"a zone of which the applied configuration is unknown", "sdn_zone", "lab", model.Unread{Name: "lab"}, "the applied configuration could not be read"},
	} {
		found := false
		for _, u := range s.Unread {
			if u.Kind != Type+"/"+tc.kind || u.ID != tc.id {
				continue
			}
			found = true
			wantIn(t, u.Reason, tc.words)
			if u.Place != tc.want.Place || u.Name != tc.want.Name || u.Parent != tc.want.Parent || u.SystemOwned != tc.want.SystemOwned {
				t.Errorf("%s: %+v, want %+v", tc.reason, u, tc.want)
			}
		}
		if !found {
			t.Errorf("%s counts as read", tc.reason)
		}
	}
}
