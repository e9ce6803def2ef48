package notify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// Input is the state on which the planned messages are based.
type Input struct {
	// Findings are all open findings. Recent are the recently resolved ones.
	Findings, Recent []model.Finding
	// Notices are records of the earlier messages to all receivers.
	Notices model.Notices
	// Queued is the number of messages in the outbox, by receiver. It is at most
	// MaxQueued.
	Queued map[string]int
	// Rules are the ignore rules and severity rules. Decisions are all decisions. Both are used for
	// digests.
	Rules     []model.RuleRun
	Decisions []model.Decision
	Now       time.Time
}

// MaxQueued is the maximum number of messages in the outbox for one receiver. Further news is planned when
// there is room again, from the state at that time.
const MaxQueued = 500

const (
	// keepThread is the time for which a thread without open findings is kept. A finding
	// that recurs within that time continues the thread.
	keepThread = 24 * time.Hour
	// keepAbsent is the time for which the threads of a receiver are kept after it was
	// removed from the configuration.
	keepAbsent = 30 * 24 * time.Hour
)

// Plan returns the messages for each receiver, and the notices to store with them. It is a pure function of
// p and in. After the notices have been stored, the same news is not planned again.
func (p *Policy) Plan(in Input) model.NoticeChange {
	var change model.NoticeChange
	change.Paces = map[string]model.Pace{}
	sorted := slices.Clone(in.Findings)
	model.SortWorst(sorted)
	threads := map[string][]model.Thread{}
	for _, t := range in.Notices.Threads {
		if _, known := p.Receivers[t.Receiver]; !known {
			// it may be configured again, and its messages are still in the outbox
			if in.Now.Sub(t.LastSent) > keepAbsent {
				change.Gone = append(change.Gone, t.ID)
			}
			continue
		}
		threads[t.Receiver] = append(threads[t.Receiver], t)
	}
	recent, merged := make(map[string]*model.Finding, len(in.Recent)), mergedInto(in)
	for i := range in.Recent {
		recent[in.Recent[i].ID] = &in.Recent[i]
	}
	for _, name := range slices.Sorted(maps.Keys(p.Receivers)) {
		pl := newPlanner(p, name, in, threads[name])
		pl.findings, pl.recent, pl.merged = sorted, recent, merged
		pl.plan()
		pl.finish(&change)
	}
	slices.Sort(change.Gone)
	return change
}

// A planner plans for one receiver.
type planner struct {
	*Policy
	receiver string
	pacing   Pacing
	in       Input
	now      time.Time
	findings []model.Finding
	recent   map[string]*model.Finding
	// merged maps the ID of a merged finding to the ID of the finding that it was merged
	// into.
	merged map[string]string

	pace model.Pace
	// paceChanged is set if the pace must be stored.
	paceChanged bool
	// threads holds the threads by ID. member holds the thread of each finding by the ID
	// of the finding. group holds the youngest thread of each group.
	threads, member, group map[string]*thread
	// held is the amount of news that quiet hours defer. limited is the amount of news
	// that the rate limit defers.
	held, limited int
	// quietEnded is set if quiet hours have ended since the last plan.
	quietEnded bool
	messages   []model.Message
}

// A thread is a model.Thread during planning.
type thread struct {
	model.Thread
	// findings are the members in their present state, by ID.
	findings map[string]*model.Finding
	// news is the news for the next message.
	news []item
	// first is set if the next message is the first one.
	first bool
	// changed is set if the thread must be stored.
	changed bool
}

// An item is the news of one finding.
type item struct {
	news    model.News
	finding *model.Finding
	// why is the result of the function why.
	why string
	// was is the last notice of a reclassified finding. It is nil for other news.
	was *model.Notified
	// quiet is set for news that causes no message.
	quiet bool
}

