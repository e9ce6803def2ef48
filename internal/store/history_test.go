package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

func TestHistoryOfUnknown(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	_, err := s.History(key("shop/a"))
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "prod/kubernetes/ConfigMap/shop/a") {
		t.Errorf("got %v, want not found with the key", err)
	}
}

func TestLatest(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	if _, err := s.Latest(key("shop/a")); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	save(t, s, scan(1, nil, snapshotAt(1, resource("shop/a", "1"), resource("shop/b", "9"))))
	save(t, s, scan(2, nil, snapshotAt(2, resource("shop/a", "2"), resource("shop/b", "9"))))
	save(t, s, scan(3, nil, snapshotAt(3, resource("shop/a", "2"))))
	live := resource("shop/a", "2").Value
	for id, want := range map[string]*model.Value{"shop/a": &live, "shop/b": nil} {
		got, err := s.Latest(key(id))
		if err != nil || (got == nil) != (want == nil) || got != nil && !got.Equal(*want) {
			t.Errorf("%s: %v, %v, want %v", id, got, err, want)
		}
	}
}

// TestOwnWrites checks that driftd is the actor of the version that its action made, unless someone wrote later, and of no
// other one.
func TestOwnWrites(t *testing.T) {
	t.Parallel()
	driftd := model.Actor{Name: "driftd", At: minute(3), Via: model.ViaAction, Evidence: "a1", Confidence: model.Likely}
	for name, c := range map[string]struct {
		state reconcile.State
		// writer is when the last writer that the source reports wrote, and before when the version before was read.
		writer, before int
		own            bool
		// noted is when a controller noted something through the status; 0 if none did.
		noted int
	}{
		"put back":      {reconcile.Converged, 1, 2, true, 0},
		"confirmed":     {reconcile.Written, 1, 2, true, 0},
		"written over":  {reconcile.NotConverged, 1, 2, false, 0},
		"failed":        {reconcile.Failed, 1, 2, false, 0},
		"not known":     {reconcile.Unknown, 1, 2, false, 0},
		"written later": {reconcile.Converged, 4, 2, false, 0},
		"of before":     {reconcile.Converged, 1, 4, false, 0},
		"noted":         {reconcile.Converged, 1, 2, true, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := withAction(t)
			r := resource("shop/a", "drift")
			r.OwnersFrom, r.Owners = "managedFields", []model.Owner{{Name: "git", At: minute(c.writer)}}
			if c.noted > 0 {
				r.Owners = append(r.Owners, model.Owner{Name: "controller", Through: "status", At: minute(c.noted)})
			}
			save(t, s, scan(c.before, []model.Finding{finding("a", 0)}, snapshotAt(c.before, r)))
			if err := errors.Join(enter(s, reconcile.Armed, minute(3)), enter(s, c.state, minute(3))); err != nil {
				t.Fatal(err)
			}
			r.Value = resource("shop/a", "declared").Value
			save(t, s, scan(5, nil, snapshotAt(5, r)))
			versions, err := s.History(r.Key)
			if err != nil || len(versions) != 2 {
				t.Fatalf("%d versions, %v", len(versions), err)
			}
			if first, last := versions[0].Actor, versions[1].Actor; first.Name != "git" || (last == driftd) != c.own || !c.own && last.Name != "git" {
				t.Errorf("the actors are %+v and %+v", first, last)
			}
		})
	}
}

func TestActors(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	r := resource("shop/a", "1")
	r.OwnersFrom = "managedFields"
	r.Owners = []model.Owner{{Name: "helm", At: start()}, {Name: "kubectl-edit", At: minute(1)}}
	save(t, s, scan(2, nil, snapshotAt(2, r)))
	save(t, s, scan(3, nil, snapshotAt(3)))
	versions, err := s.History(r.Key)
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Actor{
		{Name: "kubectl-edit", At: minute(1), Via: "managedFields", Confidence: model.Likely},
		model.UnknownActor("the source does not record who removed it"),
	}
	if diff := cmp.Diff(want, []model.Actor{versions[0].Actor, versions[1].Actor}); diff != "" {
		t.Error(diff)
	}
}

