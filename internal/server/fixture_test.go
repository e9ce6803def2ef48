package server

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// begin is the time of the fixture's first scan. The second is an hour later, and the tests run
// another hour later.
func begin() time.Time { return time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC) }

func now() time.Time { return begin().Add(2 * time.Hour) }

// viewed serves a viewer over TCP.
func viewed(t *testing.T, a API) http.Handler { return open(t, a, access.Viewer) }

// open serves a visitor with a role over TCP; its pages carry the form token.
func open(t *testing.T, a API, role access.Role) http.Handler {
	t.Helper()
	a.Gate = gate(t, role)
	return a.Public(true, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Token", a.Gate.Token(w, r))
		http.NotFound(w, r)
	}))
}

// gate gives visitors from this host a role.
func gate(t *testing.T, role access.Role) *access.Gate {
	t.Helper()
	g, err := access.New(access.Options{Loopback: role, Now: now, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func sealer() model.Sealer { return model.NewSealer([]byte("a key of these tests")) }

func object(fields ...model.Field) *model.Value {
	v := model.MapOf(fields...)
	return &v
}

func field(name string, value model.Value) model.Field {
	return model.Field{Name: name, Value: value}
}

func resource(source, kind, id string, value *model.Value) model.Resource {
	return model.Resource{
		Key: model.Key{Source: source, Kind: "kubernetes/" + kind, ID: id}, Place: "shop", Value: *value,
		Owners:     []model.Owner{{Name: "kubectl-edit", At: begin()}},
		OwnersFrom: "managedFields",
	}
}

func snapshot(source string, at time.Time, resources ...model.Resource) model.Snapshot {
	slices.SortFunc(resources, func(a, b model.Resource) int { return a.Compare(b.Key) })
	return model.Snapshot{Source: source, Taken: at, Resources: resources, Coverage: []model.Coverage{{Source: source, Complete: true}}}
}

func run(id string, at time.Time) model.Run {
	return model.Run{
		ID: id, Started: at, Finished: at.Add(time.Second), Complete: id == "run-1", Tool: "1.2.3",
		Sources: []model.SourceRun{
			{Name: "edge", Type: "kubernetes", Resources: 1, Taken: at, Every: 24 * time.Hour},
			{Name: "prod", Type: "kubernetes", Resources: 3, Taken: at},
		},
		Declarations: []model.DeclarationRun{{Name: "shop", Type: "manifests", Revision: "abcdef", Governs: []string{"prod"}, Claims: 3, Problems: []model.Problem{}}},
		Summary:      model.Summary{Resources: 4, InSync: 1, Findings: 2, Unchecked: 1},
		Coverage:     []model.Coverage{{Source: "edge", Complete: false, Reason: "timeout"}, {Source: "prod", Complete: true}},
	}
}

func finding(id, source, kind string, verdict model.Verdict, first, last time.Time) model.Finding {
	return model.Finding{
		ID: id, Verdict: verdict, Severity: model.High,
		Key:   model.Key{Source: source, Kind: "kubernetes/" + kind, ID: "shop/web"},
		Place: "shop", Name: "web", Declaration: "shop", Address: "deploy/web.yaml:12",
		Actor: model.UnknownActor("no record"), FirstSeen: first, LastSeen: last,
	}
}

// fill saves two scans.
func fill(t *testing.T, s *store.Store) {
	t.Helper()
	t0, t1 := begin(), begin().Add(time.Hour)
	old, fresh := sealer().Seal("hunter2"), sealer().Seal("hunter3")
	image := func(tag string, password model.Value) *model.Value {
		return object(field("image", model.StringOf("web:"+tag)), field("password", password))
	}
	secret := finding("f00d01", "prod", "Deployment.apps", model.Changed, t0, t1)
	secret.Changes = []model.Change{
		{Path: "env", Declared: object(field("deep", old)), Live: object(field("deep", fresh)), Secret: true},
		{Path: "password", Declared: &old, Recorded: &old, Live: &fresh, Secret: true,
			Claims: []model.ClaimedValue{{Declaration: "shop", Address: "a.yaml:1", Value: old}}},
	}
	earlier := secret
	earlier.Changes = secret.Changes[:1]
	earlier.LastSeen = t0
	hidden := finding("f00d02", "prod", "ConfigMap", model.Changed, t0, t1)
	hidden.Hidden = "noise"
	resolved := finding("beef01", "prod", "Service", model.Missing, t0, t0)
	gone := resolved
	gone.Resolved = t1
	unchecked := finding("cafe01", "edge", "Secret", model.Unchecked, t1, t1)
	unchecked.Severity = model.Info

	save := func(r store.Record) {
		t.Helper()
		if err := s.Save(r); err != nil {
			t.Fatal(err)
		}
	}
	shared := object(field("data", model.StringOf("x")))
	save(store.Record{Run: run("run-1", t0), Findings: []model.Finding{earlier, hidden, resolved}, Snapshots: []model.Snapshot{
		snapshot("prod", t0, resource("prod", "Deployment.apps", "shop/web", image("1.4", old)), resource("prod", "Service", "shop/web", shared), resource("prod", "ConfigMap", "shop/web", shared)),
		snapshot("edge", t0, resource("edge", "ConfigMap", "shop/web", shared)),
	}})
	save(store.Record{Run: run("run-2", t1), Findings: []model.Finding{secret, hidden, gone, unchecked}, Snapshots: []model.Snapshot{
		snapshot("prod", t1, resource("prod", "Deployment.apps", "shop/web", image("1.5", fresh)), resource("prod", "ConfigMap", "shop/web", shared), resource("prod", "ConfigMap", "shop/new", shared)),
		snapshot("edge", t1, resource("edge", "ConfigMap", "shop/web", shared)),
	}})
}

func emptyStore(tb testing.TB) *store.Store {
	tb.Helper()
	s, err := store.Open(tb.TempDir(), store.Options{Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// scanner is a function that implements Scanner.
type scanner func(context.Context, []string) (model.Report, error)

func (s scanner) Scan(ctx context.Context, sources []string) (model.Report, error) {
	return s(ctx, sources)
}

// compare returns the fields in which two maps differ.
func compare(_ model.Key, before, after model.Value) []model.Change {
	var changes []model.Change
	for _, f := range before.Fields() {
		if now, _ := after.Get(f.Name); !f.Value.Equal(now) {
			changes = append(changes, model.Change{Path: f.Name, Recorded: &f.Value, Live: &now})
		}
	}
	return changes
}

// api returns an API with two scans.
func api(t *testing.T) API {
	t.Helper()
	s := emptyStore(t)
	fill(t, s)
	return API{Store: s, Compare: compare, Version: "1.2.3", Now: now, Log: quiet()}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func client(h http.Handler) *Client {
	return &Client{HTTP: &http.Client{Transport: InProcess(h)}}
}

// get sends a request to a handler and returns status and body.
func get(t *testing.T, h http.Handler, method, target string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+target, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := InProcess(h).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, read(t, answer)
}

func read(t *testing.T, answer *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
