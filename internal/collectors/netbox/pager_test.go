package netbox

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// sites returns an estate of n sites with ids from 1 on.
func sites(version string, n int) netboxtest.Estate {
	e := netboxtest.Small()
	e.Version = version
	var rows []netboxtest.Row
	for i := range n {
		rows = append(rows, site(i+1))
	}
	e.Lists["dcim/sites"] = netboxtest.List{Rows: rows}
	return e
}

func site(id int) netboxtest.Row {
	return netboxtest.Row{"id": id, "name": fmt.Sprintf("site %d", id), "slug": fmt.Sprintf("site-%d", id)}
}

// drop removes a site, and add appends one.
func drop(id int) func(*netboxtest.Estate) {
	return func(e *netboxtest.Estate) {
		list := e.Lists["dcim/sites"]
		list.Rows = slices.DeleteFunc(slices.Clone(list.Rows), func(r netboxtest.Row) bool { return r["id"] == id })
		e.Lists["dcim/sites"] = list
	}
}

func add(id int) func(*netboxtest.Estate) {
	return func(e *netboxtest.Estate) {
		list := e.Lists["dcim/sites"]
		list.Rows = append(slices.Clone(list.Rows), site(id))
		e.Lists["dcim/sites"] = list
	}
}

func siteIDs(s model.Snapshot) []string {
	var ids []string
	for _, r := range s.Resources {
		if r.Kind == Type+"/dcim.site" {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func TestPagesThatChangeWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, version string
		// edits run after this number of pages of the first read.
		edits map[int][]func(*netboxtest.Estate)
		want  string
		read  int
	}{
		{"nothing changes", "4.5.9", nil, "1 2 3 4 5 6 7", 3},
		{"a row before the next page goes: one after it would be skipped", "4.5.9",
			map[int][]func(*netboxtest.Estate){1: {drop(1)}}, "2 3 4 5 6 7", 5},
		{"a row goes and one comes: the count is equal", "4.5.9",
			map[int][]func(*netboxtest.Estate){1: {drop(2), add(8)}}, "1 3 4 5 6 7 8", 5},
		{"the last row of a page goes", "4.5.9", map[int][]func(*netboxtest.Estate){1: {drop(3)}}, "1 2 4 5 6 7", 5},
		{"a row that is still to come goes", "4.5.9", map[int][]func(*netboxtest.Estate){1: {drop(7)}}, "1 2 3 4 5 6", 3},
		{"a row comes", "4.5.9", map[int][]func(*netboxtest.Estate){1: {add(8)}}, "1 2 3 4 5 6 7 8", 4},
		{"versions without the parameter fields", "3.7.8", map[int][]func(*netboxtest.Estate){1: {drop(1)}}, "2 3 4 5 6 7", 5},
		{"a cursor skips nothing", "4.6.8", map[int][]func(*netboxtest.Estate){1: {drop(1), add(8)}}, "1 2 3 4 5 6 7 8", 3},
	} {
		server := newServer(sites(tc.version, 7))
		for after, edits := range tc.edits {
			for _, edit := range edits {
				server.EditAfter("dcim/sites", after, edit)
			}
		}
		s := collect(t, server, func(c *Config) { c.PageSize = 3 })
		if got := strings.Join(siteIDs(s), " "); got != tc.want {
			t.Errorf("%s: read %s, want %s", tc.reason, got, tc.want)
		}
		if c := covered(t, s, "dcim.site"); !c.Complete {
			t.Errorf("%s: not covered: %s", tc.reason, c.Reason)
		}
		if got := len(server.Requests("dcim/sites")); got != tc.read {
			t.Errorf("%s: %d requests, want %d", tc.reason, got, tc.read)
		}
	}
}

func TestPagesThatAlwaysChange(t *testing.T) {
	t.Parallel()
	server := newServer(sites("4.5.9", 40))
	for i := range 20 {
		server.EditAfter("dcim/sites", i+1, drop(i+1))
	}
	s := collect(t, server, func(c *Config) { c.PageSize = 3 })
	c := covered(t, s, "dcim.site")
	if c.Complete || len(siteIDs(s)) > 0 {
		t.Errorf("%d sites were read, complete %v", len(siteIDs(s)), c.Complete)
	}
	wantIn(t, c.Reason, "changed while they were read", "next scan")
	if n := len(server.Requests("dcim/sites")); n > 2*maxListReads {
		t.Errorf("%d requests: it does not give up", n)
	}
}

func TestServerThatIgnoresTheCursor(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 7} {
		// The server has version 4.6 and pages like 4.5.
		older := netboxtest.New(sites("4.5.9", n), rand.New(rand.NewPCG(1, 1)))
		newer := newServer(sites("4.6.8", n))
		newer.Break("dcim/sites", func(_ http.Handler, w http.ResponseWriter, r *http.Request) { older.ServeHTTP(w, r) })
		s := collect(t, newer, func(c *Config) { c.PageSize = 3 })
		if got := len(siteIDs(s)); got != n || !covered(t, s, "dcim.site").Complete {
			t.Errorf("%d sites were read, want %d: %+v", got, n, covered(t, s, "dcim.site"))
		}
	}
	// The server has the cursor in next, and returns the first page each time.
	stuck := newServer(sites("4.6.8", 7))
	stuck.Break("dcim/sites", func(server http.Handler, w http.ResponseWriter, r *http.Request) {
		if start := r.URL.Query().Get("start"); start != "" && start != "0" {
			faults.Status(http.StatusOK, `{"count":null,"next":null,"results":[{"id":1},{"id":2},{"id":3}]}`)(server, w, r)
			return
		}
		server.ServeHTTP(w, r)
	})
	if s := collect(t, stuck, func(c *Config) { c.PageSize = 3 }); len(siteIDs(s)) != 7 {
		t.Errorf("%d sites were read past a cursor that stands still", len(siteIDs(s)))
	}
	refusing := newServer(sites("4.6.8", 7))
	refusing.Break("dcim/sites", func(server http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("start") {
			faults.Status(http.StatusBadRequest, `{"detail":"start?"}`)(server, w, r)
			return
		}
		server.ServeHTTP(w, r)
	})
	if s := collect(t, refusing, func(c *Config) { c.PageSize = 3 }); len(siteIDs(s)) != 7 {
		t.Errorf("%d sites were read past a server that refuses the cursor", len(siteIDs(s)))
	}
}