// TestActorsOfAuditEvents has a source whose resources do not record their owners, but which has
// audit events: only an actor since the last version is returned.
func TestActorsOfAuditEvents(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	by := func(deed model.Action, name string, at time.Time) model.AuditEvent {
		return model.AuditEvent{Ref: model.Ref{Kind: "kubernetes/ConfigMap", ID: "shop/a"}, Action: deed,
			Actor: model.Actor{Name: name, At: at, Via: "a log", Confidence: model.Exact}}
	}
	made, edited, gone := by(model.Created, "terraform", start()), by(model.Edited, "carol", minute(3)), by(model.Deleted, "dave", minute(7))
	seen := func(at int, value string, traces ...model.AuditEvent) model.Snapshot {
		r := resource("shop/a", value)
		snap := snapshotAt(at, r)
		snap.AuditEvents = traces
		return snap
	}
	save(t, s, scan(2, nil, seen(2, "1", made)))
	save(t, s, scan(4, nil, seen(4, "2", made, edited)))
	save(t, s, scan(6, nil, seen(6, "3", made, edited)))
	last := snapshotAt(8)
	last.AuditEvents = []model.AuditEvent{made, edited, gone}
	save(t, s, scan(8, nil, last))
	unknown := (&model.Resource{}).LastWriter().Reason
	versions, err := s.History(resource("shop/a", "1").Key)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range versions {
		got = append(got, fmt.Sprint(v.Actor.Name, " ", v.Actor.Confidence, " ", v.Actor.Reason, " ", v.Value == nil))
	}
	want := []string{"terraform likely  false", "carol likely  false", "unknown unknown " + unknown + " false", "dave exact  true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("who did what (-want +got):\n%s", diff)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	mk := func(source, kind, id string) model.Resource {
		return model.Resource{Key: model.Key{Source: source, Kind: kind, ID: id}, Value: text(id)}
	}
	save(t, s, scan(0, nil,
		model.Snapshot{Source: "prod", Taken: minute(0), Resources: []model.Resource{
			mk("prod", "kubernetes/Deployment.apps", "shop/web"), mk("prod", "kubernetes/Deployment.apps", "shop/xweb"), mk("prod", "kubernetes/Service", "shop/web"),
		}},
		model.Snapshot{Source: "pve", Taken: minute(0), Resources: []model.Resource{mk("pve", "proxmox/qemu", "100"), mk("pve", "proxmox/qemu", "web")}},
	))
	cases := map[string]struct {
		text   string
		want   []string
		reason string
	}{
		"whole":        {"prod/kubernetes/Service/shop/web", []string{"prod/kubernetes/Service/shop/web"}, "a key as it is printed"},
		"kind and id":  {"Deployment.apps/shop/web", []string{"prod/kubernetes/Deployment.apps/shop/web"}, "the end of a key"},
		"id":           {"shop/web", []string{"prod/kubernetes/Deployment.apps/shop/web", "prod/kubernetes/Service/shop/web"}, "several kinds"},
		"last part":    {"web", []string{"prod/kubernetes/Deployment.apps/shop/web", "prod/kubernetes/Service/shop/web", "pve/proxmox/qemu/web"}, "xweb ends so too, but not at a slash"},
		"no slashes":   {"100", []string{"pve/proxmox/qemu/100"}, "an id without parts"},
		"kind only":    {"qemu", nil, "not the end of a key"},
		"nothing":      {"", nil, "nothing names nothing"},
		"only a slash": {"/", nil, "no key ends so"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keys, err := s.Keys(c.text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, k := range keys {
				got = append(got, k.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
		})
	}
}

// shorten formats a change as "id before→after minute".
func shortened(c *ResourceChange) string {
	side := func(v *model.Value) string {
		if v == nil {
			return "-"
		}
		return v.At("data").Str()
	}
	return fmt.Sprintf("%s/%s %s→%s %s", c.Key.Source, c.Key.ID, side(c.Before), side(c.After), c.At.Sub(start()))
}

func TestOldestRead(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	save(t, s, scan(1, nil, snapshotAt(1, resource("a", "1"))))
	save(t, s, scan(2, nil, snapshotAt(2, resource("a", "2"), resource("b", "1"))))
	for source, want := range map[string]time.Time{"prod": minute(1), "pro": {}} {
		if got, err := s.OldestRead(source); err != nil || !got.Equal(want) {
			t.Errorf("OldestRead(%s) = %v, %v; want %v", source, got, err, want)
		}
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	stage := snapshotAt(1, resource("z", "1"))
	stage.Source, stage.Resources[0].Source = "aaa", "aaa"
	save(t, s, scan(0, nil, snapshotAt(0, resource("a", "1"), resource("b", "1"), resource("c", "1"))))
	save(t, s, scan(1, nil, stage))
	save(t, s, scan(2, nil, snapshotAt(2, resource("a", "2"), resource("b", "2"), resource("d", "1"))))
	save(t, s, scan(4, nil, snapshotAt(4, resource("a", "1"), resource("b", "3"), resource("c", "9"), resource("d", "1"))))
	cases := map[string]struct {
		source   string
		from, to time.Time
		want     []string
		reason   string
	}{
		"whole past":     {"prod", minute(-9), minute(9), []string{"prod/a -→1 4m0s", "prod/b -→3 4m0s", "prod/c -→9 4m0s", "prod/d -→1 2m0s"}, "there was nothing before the first read"},
		"first change":   {"prod", minute(0), minute(3), []string{"prod/a 1→2 2m0s", "prod/b 1→2 2m0s", "prod/c 1→- 2m0s", "prod/d -→1 2m0s"}, "changed, removed, added"},
		"changed back":   {"prod", minute(0), minute(4), []string{"prod/b 1→3 4m0s", "prod/c 1→9 4m0s", "prod/d -→1 2m0s"}, "a is what it was"},
		"back":           {"prod", minute(2), minute(4), []string{"prod/a 2→1 4m0s", "prod/b 2→3 4m0s", "prod/c -→9 4m0s"}, "c came back"},
		"nothing":        {"prod", minute(4), minute(9), nil, "quiet since"},
		"same moment":    {"", minute(2), minute(2), nil, "a moment does not differ from itself"},
		"before it all":  {"", minute(-9), minute(-8), nil, "nothing was there"},
		"all sources":    {"", minute(0), minute(3), []string{"aaa/z -→1 1m0s", "prod/a 1→2 2m0s", "prod/b 1→2 2m0s", "prod/c 1→- 2m0s", "prod/d -→1 2m0s"}, "sorted by source first"},
		"unknown source": {"pro", minute(-9), minute(9), nil, "no source has this name"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changes, err := s.Changes(c.source, c.from, c.to)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range changes {
				got = append(got, shortened(&changes[i]))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
		})
	}
	if _, err := s.Changes("", minute(2), minute(1)); err == nil || !strings.Contains(err.Error(), "after") {
		t.Errorf("moments in the wrong order: got %v", err)
	}
}
