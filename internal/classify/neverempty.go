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

// neverEmpty returns a finding for each plan with a difference that applies do not settle: the plan had the same difference before its
// record was written on maxWritten different days. A difference that only waits for an apply is none: no apply has written the record
// since.
func neverEmpty(in *Input, records map[string][]model.StateRead, current []model.Finding) []model.Finding {
	written := map[string]model.StateRead{}
	for name, list := range records {
		at := slices.IndexFunc(list, func(s model.StateRead) bool { return s.PlannedBy != "" && len(s.Written) == maxWritten })
		if at >= 0 {
			written[name] = list[at]
		}
	}
	if len(written) == 0 {
		return nil
	}
	type difference struct {
		key                         model.Key
		declaration, address, basis string
	}
	since := map[difference]time.Time{}
	for i := range in.Earlier {
		f := &in.Earlier[i]
		if n := len(f.Flips); n > 0 && f.Flips[n-1].Basis == f.Basis && f.Shown() {
			since[difference{f.Key, f.Declaration, f.Address, f.Basis}] = f.Flips[n-1].At
		}
	}
	addresses := map[string][]string{}
	for i := range current {
		f := &current[i]
		s, isPlanned := written[f.Declaration]
		first, before := since[difference{f.Key, f.Declaration, f.Address, f.Basis}]
		if isPlanned && before && f.Hidden == "" && differsFromRecord(f.Verdict) && s.Written[0].After(first) {
			addresses[f.Declaration] = append(addresses[f.Declaration], f.Address)
		}
	}
	var findings []model.Finding
	for i := range in.Declarations {
		d := &in.Declarations[i]
		if found := addresses[d.Name]; len(found) > 0 && slices.ContainsFunc(d.States, func(s model.StateRead) bool { return s.Address == written[d.Name].Address }) {
			findings = append(findings, neverEmptyFinding(d, written[d.Name].Address, found))
		}
	}
	return findings
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
