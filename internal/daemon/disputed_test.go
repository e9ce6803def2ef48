package daemon

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// A secondSide declares the same Deployment as the repository, without git.
type secondSide struct {
	site     *site
	manifest string
	change   func(*model.Claim)
}

func (l *secondSide) Load(context.Context) (model.Declaration, error) {
	d := model.Declaration{Name: "other", Governs: []string{"live"}}
	if l.manifest == "" {
		return d, nil
	}
	docs, err := decode.YAML(strings.NewReader(l.manifest))
	if err != nil {
		return d, err
	}
	kinds, err := kube.Builtin()
	if err != nil {
		return d, err
	}
	c, err := kube.NewClaim(docs[0].Value, kube.ClaimOptions{Declaration: "other", DefaultNamespace: "default", Kinds: kinds, Sealer: model.NewSealer([]byte("key"))})
	if err != nil {
		return d, err
	}
	c.Declaration, c.Address = "other", "entry"
	l.change(&c)
	d.Claims = []model.Claim{c}
	return d, nil
}

// join adds a second declaration of the live source.
func (s *site) join(loader declared.Loader) {
	s.engine.estate.Declarations = append(s.engine.estate.Declarations,
		Declaration{Name: "other", Type: "test", Governs: []string{"live"}, Every: time.Minute, Timeout: time.Minute, Loader: loader})
}

// sides scans and returns the actor of each side of the only dispute.
func (s *site) sides() string {
	s.t.Helper()
	s.after(2 * time.Minute)
	r, err := s.engine.Cycle(s.t.Context(), s.engine.Everything())
	if err != nil {
		s.t.Fatal(err)
	}
	if len(r.Findings) != 1 || r.Findings[0].Verdict != model.Disputed || len(r.Findings[0].Changes) != 1 {
		return fmt.Sprintf("%+v", r.Findings)
	}
	if !r.Scan.Complete {
		s.t.Error("the scan is not complete")
	}
	c := &r.Findings[0].Changes[0]
	said := []string{}
	for _, claim := range c.Claims {
		said = append(said, fmt.Sprintf("%s=%s by %s", claim.Declaration, claim.Value, actorText(claim.Actor)))
	}
	return strings.Join(append(said, fmt.Sprintf("live=%s by %s", c.Live, actorText(c.LiveActor))), ", ")
}

func actorText(a *model.Actor) string {
	switch {
	case a == nil:
		return "none"
	case a.Confidence == model.Unknown:
		return a.Name + " (" + a.Reason + ")"
	}
	return a.Name
}

// TestDisputeNamesEachSide has a dispute of git and another declaration over one field: the
// last writer of the field on each side is named, not the author of the last commit to its
// file.
func TestDisputeNamesEachSide(t *testing.T) {
	t.Parallel()
	commit := func(s *site, who, file, manifest string) {
		s.who = who
		s.after(time.Hour).push("main", s.now, map[string]string{file: manifest})
	}
	// dispute sets up "a" declared by alice in deploy, a later commit of zoe that does not
	// change the image, and "x" applied by laptop.
	dispute := func(s *site, x string) {
		commit(s, "alice", "deploy/web.yaml", web("a"))
		commit(s, "zoe", "deploy/web.yaml", "# shop\n"+web("a"))
		s.after(time.Hour).apply(web(x))
	}
	state := func(c *model.Claim) { c.RecordOnly = true; v := c.Value; c.Recorded = &v }
	intent := func(name string) func(*model.Claim) {
		return func(c *model.Claim) {
			c.AuditEvents = []model.AuditEvent{{Action: model.Edited, Fields: []string{"spec"}, Actor: model.Actor{Name: name, At: epoch, Via: "netbox", Confidence: model.Exact}}}
		}
	}
	for name, tc := range map[string]struct {
		reason string
		second string
		change func(*model.Claim)
		live   string
		want   string
	}{
		"git against a Terraform state": {
			"a state has no author", "b", state, "b",
			"git=a by alice, other=b by unknown (the state does not record who set it; engine: plan with git shows who declared it), live=b by laptop",
		},
		"git against NetBox": {"the change log names the field", "b", intent("bob"), "a", "git=a by alice, other=b by bob, live=a by laptop"},
		"live as neither":    {"edited by hand", "b", intent("bob"), "c", "git=a by alice, other=b by bob, live=c by laptop"},
		"no log, no history": {
			"the other declaration has no history", "b", func(*model.Claim) {}, "a",
			"git=a by alice, other=b by unknown (nothing tells who declared it: the declaration keeps no history), live=a by laptop",
		},
		"a log without a right": {
			"the hint is the declaration's own", "b", func(c *model.Claim) { c.WriterUnknown = "grant view on core.objectchange" }, "a",
			"git=a by alice, other=b by unknown (grant view on core.objectchange), live=a by laptop",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			s.join(&secondSide{site: s, manifest: web(tc.second), change: tc.change})
			if dispute(s, tc.live); s.sides() != tc.want {
				t.Errorf("%s:\n got %s\nwant %s", tc.reason, s.sides(), tc.want)
			}
		})
	}
	t.Run("two paths of git", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, nil)
		s.join(s.loader("other", func(c *manifests.Config) { c.Path = "platform" }))
		commit(s, "bob", "platform/web.yaml", web("b"))
		dispute(s, "a")
		commit(s, "yan", "platform/web.yaml", web("b")+"# team: platform\n")
		const want = "git=a by alice, other=b by bob, live=a by laptop"
		for range 2 {
			if got := s.sides(); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		}
		commit(s, "dan", "platform/web.yaml", web("c"))
		if got := s.sides(); got != strings.Replace(want, "b by bob", "c by dan", 1) {
			t.Errorf("another value: got %s", got)
		}
	})
	t.Run("history that is cut", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, func(c *manifests.Config) { c.Lookback.Commits = 1 })
		s.join(&secondSide{site: s, manifest: web("b"), change: intent("bob")})
		dispute(s, "a")
		got := strings.ReplaceAll(s.sides(), s.made[1][:12], "c2")
		const want = "git=a by unknown (declared by commit c2 or before, the oldest one that was read; raise history), other=b by bob, live=a by laptop"
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("repository that cannot be read", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, nil)
		s.join(&secondSide{site: s, manifest: web("a"), change: intent("bob")})
		dispute(s, "a")
		s.want("in sync", "")
		s.engine.estate.Declarations[1].Loader = refusing{&secondSide{site: s, manifest: web("b"), change: intent("bob")}}
		if got, want := s.sides(), "git=a by alice, other=b by bob, live=a by laptop"; got != want {
			t.Errorf("a name is not worth an incomplete scan:\n got %s\nwant %s", got, want)
		}
	})
}

// refusing is a declaration whose history cannot be read.
type refusing struct{ *secondSide }

func (refusing) History(context.Context, string, []*model.Claim) (model.History, error) {
	return model.History{}, context.DeadlineExceeded
}
