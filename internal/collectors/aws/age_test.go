package aws

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
)

const accessKeys = `<ListAccessKeysResponse><ListAccessKeysResult><AccessKeyMetadata>
<member><UserName>eve</UserName><AccessKeyId>AKIAOLD</AccessKeyId><Status>Active</Status><CreateDate>2025-10-01T10:00:00Z</CreateDate></member>
<member><UserName>eve</UserName><AccessKeyId>AKIANEW</AccessKeyId><Status>Active</Status><CreateDate>2025-12-31T10:00:00Z</CreateDate></member>
<member><UserName>eve</UserName><AccessKeyId>AKIAOFF</AccessKeyId><Status>Inactive</Status><CreateDate>2025-10-01T10:00:00Z</CreateDate></member>
<member><UserName>eve</UserName><AccessKeyId>AKIAWHEN</AccessKeyId><Status>Active</Status></member>
</AccessKeyMetadata></ListAccessKeysResult></ListAccessKeysResponse>`

// scanKeys returns the findings on access keys, by their IDs, that no declaration manages.
func scanKeys(t *testing.T, at time.Time, age time.Duration, rules []classify.SeverityRule) map[string][]model.Finding {
	t.Helper()
	all := map[string][]model.Finding{}
	for _, f := range judgeKeys(t, accessKeys, at, age, rules, nil).Current {
		all[f.Key.ID] = append(all[f.Key.ID], f)
	}
	return all
}

// judgeKeys scans the access keys of an answer after a scan that had earlier findings.
func judgeKeys(t *testing.T, answer string, at time.Time, age time.Duration, rules []classify.SeverityRule, earlier []model.Finding) classify.Result {
	t.Helper()
	recording := wholeEstate(t)
	recording.instead["Action=ListAccessKeys"] = recorded{http.StatusOK, answer}
	inventory := openEstate(t, recording, func(c *Config) { c.Services, c.MaxKeyAge = []string{"iam"}, age })
	inventory.now = func() time.Time { return at }
	s, err := inventory.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	in := classify.Input{Snapshots: []model.Snapshot{s}, Severities: rules, Now: at, Earlier: earlier}
	for i := range s.Resources {
		if r := &s.Resources[i]; r.Kind == "aws/AWS::IAM::AccessKey" {
			subject := &model.Subject{Key: r.Key, Kind: s.Kinds[r.Kind], Live: r, UndeclaredBy: [][]string{{"infra"}}}
			in.Judged = append(in.Judged, model.Judged{Subject: subject, Outcomes: diff.Compare(subject, diff.Options{})})
		}
	}
	return classify.Findings(in)
}

// TestKeyAge checks that active access keys fail a check by their age, and that the finding does not change while they become
// older.
func TestKeyAge(t *testing.T) {
	t.Parallel()
	const days = 24 * time.Hour
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	violated := func(all map[string][]model.Finding) map[string]model.Finding {
		found := map[string]model.Finding{}
		for id, findings := range all {
			for _, f := range findings {
				if f.Verdict == model.Violated {
					found[id] = f
				}
			}
		}
		return found
	}
	found := violated(scanKeys(t, at, 90*days, nil))
	old, ok := found["AKIAOLD"]
	if len(found) != 1 || !ok {
		t.Fatalf("the check fails for %v, want AKIAOLD", found)
	}
	want := "aws/key-age: it is in use and was created on 2025-10-01, more than 90 days ago (max_key_age): create another one, and delete this one"
	if old.Reason != want || old.Check != "aws/key-age" || old.Severity != model.Medium {
		t.Errorf("got %s %s %q, want medium aws/key-age %q", old.Severity, old.Check, old.Reason, want)
	}
	if later := violated(scanKeys(t, at.Add(5*days), 90*days, nil))["AKIAOLD"]; later.Basis != old.Basis || later.Reason != old.Reason {
		t.Errorf("the finding changed within five days: %s", cmp.Diff(old, later))
	}
	if all := violated(scanKeys(t, at, 0, nil)); len(all) > 0 {
		t.Errorf("the check fails without a setting: %v", all)
	}
}

// TestOldUnmanagedKeys checks that a severity rule fits unmanaged keys by the time of their creation.
func TestOldUnmanagedKeys(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	old := classify.SeverityRule{OlderThan: 90 * 24 * time.Hour, Set: model.Critical, Reason: "old"}
	old.Kinds, old.Verdicts = []string{"aws/AWS::IAM::AccessKey"}, []model.Verdict{model.Unmanaged}
	got := map[string]model.Severity{}
	for id, findings := range scanKeys(t, at, 0, []classify.SeverityRule{old}) {
		got[id] = findings[0].Severity
	}
	want := map[string]model.Severity{"AKIAOLD": model.Critical, "AKIANEW": model.High, "AKIAOFF": model.Critical, "AKIAWHEN": model.High}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("severities differ (-want +got):\n%s", diff)
	}
}

// TestUndatedKey checks that a finding on a key stays open while an answer lacks the time of the key's creation.
func TestUndatedKey(t *testing.T) {
	t.Parallel()
	at, age := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), 90*24*time.Hour
	before := slices.DeleteFunc(judgeKeys(t, accessKeys, at, age, nil, nil).Current, func(f model.Finding) bool { return f.Check == "" })
	undated := strings.ReplaceAll(accessKeys, "<CreateDate>2025-10-01T10:00:00Z</CreateDate>", "")
	if got := judgeKeys(t, undated, at.Add(time.Hour), age, nil, before); len(before) != 1 || len(got.Remembered) != 1 || len(got.Resolved) > 0 {
		t.Errorf("of %d findings %d stay open and %d are resolved", len(before), len(got.Remembered), len(got.Resolved))
	}
	young := strings.ReplaceAll(accessKeys, "2025-10-01", "2025-12-01")
	if got := judgeKeys(t, young, at.Add(time.Hour), age, nil, before); len(got.Resolved) != 1 {
		t.Errorf("after it was replaced, %d are resolved", len(got.Resolved))
	}
}
