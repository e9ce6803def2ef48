package notify

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/driftd/driftd/internal/model"
)

func threadID(receiver, group string, at time.Time) string {
	sum := sha256.Sum256([]byte(receiver + "\x00" + group + "\x00" + strconv.FormatInt(at.UnixNano(), 10)))
	return hex.EncodeToString(sum[:6])
}

// say makes a message of each thread's news, the worst first. Where there are
// more than the receiver may get, new threads are put together in one, and news
// of old ones wait.
func (pl *planner) say() {
	var speaking []*thread
	for _, t := range pl.sorted() {
		if len(t.news) > 0 {
			sortItems(t.news)
			speaking = append(speaking, t)
		}
	}
	slices.SortFunc(speaking, func(a, b *thread) int {
		return cmp.Or(cmp.Compare(a.urgency(), b.urgency()), worstFirst(*a.news[0].finding, *b.news[0].finding), cmp.Compare(a.ID, b.ID))
	})
	may := pl.allowance()
	if len(speaking) > may {
		speaking = pl.squeeze(speaking, may)
	}
	for _, t := range speaking {
		for _, it := range t.news {
			t.tell(it, it.news != model.Over && it.finding.Flaps(pl.now))
		}
		pl.send(t, t.kind(), t.news)
	}
}

// urgency orders threads: by the worst severity of their news.
func (t *thread) urgency() int {
	worst := len(model.Severities())
	for _, it := range t.news {
		worst = min(worst, it.finding.Severity.Rank())
	}
	return worst
}

// squeeze leaves no more threads than the receiver may get messages. What it
// leaves out was not told, and is planned again.
func (pl *planner) squeeze(speaking []*thread, may int) []*thread {
	pl.untold = true
	if may <= 0 {
		pl.drop(speaking)
		return nil
	}
	kept, rest := speaking[:may-1], speaking[may-1:]
	var merged *thread
	for _, t := range rest {
		if !t.first {
			continue
		}
		for _, it := range t.news {
			pl.open(pl.once(overflowGroup), it, t.route)
		}
		merged = pl.threads[threadID(pl.receiver, pl.once(overflowGroup), pl.now)]
	}
	pl.drop(rest)
	if merged == nil {
		return speaking[:may]
	}
	sortItems(merged.news)
	return append(slices.Clone(kept), merged)
}

// drop forgets threads that were to begin.
func (pl *planner) drop(threads []*thread) {
	for _, t := range threads {
		if t.first {
			delete(pl.threads, t.ID)
		}
	}
}

// allowance is how many messages the receiver may get now.
func (pl *planner) allowance() int {
	room := MaxQueued - pl.in.Queued[pl.receiver] - len(pl.messages)
	if pl.pacing.Messages <= 0 {
		return room
	}
	return min(room, pl.pacing.Messages-pl.lately()-len(pl.messages))
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
	t.Sequence++
	t.Said, t.changed = pl.now, true
	m := model.Message{Key: t.ID + "." + strconv.Itoa(t.Sequence), Receiver: pl.receiver, Kind: kind, At: pl.now,
		Thread: t.ID, First: t.first, Sequence: t.Sequence, URL: pl.URL, News: publish(news), NewsCount: len(news), All: publish(all)}
	t.first = false
	for _, it := range all {
		switch told := t.Members[it.finding.ID]; {
		case told.News == model.Over:
			m.ResolvedCount++
		case told.Muted():
			m.MutedCount++
		default:
			m.OpenCount++
		}
	}
	subject := news
	if len(subject) == 0 {
		subject = all
	}
	m.Severity = worst(subject)
	m.Title = title(kind, subject)
	switch {
	case t.is(overflowGroup) && m.First:
		m.Title = "And more: " + m.Title
	case t.is(heldGroup) && m.First:
		m.Title = "While it was quiet: " + m.Title
		m.Notes = pl.passing()
	}
	pl.messages = append(pl.messages, m)
}

// passing says what came and went while nobody was told.
func (pl *planner) passing() []string {
	n := 0
	for id, f := range pl.recent {
		if pl.member[id] == nil && !f.FirstSeen.Before(pl.pace.Held) && pl.route(f, pl.receiver) != nil {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d more came and went meanwhile.", n)}
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

// publish makes items for people: as many as a message lists, without secrets.
func publish(items []item) []model.Item {
	public := make([]model.Item, 0, min(len(items), model.MaxItems))
	for _, it := range items[:cap(public)] {
		public = append(public, model.Item{News: it.news, Finding: short(it.finding.Public()), Fields: len(it.finding.Changes)})
	}
	return public
}

// short leaves of a public finding what a message shows.
func short(f model.Finding) model.Finding {
	slices.SortStableFunc(f.Changes, func(a, b model.Change) int {
		return cmp.Compare(cmp.Or(a.Severity, model.Medium).Rank(), cmp.Or(b.Severity, model.Medium).Rank())
	})
	f.Changes = f.Changes[:min(len(f.Changes), model.MaxFields)]
	for i := range f.Changes {
		c := &f.Changes[i]
		for _, side := range []**model.Value{&c.Declared, &c.Recorded, &c.Live, &c.Running} {
			*side = cut(*side)
		}
		for j := range c.Claims {
			c.Claims[j].Value = *cut(&c.Claims[j].Value)
		}
	}
	f.Ignored = nil
	return f
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

// remind calls open findings to mind on which nothing was said for long.
func (pl *planner) remind() {
	for _, t := range pl.sorted() {
		var open []item
		var repeat time.Duration
		for _, it := range t.standing() {
			if it.news != model.Standing {
				continue
			}
			if route := pl.route(it.finding, pl.receiver); route != nil && len(open) == 0 {
				repeat = route.Repeat
			}
			open = append(open, it)
		}
		if repeat > 0 && pl.now.Sub(t.Said) >= repeat && pl.allowance() > 0 {
			pl.send(t, model.ReminderMessage, nil)
		}
	}
}
