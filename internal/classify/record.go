package classify

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// RecordKind is the kind of a finding about a record of applied state, such as a Terraform state,
// that was not written by an apply.
const RecordKind = "declaration/record"

// checkRecords compares the records that were read with the last accepted ones. A record that no
// apply can have written after the accepted one is a finding, and the accepted one remains until
// the record has a greater serial. It is also a finding if an older program wrote a record after a
// newer one, or if a record is newer than the program that plans it.
func checkRecords(in *Input) (map[string][]model.StateRead, []model.Finding) {
	good := map[string][]model.StateRead{}
	var findings []model.Finding
	for i := range in.Declarations {
		d := &in.Declarations[i]
		before := in.Records[d.Name]
		for _, now := range d.States {
			last := now
			if at := slices.IndexFunc(before, func(s model.StateRead) bool { return s.Address == now.Address }); at >= 0 {
				last = before[at]
			}
			if !now.Exists() && !last.Exists() {
				continue
			}
			if f, rewritten := checkRecord(d, last, now); rewritten {
				findings, now = append(findings, f), last
			} else {
				now = continued(last, now, in.Now)
				findings = append(findings, checkVersions(d, now)...)
			}
			good[d.Name] = append(good[d.Name], now)
		}
		for _, s := range before {
			if !slices.ContainsFunc(good[d.Name], func(g model.StateRead) bool { return g.Address == s.Address }) {
				good[d.Name] = append(good[d.Name], s)
			}
		}
	}
	return good, findings
}

// checkRecord reports whether a record cannot be the result of applies after another one:
// every apply increases the serial and keeps the lineage.
func checkRecord(d *model.Declaration, before, now model.StateRead) (model.Finding, bool) {
	f := recordFinding(d, now.Address, "")
	f.Verdict, f.Severity = model.Changed, model.High
	switch {
	case !now.Exists():
		f.Reason = fmt.Sprintf("state gone: there is none where serial %d was read. Restore it before the next apply, which would create everything again", before.Serial)
		f.Changes = recordChange("serial", model.IntOf(before.Serial), model.IntOf(now.Serial))
	case before.Lineage != now.Lineage:
		f.Reason = "state hand-edited or replaced: it has another lineage than before"
		f.Changes = recordChange("lineage", model.StringOf(before.Lineage), model.StringOf(now.Lineage))
	case now.Serial < before.Serial:
		f.Reason = fmt.Sprintf("state hand-edited or rolled back: the serial went from %d back to %d", before.Serial, now.Serial)
		f.Changes = recordChange("serial", model.IntOf(before.Serial), model.IntOf(now.Serial))
	case now.Serial == before.Serial && now.Tool == before.Tool && now.Hash != before.Hash:
		f.Reason = fmt.Sprintf("state hand-edited or rolled back: other content under the same serial %d", now.Serial)
		f.Changes = recordChange("sha256", model.StringOf(before.Hash), model.StringOf(now.Hash))
	default:
		return f, false
	}
	return f, true
}

// The times of writings that a record keeps: maxWritten, with writtenApart between two of them.
const (
	maxWritten   = 3
	writtenApart = 24 * time.Hour
)

// continued returns a record with the results of earlier readings. last is the record that was
// accepted before.
func continued(last, read model.StateRead, now time.Time) model.StateRead {
	read.Newest, read.Written = last.Newest, last.Written
	if read.Newest == "" || isNewer(read.Version, read.Newest) {
		read.Newest = read.Version
	}
	if n := len(read.Written); read.Serial != last.Serial && (n == 0 || now.Sub(read.Written[n-1]) >= writtenApart) {
		read.Written = append(slices.Clone(read.Written[max(0, n-maxWritten+1):]), now)
	}
	read.Dependencies = slices.Clone(read.Dependencies)
	for i := range read.Dependencies {
		d := &read.Dependencies[i]
		before := model.DependencyRead{}
		if at := slices.IndexFunc(last.Dependencies, func(b model.DependencyRead) bool { return b.Address == d.Address }); at >= 0 {
			before = last.Dependencies[at]
		}
		*d = continuedDependency(before, *d, now)
	}
	return read
}

// continuedDependency returns what is known of a dependency after a reading. One that was not read is as before.
func continuedDependency(before, read model.DependencyRead, now time.Time) model.DependencyRead {
	if read.Unread {
		read.Read, read.Changed, read.Since = before.Read, before.Changed, before.Since
		return read
	}
	read.Read = now
	if read.Since = before.Since; len(read.Changed) == 0 {
		read.Since = time.Time{}
	} else if read.Since.IsZero() {
		read.Since = now
	}
	return read
}

// cliVersion is the check that one version of the program writes a record, and plans it.
const cliVersion = "terraform/cli-version"

// checkVersions returns a finding for a record that an older program wrote after a newer one, or
// that is newer than the program that plans it.
func checkVersions(d *model.Declaration, s model.StateRead) []model.Finding {
	f := recordFinding(d, s.Address, cliVersion)
	var expected string
	switch {
	case isNewer(s.Newest, s.Version):
		expected = s.Newest
		f.Reason = fmt.Sprintf("version %s wrote the state after version %s: several versions are in use. "+
			"Set required_version, and apply with %s or newer; accept this if the older one is wanted", s.Version, s.Newest, s.Newest)
	case isNewer(s.Version, s.PlannedBy):
		expected = s.PlannedBy
		f.Reason = fmt.Sprintf("version %s wrote the state, and the older version %s plans it. Set binary to version %s or newer", s.Version, s.PlannedBy, s.Version)
	default:
		return nil
	}
	f.Changes = recordChange("terraform_version", model.StringOf(expected), model.StringOf(s.Version))
	rateCheck(&f, model.Low)
	return []model.Finding{f}
}

// isNewer reports whether a version is newer than another one. It is false if one of them is not known.
func isNewer(a, b string) bool {
	return a != "" && b != "" && compareVersions(a, b) > 0
}

// compareVersions compares versions of three numbers. A version with a suffix, such as
// 1.12.0-beta1, is older than the one without.
func compareVersions(a, b string) int {
	a, preA, isPreA := strings.Cut(a, "-")
	b, preB, isPreB := strings.Cut(b, "-")
	number := func(text string) int {
		n, _ := strconv.Atoi(text)
		return n
	}
	numbersA, numbersB := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(numbersA), len(numbersB)) {
		if c := cmp.Compare(number(numbersA[i]), number(numbersB[i])); c != 0 {
			return c
		}
	}
	switch {
	case isPreA && !isPreB:
		return -1
	case isPreB && !isPreA:
		return 1
	}
	return cmp.Compare(preA, preB)
}

// recordFinding returns a finding about a record, of the verdict for a failed check.
func recordFinding(d *model.Declaration, address, check string) model.Finding {
	return model.Finding{Verdict: model.Violated, Check: check, Name: address, Declaration: d.Name, Address: address,
		Key:   model.Key{Source: firstOf(d.Governs), Kind: RecordKind, ID: d.Name + "/" + address},
		Actor: model.UnknownActor("a state does not record who wrote it")}
}

func recordChange(path string, before, now model.Value) []model.Change {
	return []model.Change{{Path: path, Recorded: &before, Live: &now, Severity: model.High}}
}
