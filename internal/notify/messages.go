package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// threadID returns the ID of a new thread.
func threadID(receiver, group string, at time.Time) string {
	sum := sha256.Sum256([]byte(receiver + "\x00" + group + "\x00" + strconv.FormatInt(at.UnixNano(), 10)))
	return hex.EncodeToString(sum[:6])
}

// makeMessages makes a message from the news of each thread, the most urgent first.
// Above the rate limit, it combines new threads into one and defers the news of existing
// threads.
func (pl *planner) makeMessages() {
	var active []*thread
	for _, t := range pl.sorted() {
		if len(t.news) > 0 {
			sortItems(t.news)
			active = append(active, t)
		}
	}
	slices.SortFunc(active, pl.byUrgency)
	if allowed := pl.allowance(1); len(active) > allowed {
		severe := 0
		for severe < len(active) && active[severe].severe() {
			severe++
		}
		active = pl.limit(active, max(allowed, min(severe, pl.allowance(severeFactor))))
	}
	for _, t := range active {
		for _, it := range t.news {
			ended := model.Notified{News: it.news}.Ended()
			t.record(it, !ended && it.finding.Flaps(pl.now))
		}
		pl.send(t, t.kind(), t.listed())
	}
}

// severeFactor is the factor of the rate limit for severe news.
const severeFactor = 2

// byUrgency compares threads by stage, then by severity, the worst first.
func (pl *planner) byUrgency(a, b *thread) int {
	return cmp.Or(cmp.Compare(pl.stage(a), pl.stage(b)), cmp.Compare(worst(notQuiet(a.news)).Rank(), worst(notQuiet(b.news)).Rank()),
		cmp.Compare(urgency(a.news[0]), urgency(b.news[0])), model.CompareWorst(a.news[0].finding, b.news[0].finding), cmp.Compare(a.ID, b.ID))
}

// stage returns the rank of a thread's news: 0 if it is severe, 1 if the rate limit
// deferred it for at least one period, 2 otherwise.
func (pl *planner) stage(t *thread) int {
	since := t.Waits
	if t.first {
		since = t.news[0].finding.FirstSeen
	}
	switch {
	case t.severe():
		return 0
	case !since.IsZero() && pl.now.Sub(since) >= max(pl.pacing.Per, time.Minute):
		return 1
	}
	return 2
}

// severe reports whether the thread has critical or high news that is not quiet.
func (t *thread) severe() bool { return worst(notQuiet(t.news)).Rank() <= model.High.Rank() }

// limit returns the first allowed threads. If the last of them is new, limit replaces it
// with a thread that combines it with all further new ones, unless each finding has messages of its own. The news of the other threads
// is planned again later.
func (pl *planner) limit(active []*thread, allowed int) []*thread {
	kept := slices.Clone(active[:allowed])
	rest := active[allowed:]
	if allowed > 0 && kept[allowed-1].first && !pl.pacing.Each {
		kept, rest = kept[:allowed-1], active[allowed-1:]
		var all *thread
		for _, t := range rest {
			for _, it := range t.news {
				if t.first {
					all = pl.open(pl.uniqueGroup(overflowGroup), it)
				}
			}
		}
		sortItems(all.news)
		kept = append(kept, all)
	}
	merged := len(kept) > 0 && kept[len(kept)-1].hasGroup(overflowGroup)
	for _, t := range rest {
		if !t.first || !merged {
			pl.limited += len(t.news)
		}
		switch {
		case t.first:
			delete(pl.threads, t.ID)
			delete(pl.group, t.Group)
		case t.Waits.IsZero():
			t.Waits, t.changed = pl.now, true
		}
	}
	return kept
}

// allowance returns the number of messages that the receiver may get now. times
// multiplies its rate limit.
func (pl *planner) allowance(times int) int {
	room := MaxQueued - pl.in.Queued[pl.receiver] - len(pl.messages)
	if pl.pacing.Messages > 0 {
		room = min(room, times*pl.pacing.Messages-pl.sentRecently()-len(pl.messages))
	}
	return max(room, 0)
}

// sentRecently returns the number of messages sent in the period of the rate limit.
func (pl *planner) sentRecently() int {
	n := 0
	for _, at := range pl.pace.Sent {
		if pl.now.Sub(at) < pl.pacing.Per {
			n++
		}
	}
	return n
}

// send makes the next message of a thread.
func (pl *planner) send(t *thread, kind model.MessageKind, news []item) {
	all := t.items()
	newGroups, allGroups := byRequest(news), byRequest(all)
	t.Sequence++
	t.LastSent, t.Waits, t.changed = pl.now, time.Time{}, true
	m := model.Message{Key: t.ID + "." + strconv.Itoa(t.Sequence), Receiver: pl.receiver, Kind: kind, At: pl.now,
		Thread: t.ID, First: t.first, Sequence: t.Sequence, URL: pl.URL, News: publish(newGroups), NewsCount: len(news), All: publish(allGroups),
		Quiet: len(news) > 0 && len(notQuiet(news)) == 0}
	t.first = false
	for _, it := range all {
		switch last := t.Members[it.finding.ID]; {
		case last.News == model.Over:
			m.ResolvedCount++
		case last.News == model.WasMerged:
			m.MergedCount++
		case last.Muted():
			m.MutedCount++
		default:
			m.OpenCount++
		}
	}
	subject := newGroups
	if len(subject) == 0 {
		subject = allGroups
	}
	m.Severity = worst(flatten(subject))
	m.Title, m.Subject = title(kind, subject), title(model.NewMessage, openGroups(allGroups))
	m.Notes = requestLines(newGroups)
	if len(news) == 0 {
		m.Notes = requestLines(openGroups(allGroups))
	}
	switch {
	case t.hasGroup(overflowGroup) && m.First:
		m.Title = "More findings: " + m.Title
	case t.hasGroup(heldGroup) && m.First:
		m.Title = "During quiet hours: " + m.Title
		m.Notes = append(m.Notes, pl.resolvedMeanwhile()...)
	}
	pl.messages = append(pl.messages, m)
}