func TestServerWithSmallPages(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"4.5.9", "4.6.8"} {
		server := newServer(sites(version, 25))
		server.MaxPage = 4
		s := collect(t, server)
		if got := len(siteIDs(s)); got != 25 || !covered(t, s, "dcim.site").Complete {
			t.Errorf("%s: %d sites were read of 25", version, got)
		}
	}
}

func TestOnlyTheQueryOfTheNextPageCounts(t *testing.T) {
	t.Parallel()
	foreign := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s was asked, with %q", r.Host, r.Header.Get("Authorization"))
	}))
	defer foreign.Close()
	server := newServer(sites("4.6.8", 7))
	server.Break("dcim/sites", func(netbox http.Handler, w http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		netbox.ServeHTTP(recorder, r)
		_, _ = w.Write([]byte(strings.ReplaceAll(recorder.Body.String(), netboxtest.Host, foreign.URL)))
	})
	if s := collect(t, server, func(c *Config) { c.PageSize = 3 }); len(siteIDs(s)) != 7 {
		t.Errorf("%d sites were read of 7", len(siteIDs(s)))
	}
	for _, asked := range server.Requests("dcim/sites") {
		if asked.Query().Get("fields") == "" {
			t.Errorf("%s asks for every field", asked)
		}
	}
}

