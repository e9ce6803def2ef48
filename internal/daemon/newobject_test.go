package daemon

import (
	"strings"
	"testing"
	"time"
)

// TestNewObject commits an object that no earlier commit declares: until its first apply, and
// for the deploy window at most, it is pending.
func TestNewObject(t *testing.T) {
	t.Parallel()
	const (
		waits   = "pending by dev: first declared within the deploy window"
		missing = "missing by unknown"
	)
	db := strings.ReplaceAll(web("db"), "web", "db")
	commit := func(s *site, date time.Time) *site {
		return s.push("main", date, map[string]string{"deploy/db.yaml": db})
	}
	for name, run := range map[string]func(s *site){
		"deployed in time": func(s *site) {
			commit(s, s.now).want("committed", waits)
			s.live["db"] = db
			s.want("applied", "")
			delete(s.live, "db")
			s.want("deleted within the window", missing)
		},
		"never deployed": func(s *site) {
			commit(s, s.now).want("committed", waits).after(time.Hour).want("the window is over", missing)
			s.restart().want("restarted", missing)
		},
		"revised after the window": func(s *site) {
			commit(s, s.now).after(2*time.Hour).want("never deployed", missing)
			s.push("main", s.now, map[string]string{"deploy/db.yaml": strings.Replace(db, "image: db", "image: db:2", 1)})
			s.want("another image", missing)
		},
		"restarted meanwhile": func(s *site) { commit(s, s.now).restart().want("committed", waits) },
		"an old commit":       func(s *site) { commit(s, s.now.Add(-2*time.Hour)).want("pushed late", missing) },
		"a date in the future": func(s *site) {
			commit(s, s.now.Add(30*day)).want("committed", missing).after(day).want("a day later", missing)
		},
		"removed and declared again": func(s *site) {
			commit(s, s.now)
			s.live["db"] = db
			s.want("applied", "").after(day).push("main", s.now, map[string]string{"deploy/db.yaml": ""})
			delete(s.live, "db")
			s.want("removed", "").after(day)
			commit(s, s.now).want("declared again", waits)
		},
		"merged late": func(s *site) {
			s.push("pr", s.now, map[string]string{"deploy/db.yaml": db}, "refs/heads/main^0").after(3*day).want("not merged", "")
			s.push("main", s.now, map[string]string{"deploy/db.yaml": db}, "refs/heads/main^0", "refs/heads/pr^0").want("merged", waits)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			run(s.commit(web("a")).apply(web("a")).want("in sync", ""))
		})
	}
}

// TestAuthorOfPending names the author of the commit that declared the field, not of the last
// one that changed its file.
func TestAuthorOfPending(t *testing.T) {
	t.Parallel()
	by := func(s *site, who, manifest string) *site {
		s.who = who
		return s.after(time.Minute).commit(manifest)
	}
	for name, run := range map[string]func(s *site){
		"a comment later": func(s *site) { by(by(s, "ann", web("b")), "bob", web("b")+"# end\n").want("", "pending by ann") },
		"another field later": func(s *site) {
			by(by(s, "ann", web("b")), "bob", webWith("b", "        tty: false\n")).want("", "pending by ann")
		},
		"the same value again": func(s *site) {
			by(by(by(s, "ann", web("b")), "bob", web("c")), "eve", web("b")).want("", "pending by eve")
		},
		"a new object, and another": func(s *site) {
			by(s, "ann", web("a")+"---\n"+strings.ReplaceAll(web("db"), "web", "db"))
			by(s, "bob", web("a")+"---\n"+strings.ReplaceAll(web("db"), "web", "db")+"# end\n").want("", "pending by ann: first declared within the deploy window")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(newSite(t, nil).commit(web("a")).apply(web("a")).want("in sync", ""))
		})
	}
}

// TestAbsentHook checks that a hook that is not live is neither missing nor in sync.
func TestAbsentHook(t *testing.T) {
	t.Parallel()
	hook := strings.Replace(strings.ReplaceAll(web("once"), "web", "once"), "{name: once,", "{name: once, annotations: {helm.sh/hook: pre-install},", 1)
	s := newSite(t, nil).commit(web("a")).apply(web("a"))
	s.push("main", epoch.Add(-day), map[string]string{"deploy/once.yaml": hook})
	r, err := s.engine.Cycle(t.Context(), s.engine.Everything())
	if err != nil || len(r.Findings) > 0 || r.Summary.InSync != 1 {
		t.Errorf("findings %v, summary %+v, %v, want one in sync", r.Findings, r.Summary, err)
	}
}
