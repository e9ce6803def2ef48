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

// Input is the state that messages are planned from.
type Input struct {
	// Findings are all that are open, and Recent those that were resolved recently.
	Findings, Recent []model.Finding
	// Notices are the messages that receivers got so far.
	Notices model.Notices
	// Queued counts the messages in the outbox, by receiver. There are at most MaxQueued.
	Queued map[string]int
	// Rules are the ignore rules and severity rules, and Decisions all decisions, for
	// digests.
	Rules     []model.RuleRun
	Decisions []model.Decision
	Now       time.Time
}

// MaxQueued bounds the messages in the outbox for one receiver. Further news is planned
// when there is room again, from the state at that time.
const MaxQueued = 500

const (
	// keepThread is how long a thread without open findings is kept. A finding that
	// recurs within that time continues the thread.
	keepThread = 24 * time.Hour
	// keepAbsent is how long the threads of a receiver are kept that is no longer
	// configured.
	keepAbsent = 30 * 24 * time.Hour
)

// Plan returns the messages for each receiver, and the notices to store with them. It
// is pure: the same input gives the same plan, and planned news is not planned again.
func (p *Policy) Plan(in Input) model.NoticeChange {
	var change model.NoticeChange
	change.Paces = map[string]model.Pace{}
	sorted := slices.Clone(in.Findings)
	slices.SortFunc(sorted, worstFirst)
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

// worstFirst orders findings. Two different findings are never equal.
func worstFirst(a, b model.Finding) int { return model.CompareWorst(&a, &b) }

// A planner plans for one receiver.
type planner struct {
	*Policy
	receiver string
	pacing   Pacing
	in       Input
	now      time.Time
	findings []model.Finding
	recent   map[string]*model.Finding
	// merged maps the ID of a merged finding to the ID of the finding that has its
	// fields now.
	merged map[string]string

	pace  model.Pace
	paced bool
	// threads are by ID, member by the ID of a finding in the thread, and group the
	// youngest by group.
	threads, member, group map[string]*thread
	// held counts the news that is deferred by quiet hours, limited the news that is
	// deferred by the rate limit. quietEnded is set where quiet hours have ended since
	// the last plan.
	held, limited int
	quietEnded    bool
	messages      []model.Message
}

// A thread is a model.Thread during planning.
type thread struct {
	model.Thread
	// findings are the members as they are now, by ID.
	findings map[string]*model.Finding
	// news is the news for the next message.
	news []item
	// first is set where the next message is the first one.
	first bool
	// changed is set where the thread must be stored.
	changed bool
}

type item struct {
	news    model.News
	finding *model.Finding
	why     string
	// was is the last notice of a reclassified finding; nil otherwise.
	was *model.Notified
	// quiet is set for news that causes no message.
	quiet bool
}

func newPlanner(p *Policy, receiver string, in Input, known []model.Thread) *planner {
	pl := &planner{Policy: p, receiver: receiver, pacing: p.Receivers[receiver], in: in, now: in.Now,
		pace: in.Notices.Paces[receiver], threads: map[string]*thread{}, member: map[string]*thread{}, group: map[string]*thread{}}
	pl.fixPace()
	slices.SortFunc(known, func(a, b model.Thread) int { return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID)) })
	for _, k := range known {
		t := &thread{Thread: k, findings: map[string]*model.Finding{}}
		t.Members = maps.Clone(k.Members)
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

// fixTimes replaces times in the future, which a clock that was set back leaves: they
// must not suppress messages.
func (t *thread) fixTimes(now time.Time) {
	for _, at := range []*time.Time{&t.Opened, &t.LastSent, &t.Waits} {
		if at.After(now) {
			*at, t.changed = now, true
		}
	}
}

// fixPace does the same for the pace.
func (pl *planner) fixPace() {
	sent := slices.DeleteFunc(slices.Clone(pl.pace.Sent), func(at time.Time) bool { return at.After(pl.now) })
	pl.paced = len(sent) < len(pl.pace.Sent)
	pl.pace.Sent = sent
	for _, at := range []*time.Time{&pl.pace.Digest, &pl.pace.Held} {
		if at.After(pl.now) {
			*at, pl.paced = pl.now, true
		}
	}
}

func (pl *planner) plan() {
	quiet := pl.pacing.Quiet.hold(pl.now.In(pl.pacing.location()))
	pl.adopt()
	fresh := pl.gather(quiet)
	pl.quietEnded = !quiet && !pl.pace.Held.IsZero()
	for _, n := range fresh {
		if pl.quietEnded {
			n.group = pl.once(heldGroup)
		}
		pl.open(n.group, n.item)
	}
	pl.makeMessages()
	if !quiet {
		pl.remind()
	}
	pl.digest()
	pl.keepPace()
}

// Groups of threads with findings of several groups.
const (
	heldGroup     = "held"
	overflowGroup = "overflow"
)

// once returns a group that no later finding can join.
func (pl *planner) once(name string) string {
	return fmt.Sprintf("%s\x00%d", name, pl.now.UnixNano())
}

func (t *thread) is(name string) bool { return strings.HasPrefix(t.Group, name+"\x00") }

// A newFinding is a finding without a thread.
type newFinding struct {
	item
	group string
}

// gather adds the news to each thread, and returns the findings without a thread.
func (pl *planner) gather(quiet bool) []newFinding {
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
			fresh = append(fresh, newFinding{item{news: news, finding: f}, group(f, route.GroupBy)})
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

// ended adds the news of a member that is no longer open.
func (pl *planner) ended(t *thread, id string, told model.Notified, quiet bool) {
	f := cmp.Or(pl.recent[id], stub(id, told, pl.now))
	end := model.Over
	if into := pl.merged[id]; into != "" {
		merged := *f
		merged.MergedInto = into
		f, end = &merged, model.WasMerged
	}
	t.findings[id] = f
	switch {
	case told.Ended() && pl.recent[id] == nil:
		delete(t.Members, id) // resolved long ago
		t.changed = true
	case told.Ended():
	case told.News == model.WasAccepted || told.News == model.WasHidden:
		// no message, but the list of the thread shows it as ended
		told.News = end
		t.Members[id], t.changed = told, true
	case end == model.WasMerged:
		t.news = append(t.news, item{news: end, finding: f, quiet: true})
	case f.Flaps(pl.now) && told.Flapping:
	case quiet && !pl.pacing.Quiet.excepts(told.Severity):
		pl.held++
	case f.Flaps(pl.now):
		t.news = append(t.news, item{news: model.StartsToFlap, finding: f})
	default:
		t.news = append(t.news, item{news: model.Over, finding: f})
	}
}

// stub returns a finding with only the properties of its last notice.
func stub(id string, told model.Notified, now time.Time) *model.Finding {
	return &model.Finding{ID: id, Key: told.Key, Name: told.Name, Verdict: told.Verdict, Severity: told.Severity,
		Actor: model.UnknownActor("not stored"), Resolved: now}
}

// sorted returns the threads, the oldest first.
func (pl *planner) sorted() []*thread {
	return slices.SortedFunc(maps.Values(pl.threads), func(a, b *thread) int {
		return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID))
	})
}