func TestInvalidLists(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, body, want string }{
		{"a list that lacks rows", `{"count":3,"next":null,"previous":null,"results":[{"id":1,"name":"a"}]}`, "counts 3 objects, and 1 were read"},
		{"another API's list", `{"items":[]}`, "not a list of NetBox"},
		{"an object", `{"id":1}`, "not a list of NetBox"},
		{"a list without its rows", `{"count":0,"next":null}`, "not a list of NetBox"},
		{"invalid rows", `{"count":1,"next":null,"results":[7]}`, "row 1 of the answer cannot be read: a row has no id"},
		{"rows that are no list", `{"count":1,"next":null,"results":{}}`, "not a list of NetBox"},
		{"an invalid count", `{"count":"many","next":null,"results":[]}`, "count is not a number"},
		{"an invalid address", `{"count":1,"next":7,"results":[]}`, "next page is not a string"},
		{"pages that lead back", `{"count":null,"next":"?start=0","results":[{"id":1}]}`, "do not advance"},
		{"a break", `{"count":1,"next":null,"results":[{"id":`, "is truncated"},
		{"more than a list", `{"count":0,"next":null,"results":[]} []`, "continues after the list"},
		{"a page", `<html>`, "HTML page"},
	} {
		server := newServer(sites("4.6.8", 7))
		server.Break("dcim/sites", faults.Status(http.StatusOK, tc.body))
		s := collect(t, server)
		c := covered(t, s, "dcim.site")
		if c.Complete || c.Skipped || len(siteIDs(s)) > 0 {
			t.Errorf("%s: complete %v, skipped %v, %d sites", tc.reason, c.Complete, c.Skipped, len(siteIDs(s)))
		}
		wantIn(t, c.Reason, tc.want)
		if n := len(server.Requests("dcim/sites")); n > 2*maxListReads {
			t.Errorf("%s: %d requests: it does not give up", tc.reason, n)
		}
	}
}

func TestMaxBody(t *testing.T) {
	t.Parallel()
	server := newServer(sites("4.6.8", 400))
	s := collect(t, server, func(c *Config) { c.MaxBody = 4096 })
	c := covered(t, s, "dcim.site")
	if c.Complete || len(siteIDs(s)) > 0 {
		t.Errorf("%d sites beyond the bound, complete %v", len(siteIDs(s)), c.Complete)
	}
	wantIn(t, c.Reason, "larger than 4096 bytes", "max_body", "page_size")
}

func TestDistinctKeepsTheLast(t *testing.T) {
	t.Parallel()
	got := distinct([]change{{id: 3}, {id: 1}, {id: 2}, {id: 1, events: []entry{{}}}})
	if len(got) != 3 || got[0].id != 1 || len(got[0].events) != 1 || got[2].id != 3 {
		t.Errorf("distinct() = %v", got)
	}
}

// FuzzPage reads arbitrary answers: each is a complete list or an error.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		`{"count":1,"next":null,"previous":null,"results":[{"id":1}]}`, `{"count":null,"next":"http://h/?start=4","results":[]}`, `{}`, `[]`, `null`, ``, `<html>`,
		`{"results":[[[[`, `{"count":1e9,"next":"%zz","results":[{"id":1},{"id":1}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		p := page[int64]{count: -1}
		err := p.read(strings.NewReader(body), func(row model.Value) (int64, error) { return number(row.At("id")) })
		var known *httpclient.Unexpected
		if err != nil && !errors.As(err, &known) {
			t.Errorf("%q: %v", body, err)
		}
		if err == nil && (!strings.Contains(body, "results") || strings.Count(body, "id") < len(p.rows)) {
			t.Errorf("%q is a list of %d rows", body, len(p.rows))
		}
	})
}

// TestServerWithFixedPages reads a server that serves only the pages that its own links
// name, such as a recording or a cache.
func TestServerWithFixedPages(t *testing.T) {
	t.Parallel()
	e := sites("4.5.9", 10)
	e.Changes = history(10)
	inner := newServer(e)
	stubborn := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		q.Set("limit", "4")
		if offset := q.Get("offset"); offset != "4" && offset != "8" {
			q.Del("offset")
		}
		r.URL.RawQuery = q.Encode()
		inner.ServeHTTP(w, r)
	})
	s := collect(t, stubborn)
	if ids := siteIDs(s); len(ids) != 10 {
		t.Errorf("read sites %v, want 10", ids)
	}
	if ok, reason := s.Covers(Type+"/dcim.site", ""); !ok || len(s.AuditEvents) != 10 {
		t.Errorf("covered: %t (%s), with %d events, want 10", ok, reason, len(s.AuditEvents))
	}
}
