package classify

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// neverEmptyCheck is the check that applies settle what a plan changes.
const neverEmptyCheck = "terraform/never-empty"

// maxNeverEmpty bounds the addresses in the reason of a finding.
const maxNeverEmpty = 5

// neverEmpty returns a finding for each plan with a difference that applies do not settle, that is,
// one that remained the same although the record was written on maxWritten different days. A
// difference that only waits for an apply is not reported, since no apply has written the record
// since.
func neverEmpty(in *Input, records map[string][]model.StateRead, current []model.Finding) []model.Finding {
	written := map[string]model.StateRead{}
	for i := range in.Declarations {
		d := &in.Declarations[i]
		isWritten := func(s model.StateRead) bool { return s.PlannedBy != "" && len(s.Written) == maxWritten }
		// A plan has one record, which was read.
		if at := slices.IndexFunc(records[d.Name], isWritten); at >= 0 && len(d.States) == 1 && d.States[0].Address == records[d.Name][at].Address {
			written[d.Name] = records[d.Name][at]
		}
	}
	if len(written) == 0 {
		return nil
	}
	since, addresses := differencesSince(in.Earlier), map[string][]string{}
	for i := range current {
		f := &current[i]
		s, isPlanned := written[f.Declaration]
		first, before := since[differenceOf(f)]
		if isPlanned && before && f.Hidden == "" && differsFromRecord(f.Verdict) && s.Written[0].After(first) {
			addresses[f.Declaration] = append(addresses[f.Declaration], f.Address)
		}
	}
	var findings []model.Finding
	for i := range in.Declarations {
		if d := &in.Declarations[i]; len(addresses[d.Name]) > 0 {
			findings = append(findings, neverEmptyFinding(d, written[d.Name].Address, addresses[d.Name]))
		}
	}
	return findings
}

// A difference identifies a finding with its values.
type difference struct {
	key                         model.Key
	declaration, address, basis string
}

func differenceOf(f *model.Finding) difference {
	return difference{f.Key, f.Declaration, f.Address, f.Basis}
}

// differencesSince returns when scans first found the differences of findings that are not hidden, with the same values.
func differencesSince(earlier []model.Finding) map[difference]time.Time {
	since := map[difference]time.Time{}
	for i := range earlier {
		f := &earlier[i]
		if n := len(f.Flips); n > 0 && f.Flips[n-1].Basis == f.Basis && f.Shown() {
			since[differenceOf(f)] = f.Flips[n-1].At
		}
	}
	return since
}

// differsFromRecord reports whether a finding with the verdict is a difference between the declaration and the record, which an apply
// settles.
func differsFromRecord(v model.Verdict) bool {
	return v == model.Pending || v == model.Bypassed || v == model.Conflict
}

func neverEmptyFinding(d *model.Declaration, record string, addresses []string) model.Finding {
	slices.Sort(addresses)
	addresses = slices.Compact(addresses)
	named := strings.Join(addresses[:min(len(addresses), maxNeverEmpty)], ", ")
	if more := len(addresses) - maxNeverEmpty; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	f := recordFinding(d, record, neverEmptyCheck)
	f.Reason = "the plan is never empty: it has the same differences as before the state was last written on three different days: " + named +
		". Applies leave them out, or the provider does not keep the declared values: apply the whole root, declare the values that the " +
		"provider keeps, or list the attributes in ignore_changes"
	rateCheck(&f, model.Low)
	return f
}
