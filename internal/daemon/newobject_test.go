package daemon

import (
	"strings"
	"testing"
	"time"
)

// TestNewObject commits an object that no earlier commit declares: until its first
// apply, and for the deploy window at most, it is pending.
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
