package notify

import (
	"fmt"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// digest sends the daily summary, unless it would be empty.
func (pl *planner) digest() {
	due := pl.pacing.dueDigest(pl.now)
	if due.IsZero() || !due.After(pl.pace.Digest) {
		return
	}
	begun, again := !pl.pace.Digest.IsZero(), due.Equal(pl.pace.LastDigest)
	pl.pace.Digest, pl.pace.LastDigest, pl.paced = due, due, true
	if !begun || again || pl.in.Queued[pl.receiver] > 0 {
		return // there is no day before the first one; a receiver with a queue gets no digest
	}
	t := &thread{first: true, findings: map[string]*model.Finding{}, Thread: model.Thread{
		ID: threadID(pl.receiver, "digest", due), Members: map[string]model.Notified{}}}
	for i := range pl.findings {
		f := &pl.findings[i]
		if pl.route(f, pl.receiver) != nil && pl.loud(f, pl.now) {
			t.findings[f.ID] = f
			t.record(item{news: model.Standing, finding: f}, false)
		}
	}
	notes := pl.notes(pl.pacing.digestOn(due, -1))
	if len(t.Members) == 0 && len(notes) == 0 {
		return
	}
	pl.send(t, model.DigestMessage, nil)
	last := &pl.messages[len(pl.messages)-1]
	last.Notes = append(notes, last.Notes...)
}

// notes returns the lines of a digest after its findings.
func (pl *planner) notes(since time.Time) []string {
	var notes []string
	resolved := 0
	for _, f := range pl.in.Recent {
		if f.MergedInto == "" && !f.Muted() && !f.Resolved.Before(since) && pl.route(&f, pl.receiver) != nil {
			resolved++
		}
	}
	if resolved > 0 {
		notes = append(notes, phrase.Number(resolved)+" resolved since yesterday.")
	}
	for _, d := range pl.in.Decisions {
		if d.Kind == model.Accept && d.EndsSoon(pl.now) {
			notes = append(notes, fmt.Sprintf("The acceptance of %s by %s ends at %s.", d.Topic(), d.Owner, d.Until.In(pl.pacing.location()).Format(time.DateTime)))
		}
	}
	for i := range pl.in.Rules {
		if r := &pl.in.Rules[i]; r.Dead() {
			notes = append(notes, fmt.Sprintf("Unused %s %s: %s.", r.Type(), r.Rule, r.Why()))
		}
	}
	if more := len(notes) - model.MaxItems; more > 0 {
		notes = append(notes[:model.MaxItems], fmt.Sprintf("and %d more", more))
	}
	return slices.Clip(notes)
}

// keepPace stores the times of the messages, and how much news is deferred.
func (pl *planner) keepPace() {
	sent := slices.DeleteFunc(slices.Clone(pl.pace.Sent), func(at time.Time) bool {
		return pl.now.Sub(at) >= pl.pacing.Per
	})
	if pl.pacing.Messages > 0 {
		for range pl.messages {
			sent = append(sent, pl.now)
		}
	}
	pl.paced = pl.paced || len(pl.messages) > 0
	pl.pace.Sent = sent
	switch {
	case pl.held > 0 && pl.pace.Held.IsZero():
		pl.pace.Held, pl.paced = pl.now, true
	case pl.quietEnded && pl.limited == 0:
		pl.pace.Held, pl.paced = time.Time{}, true
	}
	if untold := pl.held + pl.limited; untold != pl.pace.Untold {
		pl.pace.Untold, pl.paced = untold, true
	}
}