// newPlanner returns a planner for receiver, with its stored threads.
func newPlanner(p *Policy, receiver string, in Input, stored []model.Thread) *planner {
	pl := &planner{Policy: p, receiver: receiver, pacing: p.Receivers[receiver], in: in, now: in.Now,
		pace: in.Notices.Paces[receiver], threads: map[string]*thread{}, member: map[string]*thread{}, group: map[string]*thread{}}
	pl.fixPace()
	slices.SortFunc(stored, func(a, b model.Thread) int { return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID)) })
	for _, s := range stored {
		t := &thread{Thread: s, findings: map[string]*model.Finding{}}
		t.Members = maps.Clone(s.Members)
		t.fixTimes(in.Now)
		pl.threads[t.ID], pl.group[t.Group] = t, t
		for id := range t.Members {
			if older := pl.member[id]; older != nil {
				delete(older.Members, id)
			}
			pl.member[id] = t // the youngest thread
		}
	}
	return pl
}

// fixTimes replaces the times of a thread that are in the future by now. Such times are
// left when the clock is set back, and would suppress messages.
func (t *thread) fixTimes(now time.Time) {
	for _, at := range []*time.Time{&t.Opened, &t.LastSent, &t.Waits} {
		if at.After(now) {
			*at, t.changed = now, true
		}
	}
}

// fixPace removes or replaces the times of the pace that are in the future.
func (pl *planner) fixPace() {
	sent := slices.DeleteFunc(slices.Clone(pl.pace.Sent), func(at time.Time) bool { return at.After(pl.now) })
	pl.paceChanged = len(sent) < len(pl.pace.Sent)
	pl.pace.Sent = sent
	for _, at := range []*time.Time{&pl.pace.Digest, &pl.pace.Held} {
		if at.After(pl.now) {
			*at, pl.paceChanged = pl.now, true
		}
	}
}

// plan makes all messages of the receiver.
func (pl *planner) plan() {
	quiet := pl.pacing.Quiet.contains(pl.now.In(pl.pacing.location()))
	pl.inheritThreads()
	fresh := pl.collectNews(quiet)
	pl.quietEnded = !quiet && !pl.pace.Held.IsZero()
	for _, n := range fresh {
		if pl.quietEnded && !pl.pacing.Each {
			n.group = pl.uniqueGroup(heldGroup)
		}
		pl.open(n.group, n.item)
	}
	pl.makeMessages()
	if !quiet {
		pl.remind()
	}
	pl.digest()
	pl.updatePace()
}

// Prefixes of the groups of threads that combine findings of several groups.
const (
	heldGroup     = "held"
	overflowGroup = "overflow"
)

// uniqueGroup returns a group with the prefix name that no later finding can join.
func (pl *planner) uniqueGroup(name string) string {
	return fmt.Sprintf("%s\x00%d", name, pl.now.UnixNano())
}

// hasGroup reports whether uniqueGroup made the group of the thread with name.
func (t *thread) hasGroup(name string) bool { return strings.HasPrefix(t.Group, name+"\x00") }

// A newFinding is a finding without a thread.
type newFinding struct {
	item
	group string
}

// collectNews adds the news of each finding to its thread, and returns the new findings
// that have no thread. quiet is set during quiet hours.
func (pl *planner) collectNews(quiet bool) []newFinding {
	var fresh []newFinding
	open := make(map[string]bool, len(pl.findings))
	for i := range pl.findings {
		f := &pl.findings[i]
		open[f.ID] = true
		route := pl.route(f, pl.receiver)
		t := pl.member[f.ID]
		if t != nil {
			t.findings[f.ID] = f
		}
		switch news := pl.newsOf(f, t, route != nil); {
		case news == "":
		case t != nil && milder(news, t.Members[f.ID], f):
			t.news = append(t.news, t.newItem(news, f, pl.now))
		case quiet && !pl.pacing.Quiet.excepts(f.Severity):
			pl.held++
		case t != nil:
			t.news = append(t.news, t.newItem(news, f, pl.now))
		default:
			fresh = append(fresh, newFinding{item{news: news, finding: f}, pl.groupOf(f, route)})
		}
	}
	for _, t := range pl.sorted() {
		for _, id := range slices.Sorted(maps.Keys(t.Members)) {
			if !open[id] {
				pl.ended(t, id, t.Members[id], quiet)
			}
		}
	}
	return fresh
}