// resolvedMeanwhile returns a line with the number of findings that opened and were
// resolved during quiet hours. It returns nil if there are none.
func (pl *planner) resolvedMeanwhile() []string {
	n := 0
	for id, f := range pl.recent {
		if pl.member[id] == nil && f.MergedInto == "" && !f.Muted() && !f.FirstSeen.Before(pl.pace.Held) && pl.route(f, pl.receiver) != nil {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{phrase.Count(n, "other finding") + " opened and resolved in the meantime."}
}

// openGroups returns the groups of open findings. It returns all groups if none is open.
func openGroups(all [][]item) [][]item {
	open := slices.DeleteFunc(slices.Clone(all), func(group []item) bool { return group[0].news != model.Standing })
	if len(open) == 0 {
		return all
	}
	return open
}

// worst returns the worst severity of items.
func worst(items []item) model.Severity {
	found := model.Info
	for _, it := range items {
		if it.finding.Severity.Rank() < found.Rank() {
			found = it.finding.Severity
		}
	}
	return found
}

// publish returns the items of a message without secrets: the first of each group, and
// at most model.MaxItems.
func publish(groups [][]item) []model.Item {
	public := make([]model.Item, 0, min(len(groups), model.MaxItems))
	for _, group := range groups[:cap(public)] {
		it := group[0]
		shown := model.Item{News: it.news, Finding: short(it.finding.Public()), Fields: len(it.finding.Changes), Why: it.why}
		if it.was != nil {
			shown.WasVerdict, shown.WasSeverity = it.was.Verdict, it.was.Severity
		}
		public = append(public, shown)
	}
	return public
}

// short returns f with the fields that a message shows, and with shortened texts.
func short(f model.Finding) model.Finding {
	f = f.WorstFirst()
	f.Changes = f.Changes[:min(len(f.Changes), model.MaxFields)]
	f.Actor = shortActor(f.Actor)
	for i := range f.Changes {
		c := &f.Changes[i]
		for _, actor := range []**model.Actor{&c.Actor, &c.LiveActor} {
			*actor = shortOptional(*actor)
		}
		for _, side := range []**model.Value{&c.Declared, &c.Recorded, &c.Live, &c.Running} {
			*side = cut(*side)
		}
		for j := range c.Claims {
			c.Claims[j].Value, c.Claims[j].Actor = *cut(&c.Claims[j].Value), shortOptional(c.Claims[j].Actor)
		}
	}
	f.Ignored = nil
	return f
}

// shortOptional is shortActor for an actor that may be nil.
func shortOptional(a *model.Actor) *model.Actor {
	if a == nil {
		return nil
	}
	actor := shortActor(*a)
	return &actor
}

// shortActor shortens each text of an actor to model.MaxValue characters.
func shortActor(a model.Actor) model.Actor {
	for _, text := range []*string{&a.Name, &a.Via, &a.Evidence, &a.Reason, &a.Message} {
		if runes := []rune(*text); len(runes) > model.MaxValue {
			*text = string(runes[:model.MaxValue-1]) + "…"
		}
	}
	return a
}

// cut shortens v to model.MaxValue characters. v may be nil.
func cut(v *model.Value) *model.Value {
	if v == nil {
		return nil
	}
	text := []rune(v.String())
	if len(text) <= model.MaxValue {
		return v
	}
	shown := model.StringOf(string(text[:model.MaxValue-1]) + "…")
	return &shown
}

// remind sends reminders for threads without a recent message, the oldest first. It sends
// none to a receiver with queued messages.
func (pl *planner) remind() {
	threads := pl.sorted()
	slices.SortStableFunc(threads, func(a, b *thread) int { return a.LastSent.Compare(b.LastSent) })
	for _, t := range threads {
		if pl.in.Queued[pl.receiver] > 0 || pl.allowance(1) <= pl.pacing.Messages/2 {
			return // the rest of the rate limit is for news
		}
		if repeat := pl.repeat(t); repeat > 0 && pl.now.Sub(t.LastSent) >= repeat {
			pl.send(t, model.ReminderMessage, nil)
		}
	}
}

// repeat returns the interval of reminders for the worst open finding of a thread. It
// returns 0 if there are no reminders.
func (pl *planner) repeat(t *thread) time.Duration {
	for _, it := range t.items() {
		if it.news == model.Standing {
			if route := pl.route(it.finding, pl.receiver); route != nil {
				return route.Repeat
			}
			return 0
		}
	}
	return 0
}