// open adds a new finding to the thread of its group if that has just begun, or to a new
// one. A finding worse than its thread gets a new one, so that it is not hidden in
// replies.
func (pl *planner) open(group string, it item) *thread {
	home := pl.group[group]
	if home == nil || pl.now.Sub(home.Opened) > pl.GroupWindow || !home.first && it.finding.Severity.Rank() < home.worstSent() {
		home = &thread{first: true, findings: map[string]*model.Finding{}, Thread: model.Thread{
			ID: threadID(pl.receiver, fmt.Sprintf("%s\x00%d", group, len(pl.threads)), pl.now), Receiver: pl.receiver, Group: group,
			Opened: pl.now, Members: map[string]model.Notified{}}}
		pl.threads[home.ID], pl.group[group] = home, home
	}
	home.findings[it.finding.ID] = it.finding
	home.news = append(home.news, it)
	return home
}

// worstSent returns the rank of the worst finding in the messages of a thread.
func (t *thread) worstSent() int {
	rank := len(model.Severities())
	for _, told := range t.Members {
		rank = min(rank, told.Severity.Rank())
	}
	return rank
}

// finish adds the plan to the change.
func (pl *planner) finish(change *model.NoticeChange) {
	for _, t := range pl.sorted() {
		switch {
		case t.over() && pl.now.Sub(t.LastSent) > keepThread:
			change.Gone = append(change.Gone, t.ID)
		case t.changed:
			change.Threads = append(change.Threads, t.Thread)
		}
	}
	if pl.paced {
		change.Paces[pl.receiver] = pl.pace
	}
	change.Messages = append(change.Messages, pl.messages...)
}

// over reports whether no finding of the thread is open.
func (t *thread) over() bool {
	for _, told := range t.Members {
		if !told.Ended() {
			return false
		}
	}
	return true
}