// groupOf returns the group of a new finding.
func (pl *planner) groupOf(f *model.Finding, route *Route) string {
	if pl.pacing.Each {
		return "finding\x00" + f.ID
	}
	return group(f, route.GroupBy)
}

// ended adds the news of the member with the given ID, which is no longer open. last is
// its last notice.
func (pl *planner) ended(t *thread, id string, last model.Notified, quiet bool) {
	f := cmp.Or(pl.recent[id], stub(id, last, pl.now))
	end := model.Over
	if into := pl.merged[id]; into != "" {
		merged := *f
		merged.MergedInto = into
		f, end = &merged, model.WasMerged
	}
	t.findings[id] = f
	switch {
	case last.Ended() && pl.recent[id] == nil:
		delete(t.Members, id) // resolved long ago
		t.changed = true
	case last.Ended():
	case last.News == model.WasAccepted || last.News == model.WasHidden:
		// There is no message, but the list of the thread shows the finding as ended.
		last.News = end
		t.Members[id], t.changed = last, true
	case end == model.WasMerged:
		t.news = append(t.news, item{news: end, finding: f, quiet: true})
	case f.Flaps(pl.now) && last.Flapping:
	case quiet && !pl.pacing.Quiet.excepts(last.Severity):
		pl.held++
	case f.Flaps(pl.now):
		t.news = append(t.news, item{news: model.StartsToFlap, finding: f})
	default:
		t.news = append(t.news, item{news: model.Over, finding: f})
	}
}

// stub returns a finding with only the properties that its last notice holds.
func stub(id string, last model.Notified, now time.Time) *model.Finding {
	return &model.Finding{ID: id, Key: last.Key, Name: last.Name, Verdict: last.Verdict, Severity: last.Severity,
		Actor: model.UnknownActor("not stored"), Resolved: now}
}

// sorted returns the threads, the oldest first.
func (pl *planner) sorted() []*thread {
	return slices.SortedFunc(maps.Values(pl.threads), func(a, b *thread) int {
		return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID))
	})
}

// open adds a new finding to the thread of its group if that was opened within the
// GroupWindow, and to a new thread otherwise. A finding that is worse than all in the
// thread gets a new thread, so that it is not hidden in replies.
func (pl *planner) open(group string, it item) *thread {
	t := pl.group[group]
	if t == nil || pl.now.Sub(t.Opened) > pl.GroupWindow || !t.first && it.finding.Severity.Rank() < t.worstSent() {
		t = &thread{first: true, findings: map[string]*model.Finding{}, Thread: model.Thread{
			ID: threadID(pl.receiver, fmt.Sprintf("%s\x00%d", group, len(pl.threads)), pl.now), Receiver: pl.receiver, Group: group,
			Opened: pl.now, Members: map[string]model.Notified{}}}
		pl.threads[t.ID], pl.group[group] = t, t
	}
	t.findings[it.finding.ID] = it.finding
	t.news = append(t.news, it)
	return t
}

// worstSent returns the rank of the worst severity in the earlier messages of the thread.
func (t *thread) worstSent() int {
	rank := len(model.Severities())
	for _, last := range t.Members {
		rank = min(rank, last.Severity.Rank())
	}
	return rank
}

// finish adds the messages, the changed threads and the pace of the receiver to change.
func (pl *planner) finish(change *model.NoticeChange) {
	for _, t := range pl.sorted() {
		switch {
		case t.allEnded() && pl.now.Sub(t.LastSent) > keepThread:
			change.Gone = append(change.Gone, t.ID)
		case t.changed:
			change.Threads = append(change.Threads, t.Thread)
		}
	}
	if pl.paceChanged {
		change.Paces[pl.receiver] = pl.pace
	}
	change.Messages = append(change.Messages, pl.messages...)
}

// allEnded reports whether the last notice of each finding of the thread is its end.
func (t *thread) allEnded() bool {
	for _, last := range t.Members {
		if !last.Ended() {
			return false
		}
	}
	return true
}
