package notify

import (
	"github.com/driftd/driftd/internal/model"
)

// ReducedNote replaces the contents of a message that the receiver refused with them.
const ReducedNote = "The receiver refused the contents. `driftd findings show ID` shows them."

// reduced returns the message without names and values from live systems. A filter in front of a receiver may refuse a
// message for them, with the same answer as for a wrong password. A person who can write to a live system could
// otherwise stop all messages.
func reduced(m *model.Message) model.Message {
	short := *m
	short.Title = "Open findings, contents left out"
	if m.Kind == model.ResolvedMessage {
		short.Title = "Resolved findings, contents left out"
	}
	short.News, short.All = reducedItems(m.News), reducedItems(m.All)
	if a := m.Action; a != nil {
		short.Title = "Action " + a.ID + " is " + a.State + ", contents left out"
		// Without the changes, it cannot be approved from here: see ActionNotice.Whole.
		short.Action = &model.ActionNotice{ID: a.ID, State: a.State, Waits: a.Waits, Converged: a.Converged, Alarm: a.Alarm, Known: a.Known,
			Digest: a.Digest, Finding: a.Finding, Name: "finding " + a.Finding, Changes: []model.Change{}, Fields: a.Fields + 1, Rule: a.Rule,
			Needed: a.Needed, Expires: a.Expires, Step: a.Step}
	}
	short.Subject, short.Notes = short.Title, []string{ReducedNote}
	return short
}

func reducedItems(items []model.Item) []model.Item {
	short := make([]model.Item, len(items))
	for i := range items {
		f := &items[i].Finding
		short[i] = model.Item{News: items[i].News, Finding: model.Finding{ID: f.ID, Key: model.Key{Source: f.Key.Source, Kind: "driftd/finding", ID: f.ID}, Declaration: f.Declaration,
			Verdict: f.Verdict, Severity: f.Severity, FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Resolved: f.Resolved},
			WasVerdict: items[i].WasVerdict, WasSeverity: items[i].WasSeverity}
	}
	return short
}
