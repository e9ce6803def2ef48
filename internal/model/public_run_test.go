package model

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestPublicIsInUTC writes what people may see, all of it read in another zone.
func TestPublicIsInUTC(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("CET", 3600))
	who := Actor{Name: "mara", At: at, Confidence: Exact}
	change := Change{Path: "spec", Actor: &who}
	found := Finding{FirstSeen: at, LastSeen: at, Resolved: at, Actor: who, Changes: []Change{change},
		Ignored: []IgnoredChange{{Change: change}}, Decision: &Decision{At: at, Until: at}}
	run := Run{Started: at, Finished: at, Sources: []SourceRun{{Name: "prod", Taken: at}}, Declarations: []DeclarationRun{{Name: "shop"}}, Rules: []RuleRun{{Expires: at}}}
	scan := run.Scan()
	for name, v := range map[string]any{"finding": found.Public(), "run": run.Public(), "scan": scan.Public(), "receiver": ReceiverStatus{Oldest: at, Delivered: at}.Public(),
		"empty run": Run{}.Public()} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "+01:00") {
			t.Errorf("%s has times of another zone: %s", name, text)
		}
		if strings.Contains(string(text), "null") {
			t.Errorf("%s has a null: %s", name, text)
		}
	}
	if found.FirstSeen.Location() == time.UTC || found.Changes[0].Actor.At.Location() == time.UTC || run.Sources[0].Taken.Location() == time.UTC || run.Rules[0].Expires.Location() == time.UTC {
		t.Error("what was shown has been changed")
	}
}
