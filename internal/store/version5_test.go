package store

import (
	"testing"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// version5Key signed the audit log of the file of version 5.
const version5Key = "PRIVATE+KEY+driftd.example/test+a6a7454b+AYygQN46fU73nAMQw/fQ4BctxxddK0FB9ZWsRA+Q7l8p"

// TestFileOfVersion5 opens a file from before heads had outlines: three scans with the findings a,
// whose fields two actors changed, b, which is resolved, and c, which is accepted. The audit log
// accounts for the heads without outlines.
func TestFileOfVersion5(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFixture(t, dir, "schema-5")
	key, err := audit.ParseKey(version5Key)
	if err != nil {
		t.Fatal(err)
	}
	s := openAt(t, dir, Options{Audit: &key, KeyFound: true})
	full, err := s.Findings(Filter{Resolved: true})
	if err != nil || len(full) != 3 {
		t.Fatalf("%d findings, %v", len(full), err)
	}
	wantOutlines(t, s, Filter{Resolved: true}, full)
	outlines, err := s.Outlines(Filter{Resolved: true})
	if err != nil {
		t.Fatal(err)
	}
	model.SortOutlines(outlines)
	if a := outlines[0]; a.ID != "a" || len(a.Actors) != 1 || a.Actors[0] != "carol" {
		t.Errorf("the actors of changes: %+v", a)
	}
	if c := outlines[2]; c.ID != "c" || c.Decision != model.Accept || c.Shown() {
		t.Errorf("an accepted finding: %+v", c)
	}
	if health, err := s.Verify(); err != nil || !health.Whole() {
		t.Errorf("verify: %+v, %v", health, err)
	}
	r, err := s.VerifyAudit(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range r.Faults {
		t.Errorf("audit log: %s", fault)
	}
}
