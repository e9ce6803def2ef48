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

func threadID(receiver, group string, at time.Time) string {
	sum := sha256.Sum256([]byte(receiver + "\x00" + group + "\x00" + strconv.FormatInt(at.UnixNano(), 10)))
	return hex.EncodeToString(sum[:6])
}

// say makes a message of each thread's news, the most pressing first. Where
// there are more than the receiver may get, new threads are put together in one,
// and news of old ones wait.
func (pl *planner) say() {
	var speaking []*thread
	for _, t := range pl.sorted() {
		if len(t.news) > 0 {
			sortItems(t.news)
			speaking = append(speaking, t)
		}
	}
	slices.SortFunc(speaking, pl.byUrgency)
	if may := pl.allowance(1); len(speaking) > may {
		severe := 0
		for severe < len(speaking) && speaking[severe].severe() {
			severe++
		}
		speaking = pl.squeeze(speaking, max(may, min(severe, pl.allowance(severeTimes))))
	}
	for _, t := range speaking {
		for _, it := range t.news {
			ended := model.Told{News: it.news}.Ended()
			t.tell(it, !ended && it.finding.Flaps(pl.now))
		}
		pl.send(t, t.kind(), t.told())
	}
}

// severeTimes is how much higher the rate is for what is severe.
const severeTimes = 2

// byUrgency orders threads: by stage, and then the worst first.
func (pl *planner) byUrgency(a, b *thread) int {
	return cmp.Or(cmp.Compare(pl.stage(a), pl.stage(b)), cmp.Compare(worst(loud(a.news)).Rank(), worst(loud(b.news)).Rank()),
		cmp.Compare(pressing(a.news[0]), pressing(b.news[0])), worstFirst(*a.news[0].finding, *b.news[0].finding), cmp.Compare(a.ID, b.ID))
}

// stage is smaller the sooner a thread's turn comes: what is severe, then what
// waited for as long as the rate is about, then the rest.
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

// severe reports whether the thread has news that is critical or high.
func (t *thread) severe() bool { return worst(loud(t.news)).Rank() <= model.High.Rank() }

