package notify

import (
	"fmt"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// digest sends the daily summary if it is due and not empty. There is no digest on the
// first day of a receiver, and none for a receiver with queued messages.
func (pl *planner) digest() {
	due := pl.pacing.dueDigest(pl.now)
	if due.IsZero() || !due.After(pl.pace.Digest) {
		return
	}
	hadDigest, repeated := !pl.pace.Digest.IsZero(), due.Equal(pl.pace.LastDigest)
	pl.pace.Digest, pl.pace.LastDigest, pl.paceChanged = due, due, true
	if !hadDigest || repeated || pl.in.Queued[pl.receiver] > 0 {
		return
	}
	t := &thread{first: true, findings: map[string]*model.Finding{}, Thread: model.Thread{
		ID: threadID(pl.receiver, "digest", due), Members: map[string]model.Notified{}}}
	for i := range pl.findings {
		f := &pl.findings[i]
		if pl.route(f, pl.receiver) != nil && pl.notifies(f, pl.now) {
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

// notes returns the lines that a digest shows after its findings: the number of findings
// resolved after since, acceptances that end soon, and unused rules.
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

// updatePace records the times of the planned messages and the amount of deferred news
// in the pace of the receiver.
func (pl *planner) updatePace() {
	sent := slices.DeleteFunc(slices.Clone(pl.pace.Sent), func(at time.Time) bool {
		return pl.now.Sub(at) >= pl.pacing.Per
	})
	if pl.pacing.Messages > 0 {
		for range pl.messages {
			sent = append(sent, pl.now)
		}
	}
	pl.paceChanged = pl.paceChanged || len(pl.messages) > 0
	pl.pace.Sent = sent
	switch {
	case pl.held > 0 && pl.pace.Held.IsZero():
		pl.pace.Held, pl.paceChanged = pl.now, true
	case pl.quietEnded && pl.limited == 0:
		pl.pace.Held, pl.paceChanged = time.Time{}, true
	}
	if deferred := pl.held + pl.limited; deferred != pl.pace.Untold {
		pl.pace.Untold, pl.paceChanged = deferred, true
	}
}
