package netbox

import (
	"net/http"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
)

// setLastUpdated sets the times of the last changes of the virtual machines.
func setLastUpdated(e *netboxtest.Estate, times ...string) {
	for i, at := range times {
		e.Lists["virtualization/virtual-machines"].Rows[i]["last_updated"] = at
	}
}

// withCacheHeader adds a header that caches set.
func withCacheHeader(name, value string) faults.Fault {
	return func(server http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cache-Control") != "no-cache" {
			panic("netbox: a request lets caches answer")
		}
		w.Header().Set(name, value)
		server.ServeHTTP(w, r)
	}
}

// TestPositions tests the positions of a scan, and stale answers of a cache.
func TestPositions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*netboxtest.Estate)
		fault  func(*netboxtest.Server)
		config func(*Config)
		// want are the first position's name, value and object.
		want  string
		value int64
		of    string
		stale string
	}{
		"the changelog": {reason: "its ids only grow", want: "the greatest id of NetBox's changelog", value: 7003},
		"a changelog out of order": {reason: "an entry that is committed late has a later time and a lower id",
			change: func(e *netboxtest.Estate) { e.Changes[0], e.Changes[1] = e.Changes[1], e.Changes[0] },
			want:   "the greatest id of NetBox's changelog", value: 7003},
		"the changelog is switched off": {reason: "the position does not need the entries", config: func(c *Config) { c.Changes = 0 },
			want: "the greatest id of NetBox's changelog", value: 7003},
		"a changelog that is forbidden": {reason: "the newest change of each kind",
			change: func(e *netboxtest.Estate) {
				e.Denied = append(e.Denied, "core/object-changes")
				setLastUpdated(e, "2026-11-19T10:00:00.5Z", "2026-11-20T06:00:00Z")
			},
			config: func(c *Config) { c.Unrestricted = true },
			want:   "the newest last_updated of virtualization.virtualmachine", value: 1795154400, of: "7"},
		"an empty changelog": {reason: "all entries were pruned, which is no step back",
			change: func(e *netboxtest.Estate) { e.Changes = nil }},
		"a cache": {reason: "an answer with an age is a copy", fault: func(s *netboxtest.Server) { s.Break("virtualization/", withCacheHeader("Age", "120")) },
			want: "the greatest id of NetBox's changelog", value: 7003,
			stale: "a cache before NetBox answered from its own copy (Age: 120): let driftd's requests pass it"},
		"a cache that asks NetBox": {reason: "a cache that revalidates is current", fault: func(s *netboxtest.Server) { s.Break("", withCacheHeader("Age", "0")) },
			want: "the greatest id of NetBox's changelog", value: 7003},
		"a replica among the databases": {reason: "the greatest id decreases during the scan",
			fault: func(s *netboxtest.Server) {
				s.EditAfter("core/object-changes", 1, func(e *netboxtest.Estate) { e.Changes = e.Changes[1:] })
			},
			want: "the greatest id of NetBox's changelog", value: 7002,
			stale: "the greatest id of NetBox's changelog went back from 7003 to 7002 while it was read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := netboxtest.Small()
			e.Changes = nil
			for id := 7003; id > 7000; id-- {
				e.Changes = append(e.Changes, netboxtest.Change(id, at(0), "priya", "update", "dcim.site", 1, netboxtest.Row{"name": "a"}, netboxtest.Row{"name": "b"}))
			}
			if tc.change != nil {
				tc.change(&e)
			}
			server := newServer(e)
			if tc.fault != nil {
				tc.fault(server)
			}
			s := collect(t, server, func(c *Config) {
				if tc.config != nil {
					tc.config(c)
				}
			})
			var got model.Position
			for _, p := range s.Positions {
				if p.Kind == "" || p.Kind == "netbox/virtualization.virtualmachine" {
					got = p
				}
			}
			if got.Name != tc.want || got.Value != tc.value || got.Object != tc.of || got.Name != "" && got.Asked.IsZero() {
				t.Errorf("position %+v, want %s %d of %q: %s", got, tc.want, tc.value, tc.of, tc.reason)
			}
			if stale := s.StaleIn("", ""); !strings.HasPrefix(stale, tc.stale) || (stale == "") != (tc.stale == "") {
				t.Errorf("stale: %q, want %q: %s", stale, tc.stale, tc.reason)
			}
		})
	}
}