// squeeze leaves no more threads than the receiver may get messages: where the
// last one would begin, it holds all that would. What is left out was not told,
// and is planned again.
func (pl *planner) squeeze(speaking []*thread, may int) []*thread {
	kept := slices.Clone(speaking[:may])
	rest := speaking[may:]
	if may > 0 && kept[may-1].first {
		kept, rest = kept[:may-1], speaking[may-1:]
		var all *thread
		for _, t := range rest {
			for _, it := range t.news {
				if t.first {
					all = pl.open(pl.once(overflowGroup), it)
				}
			}
		}
		sortItems(all.news)
		kept = append(kept, all)
	}
	merged := len(kept) > 0 && kept[len(kept)-1].is(overflowGroup)
	for _, t := range rest {
		if !t.first || !merged {
			pl.squeezed += len(t.news)
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

// allowance is how many messages the receiver may get now, where its rate is so
// many times as high.
func (pl *planner) allowance(times int) int {
	room := MaxQueued - pl.in.Queued[pl.receiver] - len(pl.messages)
	if pl.pacing.Messages > 0 {
		room = min(room, times*pl.pacing.Messages-pl.lately()-len(pl.messages))
	}
	return max(room, 0)
}

// lately counts the messages of the time that the receiver's bound is about.
func (pl *planner) lately() int {
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
	all := t.standing()
	told, standing := byRequest(news), byRequest(all)
	t.Sequence++
	t.Said, t.Waits, t.changed = pl.now, time.Time{}, true
	m := model.Message{Key: t.ID + "." + strconv.Itoa(t.Sequence), Receiver: pl.receiver, Kind: kind, At: pl.now,
		Thread: t.ID, First: t.first, Sequence: t.Sequence, URL: pl.URL, News: publish(told), NewsCount: len(news), All: publish(standing),
		Quiet: len(news) > 0 && len(loud(news)) == 0}
	t.first = false
	for _, it := range all {
		switch told := t.Members[it.finding.ID]; {
		case told.News == model.Over:
			m.ResolvedCount++
		case told.News == model.WasMerged:
			m.MergedCount++
		case told.Muted():
			m.MutedCount++
		default:
			m.OpenCount++
		}
	}
	subject := told
	if len(subject) == 0 {
		subject = standing
	}
	m.Severity = worst(flat(subject))
	m.Title, m.Subject = title(kind, subject), title(model.NewMessage, openFirst(standing))
	m.Notes = alike(told)
	if len(news) == 0 {
		m.Notes = alike(openFirst(standing))
	}
	switch {
	case t.is(overflowGroup) && m.First:
		m.Title = "More findings: " + m.Title
	case t.is(heldGroup) && m.First:
		m.Title = "During quiet hours: " + m.Title
		m.Notes = append(m.Notes, pl.passing()...)
	}
	pl.messages = append(pl.messages, m)
}

// passing counts the findings that opened and were resolved while messages were held
// back.
func (pl *planner) passing() []string {
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

// openFirst returns the groups that are open; all of them where none is.
func openFirst(all [][]item) [][]item {
	open := slices.DeleteFunc(slices.Clone(all), func(group []item) bool { return group[0].news != model.Standing })
	if len(open) == 0 {
		return all
	}
	return open
}

func worst(items []item) model.Severity {
	found := model.Info
	for _, it := range items {
		if it.finding.Severity.Rank() < found.Rank() {
			found = it.finding.Severity
		}
	}
	return found
}

// publish makes items for people: the first of each group, as many as a message
// lists, without secrets.
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

// short leaves of a public finding what a message shows.
func short(f model.Finding) model.Finding {
	f = f.WorstFirst()
	f.Changes = f.Changes[:min(len(f.Changes), model.MaxFields)]
	f.Actor = shortActor(f.Actor)
	for i := range f.Changes {
		c := &f.Changes[i]
		for _, actor := range []**model.Actor{&c.Actor, &c.LiveActor} {
			*actor = shortSide(*actor)
		}
		for _, side := range []**model.Value{&c.Declared, &c.Recorded, &c.Live, &c.Running} {
			*side = cut(*side)
		}
		for j := range c.Claims {
			c.Claims[j].Value, c.Claims[j].Actor = *cut(&c.Claims[j].Value), shortSide(c.Claims[j].Actor)
		}
	}
	f.Ignored = nil
	return f
}

// shortSide returns shortActor of one side of a field; nil of nil.
func shortSide(a *model.Actor) *model.Actor {
	if a == nil {
		return nil
	}
	actor := shortActor(*a)
	return &actor
}

// shortActor cuts what nobody reads in a message.
func shortActor(a model.Actor) model.Actor {
	for _, text := range []*string{&a.Name, &a.Via, &a.Evidence, &a.Reason, &a.Message} {
		if runes := []rune(*text); len(runes) > model.MaxValue {
			*text = string(runes[:model.MaxValue-1]) + "…"
		}
	}
	return a
}

// cut shortens a value that nobody reads in a message.
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

// remind calls open findings to mind on which nothing was said for long, the
// longest first. A receiver that takes nothing is not reminded.
func (pl *planner) remind() {
	threads := pl.sorted()
	slices.SortStableFunc(threads, func(a, b *thread) int { return a.Said.Compare(b.Said) })
	for _, t := range threads {
		if pl.in.Queued[pl.receiver] > 0 || pl.allowance(1) <= pl.pacing.Messages/2 {
			return // what is new needs the rest
		}
		if repeat := pl.repeat(t); repeat > 0 && pl.now.Sub(t.Said) >= repeat {
			pl.send(t, model.ReminderMessage, nil)
		}
	}
}

// repeat is how long after the last word the worst open finding of a thread is
// called to mind; 0 is never.
func (pl *planner) repeat(t *thread) time.Duration {
	for _, it := range t.standing() {
		if it.news == model.Standing {
			if route := pl.route(it.finding, pl.receiver); route != nil {
				return route.Repeat
			}
			return 0
		}
	}
	return 0
}
