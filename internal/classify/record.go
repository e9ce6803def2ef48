package classify

import (
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// RecordKind is the kind of a finding about a record of what was applied, such as a
// Terraform state, that was not written by an apply.
const RecordKind = "declaration/record"

// checkRecords compares the records that were read with the last accepted ones. A record
// that no apply can have written after the accepted one is a finding, and the accepted one
// stays until the record has a greater serial.
func checkRecords(in *Input) (map[string][]model.StateRead, []model.Finding) {
	good := map[string][]model.StateRead{}
	var findings []model.Finding
	for i := range in.Declarations {
		d := &in.Declarations[i]
		before := in.Records[d.Name]
		for _, now := range d.States {
			at := slices.IndexFunc(before, func(s model.StateRead) bool { return s.Address == now.Address })
			if at >= 0 {
				if f, rewritten := checkRecord(d, before[at], now); rewritten {
					findings = append(findings, f)
					now = before[at]
				}
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
	f := model.Finding{Verdict: model.Changed, Severity: model.High, Name: now.Address, Declaration: d.Name, Address: now.Address,
		Key:   model.Key{Source: firstOf(d.Governs), Kind: RecordKind, ID: d.Name + "/" + now.Address},
		Actor: model.UnknownActor("a state does not record who wrote it")}
	switch {
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

func recordChange(path string, before, now model.Value) []model.Change {
	return []model.Change{{Path: path, Recorded: &before, Live: &now, Severity: model.High}}
}
