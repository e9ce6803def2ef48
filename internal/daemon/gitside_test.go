package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

var manifestsDefinition = sync.OnceValue(manifests.Definition)

// A site is a git repository, a cluster and driftd, with one clock.
type site struct {
	t      *testing.T
	dir    string
	now    time.Time
	live   map[string]string // manifest by name
	at     time.Time         // of the last apply, as managedFields have it
	made   []string
	who    string // author of the commits
	config manifests.Config
	store  *store.Store
	engine *Engine
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newSite(t *testing.T, change func(*manifests.Config)) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), now: epoch, live: map[string]string{}, who: "dev", config: manifests.Defaults()}
	s.git("", "init", "-q", "-b", "main", ".")
	s.config.Git, s.config.Ref, s.config.Path = s.dir, "main", "deploy"
	if change != nil {
		change(&s.config)
	}
	st, err := store.Open(t.TempDir(), store.Options{Now: s.clock, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	s.store = st
	s.restart()
	return s
}

func (s *site) clock() time.Time { return s.now }

// loader returns a declaration of the repository.
func (s *site) loader(name string, change func(*manifests.Config)) declared.Loader {
	env := declared.Env{Name: name, Governs: []string{"live"}, Sealer: model.NewSealer([]byte("key")), Log: slog.New(slog.DiscardHandler)}
	loader, err := manifestsDefinition().Open(env, func(into any) error {
		config := s.config
		change(&config)
		*into.(*manifests.Config) = config
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return loader
}

func (s *site) restart() *site {
	loader := s.loader("git", func(*manifests.Config) {})
	s.engine = New(Estate{
		Sources:      []Source{{Name: "live", Type: "test", Every: time.Minute, Timeout: 10 * time.Second, Collector: s}},
		Declarations: []Declaration{{Name: "git", Type: "manifests", Governs: []string{"live"}, Every: time.Minute, Timeout: time.Minute, Loader: loader}},
	}, Options{Store: s.store, Now: s.clock, Log: slog.New(slog.DiscardHandler)})
	return s
}

func (s *site) git(input string, args ...string) string {
	s.t.Helper()
	c := exec.CommandContext(s.t.Context(), "git", args...)
	c.Dir, c.Stdin = s.dir, strings.NewReader(input)
	c.Env = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "HOME=" + s.dir, "LC_ALL=C"}
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// push makes a commit on a branch with a committer's date. Parents are refs.
func (s *site) push(branch string, date time.Time, files map[string]string, parents ...string) *site {
	s.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "commit refs/heads/%s\nauthor %s <d@example.org> %d +0000\ncommitter dev <d@example.org> %d +0000\ndata 0\n", branch, s.who, date.Unix(), date.Unix())
	if len(parents) == 0 && len(s.made) > 0 {
		parents = []string{"refs/heads/" + branch + "^0"}
	}
	for i, p := range parents {
		fmt.Fprintf(&b, "%s %s\n", [...]string{"from", "merge"}[min(i, 1)], p)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if files[name] == "" {
			fmt.Fprintf(&b, "D %s\n", name)
			continue
		}
		fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", name, len(files[name]), files[name])
	}
	s.git(b.String()+"\n", "fast-import", "--quiet", "--force")
	s.made = append(s.made, s.git("", "rev-parse", "refs/heads/"+branch))
	return s
}

func (s *site) commit(manifest string) *site {
	return s.push("main", s.now, map[string]string{"deploy/web.yaml": manifest})
}

// apply makes a manifest live and recorded; managedFields have the present time.
func (s *site) apply(manifest string) *site {
	s.live["web"], s.at = manifest, s.now
	return s
}

func (s *site) after(d time.Duration) *site { s.now = s.now.Add(d); return s }

func (s *site) Collect(context.Context) (model.Snapshot, error) {
	kinds, err := kube.Builtin()
	if err != nil {
		return model.Snapshot{}, err
	}
	snap := model.Snapshot{Source: "live", Taken: s.now, Kinds: kinds, Coverage: []model.Coverage{{Source: "live", Complete: true}}}
	for _, name := range slices.Sorted(maps.Keys(s.live)) {
		docs, err := decode.YAML(strings.NewReader(s.live[name]))
		if err != nil || len(docs) == 0 {
			return snap, err
		}
		c, err := kube.NewClaim(docs[0].Value, kube.ClaimOptions{Declaration: "x", DefaultNamespace: "default", Kinds: kinds, Sealer: model.NewSealer([]byte("key"))})
		if err != nil {
			return snap, err
		}
		recorded := c.Value
		snap.Resources = append(snap.Resources, model.Resource{Key: model.Key{Source: "live", Kind: c.Kind, ID: c.ID}, Place: c.Place, Name: c.Name, Value: c.Value,
			Created: epoch.Add(-time.Hour), LastApplied: &recorded, OwnersFrom: "managedFields", Owners: []model.Owner{{Name: "laptop", Records: true, At: s.at}}})
	}
	return snap, nil
}

// scan scans two minutes later and returns the findings.
func (s *site) scan() string {
	s.t.Helper()
	s.after(2 * time.Minute)
	r, err := s.engine.Cycle(s.t.Context(), s.engine.Everything())
	if err != nil {
		s.t.Fatal(err)
	}
	var lines []string
	for _, f := range r.Findings {
		line := string(f.Verdict)
		if len(f.Changes) > 0 && f.Changes[0].Unproven {
			line += "?"
		}
		text := strings.Replace(fmt.Sprintf("%s by %s: %s", line, f.Actor.Name, f.Reason), "runs a different image; ", "", 1)
		for i, h := range s.made {
			text = strings.ReplaceAll(text, h[:12], fmt.Sprintf("c%d", i+1))
		}
		lines = append(lines, strings.TrimSuffix(text, ": "))
	}
	return strings.Join(lines, "; ")
}

func (s *site) want(reason, want string) *site {
	s.t.Helper()
	if got := s.scan(); got != want {
		s.t.Errorf("%s:\n got %q\nwant %q", reason, got, want)
	}
	return s
}

// web returns a Deployment with an image.
func web(image string) string { return webWith(image, "") }

func webWith(image, more string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: default}\nspec:\n  selector: {matchLabels: {app: web}}\n" +
		"  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - name: web\n        image: " + image + "\n" + more
}

const (
	day        = 24 * time.Hour
	pending    = "pending by dev"
	undeclared = "bypassed by laptop: applied, and declared by no commit"
	older      = "bypassed by laptop: an older version "
)

// TestGitSide tests decision 24 with the whole engine, a real repository and a simulated clock.
// Cases that begin with "limit" show verdicts that are known to be wrong: they would need the
// time of the last scan before a change, which is not stored.

func TestGitSide(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		run    func(s *site)
	}{
		"basic": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.commit(web("b")).want("pending", pending).apply(web("b")).want("in sync", "")
			s.apply(web("evil")).want("evil", undeclared)
		}},
		"whitelist in one push, seen D live": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.after(day).commit(web("evil")).commit(web("a")).want("in sync", "")
			s.after(2*time.Hour).want("in sync, after the window", "")
			s.after(day).apply(web("evil"))
			s.at = epoch
			s.want("evil, with a forged time", older+"(c2) was applied after c3")
			s.after(day).want("stays", older+"(c2) was applied after c3")
		}},
		"whitelist with a future date, first look": {"", func(s *site) {
			s.commit(web("a")).push("main", s.now, map[string]string{"deploy/web.yaml": web("evil")}).push("main", s.now.Add(1000*day), map[string]string{"deploy/web.yaml": web("b")})
			s.after(100*day).apply(web("evil")).want("future", "pending? by laptop: pending or bypassed: commit c3 has a date in the future")
			s.after(day).want("again", "pending? by laptop: pending or bypassed: commit c3 has a date in the future")
		}},
		"whitelist with a future date bounded by a later honest commit": {"", func(s *site) {
			s.commit(web("a")).push("main", s.now, map[string]string{"deploy/web.yaml": web("evil")}).push("main", s.now.Add(99*day), map[string]string{"deploy/web.yaml": web("b")})
			s.after(day).push("main", s.now, map[string]string{"README": "x"})
			s.after(98*day).apply(web("evil")).want("future", older+"(c2) was applied after c3")
		}},
		"merged pull request hides a value with a forged date, while a deploy waits": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.push("pr", s.now, map[string]string{"deploy/web.yaml": web("evil")}, "refs/heads/main^0").
				push("pr", s.now.Add(30*day), map[string]string{"deploy/web.yaml": web("a"), "README": "x"})
			s.push("main", s.now, map[string]string{"README": "x"}, "refs/heads/main^0", "refs/heads/pr^0").want("merged", "")
			s.after(29*day).commit(web("b")).want("b waits", pending)
			s.after(20*time.Minute).apply(web("evil")).want("evil within the window of b", older+"(c2) was applied again after driftd saw a newer one live")
			s.after(day).want("later", older+"(c2) was applied again after driftd saw a newer one live")
		}},
		"managedFields forged to a time before the other value was last seen": {"", func(s *site) {
			s.commit(web("evil")).after(time.Minute).apply(web("evil")).want("evil is declared", "")
			s.commit(web("b")).apply(web("b")).want("b", "")
			t0 := s.now
			s.after(10*day).commit(web("c")).want("c waits", pending)
			s.apply(web("evil"))
			s.at = t0.Add(time.Minute)
			s.want("forged", older+"(c1) was applied again after driftd saw a newer one live")
			s.after(day).want("forged", older+"(c1) was applied again after driftd saw a newer one live")
		}},
		"branch only": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).push("refs/heads/main", s.now, map[string]string{"deploy/web.yaml": web("evil")}, "refs/heads/main^0")
			s.push("HEAD", s.now, map[string]string{"deploy/web.yaml": web("evil")}, "refs/heads/main^0")
			s.want("in sync", "")
		}},
		"branch, then deleted": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.push("x", s.now, map[string]string{"deploy/web.yaml": web("evil")}, "refs/heads/main^0")
			s.apply(web("evil")).want("branch", "bypassed by laptop: applied from x (commit c2), which is not merged")
			s.git("", "update-ref", "-d", "refs/heads/x")
			s.want("deleted", "bypassed by laptop: applied from x (commit c2), which is not merged")
			s.restart().want("deleted, restarted", undeclared)
		}},
		"branch pushed after the apply": {"apply_before_merge", func(s *site) {
			s.config.ApplyBeforeMerge = true
			s.restart()
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.apply(web("b")).want("applied before the branch was pushed", undeclared)
			s.push("x", s.now, map[string]string{"deploy/web.yaml": web("b")}, "refs/heads/main^0")
			s.after(time.Hour).want("pushed", pending)
		}},
		"restart between commit and deploy": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.commit(web("b")).restart().want("pending", pending).restart().want("pending", pending)
			s.apply(web("b")).restart().want("in sync", "")
		}},
		"ref moved back": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("", "").commit(web("b")).apply(web("b")).want("", "")
			s.git("", "update-ref", "refs/heads/main", s.made[0])
			s.want("moved back", pending).after(day).want("still", pending).restart().want("still", pending)
			s.apply(web("a")).want("applied", "")
			s.after(day).apply(web("b")).want("b again", older+"was applied again after driftd saw the declared one live")
		}},
		"limit: fast-forward of an old branch, first look": {"the committer's date is older than the push", func(s *site) {
			s.commit(web("a")).push("x", s.now, map[string]string{"deploy/web.yaml": web("b")}, "refs/heads/main^0")
			s.after(5 * day).apply(web("a"))
			s.after(day).git("", "update-ref", "refs/heads/main", "refs/heads/x")
			s.want("first look", older+"(c1) was applied after c2")
		}},
		"fast-forward of an old branch, known": {"", func(s *site) {
			s.commit(web("a")).push("x", s.now, map[string]string{"deploy/web.yaml": web("b")}, "refs/heads/main^0")
			s.after(5*day).apply(web("a")).want("in sync", "")
			s.after(day).git("", "update-ref", "refs/heads/main", "refs/heads/x")
			s.want("first look", pending).after(day).want("still", pending)
		}},
		"limit: driftd down while it was rolled back": {"driftd saw a live before, and not that b was in between", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.after(day).commit(web("b")).apply(web("b")).after(10 * day).apply(web("a"))
			s.restart().want("rolled back by hand while driftd was down", pending)
		}},
		"deploy longer than the window": {"table: applied later than that", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.commit(web("b")).commit(web("c")).want("b and c", pending)
			s.after(30*time.Minute).apply(web("b")).want("b arrives within the window", pending)
			s.after(5*time.Hour).want("and stays", pending)
		}},
		"field removed from git": {"", func(s *site) {
			x := "        imagePullPolicy: Always\n        tty: true\n"
			s.commit(webWith("a", x)).apply(webWith("a", x)).want("in sync", "")
			s.commit(web("a")).want("removed", pending)
			s.apply(web("a")).want("applied", "")
			s.apply(webWith("a", x)).want("again", older+"(c1) was applied again after driftd saw the declared one live")
			s.apply(webWith("a", "        stdin: true\n")).want("never", undeclared)
		}},
		"field dropped from live by an apply": {"", func(s *site) {
			x := "        tty: true\n"
			s.commit(webWith("a", x)).apply(webWith("a", x)).want("in sync", "")
			s.apply(web("a")).want("dropped", undeclared)
		}},
		"quantities": {"", func(s *site) {
			cpu := func(q string) string { return webWith("a", "        resources: {limits: {cpu: "+q+"}}\n") }
			s.commit(cpu("1000m")).apply(cpu("\"1\"")).want("in sync", "")
			s.commit(cpu("2")).want("pending", pending).restart().want("pending", pending)
		}},
		"quantities, first look": {"", func(s *site) {
			cpu := func(q string) string { return webWith("a", "        resources: {limits: {cpu: "+q+"}}\n") }
			s.commit(cpu("1000m")).apply(cpu("\"1\"")).commit(cpu("2")).want("pending", pending)
		}},
		"lists reordered": {"", func(s *site) {
			p := func(a, b, c string) string {
				return webWith("a", "        ports: [{containerPort: "+a+"}, {containerPort: "+b+", name: "+c+"}]\n        args: [x, "+c+"]\n        env: [{name: "+c+", value: '1'}, {name: z, value: "+c+"}]\n")
			}
			s.commit(p("1", "2", "k")).apply(p("1", "2", "k")).commit(p("2", "1", "l")).want("pending", pending).restart().want("still", pending)
		}},
		"pipeline applies before the fetch and the ref is slow": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.apply(web("b")).want("CI applies before it pushes", undeclared)
			s.commit(web("b")).want("then pushes", "")
		}},
		"value of another object": {"", func(s *site) {
			other := strings.ReplaceAll(web("evil"), "name: web, namespace", "name: other, namespace")
			s.push("main", s.now, map[string]string{"deploy/web.yaml": web("a"), "deploy/o.yaml": other})
			s.live["other"] = other
			s.apply(web("a")).want("in sync", "").apply(web("evil")).want("evil", undeclared)
		}},
		"object moved between files and renamed folder": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.push("main", s.now, map[string]string{"deploy/web.yaml": "", "deploy/sub/x.yaml": web("b")}).restart().want("moved and changed", pending)
		}},
		"limit: declared path moved, first look": {"only the declared path is searched", func(s *site) {
			s.push("main", s.now, map[string]string{"old/web.yaml": web("a")}).apply(web("a"))
			s.push("main", s.now, map[string]string{"old/web.yaml": "", "deploy/web.yaml": web("b")}).want("first look", undeclared)
		}},
		"broken point in history": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.commit("kind: [\nname: web\n").commit(web("a")).want("broken and mended", "")
			s.after(day).apply(web("evil")).want("evil", "bypassed by laptop: the live side changed and the declaration did not")
			s.commit(web("b")).want("another commit", "bypassed by laptop: the live side changed and the declaration did not")
		}},
		"broken point in history and a commit at once": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.commit("kind: [\nname: web\n").commit(web("b")).apply(web("evil"))
			s.want("both moved", "pending? by laptop: pending or bypassed: at commit c2: deploy/web.yaml:3: did not find expected ',' or ']'")
		}},
		"ref that is deleted for a while": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "").commit(web("b")).want("pending", pending)
			s.git("", "update-ref", "-d", "refs/heads/main")
			if got := s.scan(); !strings.HasPrefix(got, "unchecked") {
				s.t.Errorf("no ref: %q", got)
			}
			s.git("", "update-ref", "refs/heads/main", s.made[1])
			s.want("back", pending)
		}},
		"octopus": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			for _, b := range []string{"p", "q", "r"} {
				s.push(b, s.now, map[string]string{"deploy/web.yaml": web(b)}, s.made[0]).push(b, s.now, map[string]string{"deploy/web.yaml": web("a"), b: "x"})
			}
			s.push("main", s.now, map[string]string{"p": "x", "q": "x", "r": "x"}, "refs/heads/main^0", "refs/heads/p^0", "refs/heads/q^0", "refs/heads/r^0").want("merged", "")
			s.after(day).apply(web("q")).want("q", older+"(c4) was applied again after driftd saw the declared one live")
		}},
		"clock of the committer behind": {"commits dated in 1970", func(s *site) {
			s.push("main", time.Unix(1, 0), map[string]string{"deploy/web.yaml": web("a")}).apply(web("a")).want("in sync", "")
			s.push("main", time.Unix(2, 0), map[string]string{"deploy/web.yaml": web("b")}).want("pending", pending).after(day).want("pending", pending)
		}},
		"clock of the committer ahead": {"", func(s *site) {
			s.push("main", s.now.Add(day), map[string]string{"deploy/web.yaml": web("a")}).apply(web("a")).want("in sync", "")
			s.push("main", s.now.Add(day), map[string]string{"deploy/web.yaml": web("b")}).want("pending", pending).after(2*day).want("pending", pending)
		}},
		"long-lived branch with the value": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).push("old", s.now, map[string]string{"x": "y"}, "refs/heads/main^0").want("in sync", "")
			s.commit(web("b")).want("pending", pending).restart().want("pending", pending)
		}},
		"stale branch merged, value again": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).push("old", s.now, map[string]string{"x": "y"}, "refs/heads/main^0")
			s.commit(web("b")).apply(web("b")).want("in sync", "")
			s.after(30*day).push("main", s.now, map[string]string{"x": "y"}, "refs/heads/main^0", "refs/heads/old^0").apply(web("a"))
			s.want("a again", older+"(c1) was applied again after driftd saw the declared one live")
		}},
		"commit and revert between two scans": {"the deploy of the revert is under way", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.after(5 * time.Minute).commit(web("b")).after(30 * time.Second).apply(web("b")).after(30 * time.Second).commit(web("a"))
			s.want("b live, a declared again", pending).want("still", pending)
			s.apply(web("a")).want("deployed", "")
		}},
		"two commits and deploys between two scans": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.after(5 * time.Minute).commit(web("b")).after(30 * time.Second).apply(web("b")).after(30 * time.Second).commit(web("c"))
			s.want("b live, c declared", pending).after(day).want("still", pending)
		}},
		"force-push between two scans": {"the value was pushed, deployed and pushed away between two scans", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.commit(web("b")).apply(web("b")).git("", "update-ref", "refs/heads/main", s.made[0])
			s.want("force-pushed", undeclared)
		}},
		"deployed older version by a slow pipeline, then a third": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "").commit(web("b")).apply(web("b")).want("", "")
			s.commit(web("c")).apply(web("a")).want("a again while c waits", older+"(c1) was applied again after driftd saw a newer one live").
				after(day).want("and stays", older+"(c1) was applied again after driftd saw a newer one live")
		}},
		"older version while another waits, long after": {"", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "").commit(web("b")).apply(web("b")).want("", "")
			s.after(10*day).commit(web("c")).want("c waits", pending).apply(web("a")).want("a again while c waits", older+"(c1) was applied again after driftd saw a newer one live")
		}},
		"merged pull request, value gone, first look": {"", func(s *site) {
			s.commit(web("a"))
			s.push("pr", s.now, map[string]string{"deploy/web.yaml": web("evil")}, "refs/heads/main^0").
				push("pr", s.now.Add(30*day), map[string]string{"deploy/web.yaml": web("a"), "README": "x"})
			s.push("main", s.now, map[string]string{"README": "x"}, "refs/heads/main^0", "refs/heads/pr^0")
			s.after(29*day).apply(web("evil")).want("evil", older+"(c2) was applied after c3")
		}},
		"superseding commit without a date": {"", func(s *site) {
			s.commit(web("a")).push("main", s.now, map[string]string{"deploy/web.yaml": web("evil")}).push("main", time.Unix(0, 0), map[string]string{"deploy/web.yaml": web("b")})
			s.after(100*day).apply(web("evil")).want("no date", "pending? by laptop: pending or bypassed: commit c3 has no date")
		}},
		"foxtrot": {"git pull, then push: the former head is the second parent", func(s *site) {
			s.commit(web("a")).apply(web("a")).want("in sync", "")
			s.push("local", s.now, map[string]string{"x": "y"}, "refs/heads/main^0")
			s.commit(web("b")).apply(web("b"))
			s.push("local", s.now, map[string]string{"deploy/web.yaml": web("b")}, "refs/heads/local^0", "refs/heads/main^0")
			s.push("local", s.now, map[string]string{"deploy/web.yaml": web("c")})
			s.git("", "update-ref", "refs/heads/main", "refs/heads/local")
			s.want("c waits", pending)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.run(newSite(t, nil))
		})
	}
}
