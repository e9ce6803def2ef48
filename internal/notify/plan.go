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

// Input is what there is to tell of.
type Input struct {
	// Findings are all that are open, and Recent those that were resolved
	// lately.
	Findings, Recent []model.Finding
	// Notices are what receivers were told.
	Notices model.Notices
	// Queued counts the messages that wait, by receiver: one that takes nothing
	// is told no more than MaxQueued.
	Queued map[string]int
	// Rules are the ignore rules and severity rules, and Decisions those of people, for digests.
	Rules     []model.RuleRun
	Decisions []model.Decision
	Now       time.Time
}

// MaxQueued is how many messages may wait for one receiver. What there is to
// tell beyond it is told when there is room again, as it stands then.
const MaxQueued = 500

const (
	// keepThread is how long a thread in which nothing is open is kept: what
	// comes back within it comes back there.
	keepThread = 24 * time.Hour
	// keepAbsent is how long it is known what a receiver was told that is not
	// configured any more.
	keepAbsent = 30 * 24 * time.Hour
)

// Plan says what each receiver is to be told now, and what it was told then. It
// is pure: with the same input it plans the same, and what it planned it does
// not plan again.
func (p *Policy) Plan(in Input) model.NoticeChange {
	var change model.NoticeChange
	change.Paces = map[string]model.Pace{}
	sorted := slices.Clone(in.Findings)
	slices.SortFunc(sorted, worstFirst)
	threads := map[string][]model.Thread{}
	for _, t := range in.Notices.Threads {
		if _, known := p.Receivers[t.Receiver]; !known {
			// It may come back, and what waits for it is still there.
			if in.Now.Sub(t.Said) > keepAbsent {
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

// worstFirst orders findings; it never calls two of them equal.
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
	// merged maps the ID of a finding that was merged to the ID of the one that
	// has its fields now.
	merged map[string]string

	pace  model.Pace
	paced bool
	// threads are by ID; member is the thread that speaks of a finding, group
	// the youngest of a group.
	threads, member, group map[string]*thread
	// held counts the news that wait for the end of quiet hours, squeezed those
	// that wait for the rate; overnight tells that quiet hours have ended since
	// the last plan.
	held, squeezed int
	overnight      bool
	messages       []model.Message
}

// A thread is one that is being planned.
type thread struct {
	model.Thread
	// findings are the members as they are now, by ID.
	findings map[string]*model.Finding
	// news is what there is to tell.
	news []item
	// first tells that it begins now.
	first bool
	// changed tells that it has to be kept.
	changed bool
}

type item struct {
	news    model.News
	finding *model.Finding
	why     string
	// was is what the receiver was told before, where the finding was
	// reclassified; nil otherwise.
	was *model.Told
	// quiet is set where the news is no reason for a message of its own.
	quiet bool
}

func newPlanner(p *Policy, receiver string, in Input, known []model.Thread) *planner {
	pl := &planner{Policy: p, receiver: receiver, pacing: p.Receivers[receiver], in: in, now: in.Now,
		pace: in.Notices.Paces[receiver], threads: map[string]*thread{}, member: map[string]*thread{}, group: map[string]*thread{}}
	pl.mendPace()
	slices.SortFunc(known, func(a, b model.Thread) int { return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID)) })
	for _, k := range known {
		t := &thread{Thread: k, findings: map[string]*model.Finding{}}
		t.Members = maps.Clone(k.Members)
		t.mend(in.Now)
		pl.threads[t.ID], pl.group[t.Group] = t, t
		for id := range t.Members {
			if older := pl.member[id]; older != nil {
				delete(older.Members, id)
			}
			pl.member[id] = t // the youngest thread that has it
		}
	}
	return pl
}

// mend takes back what a clock that was set back left in the future: it must
// not silence anybody.
func (t *thread) mend(now time.Time) {
	for _, at := range []*time.Time{&t.Opened, &t.Said, &t.Waits} {
		if at.After(now) {
			*at, t.changed = now, true
		}
	}
}

// mendPace does the same for the pace.
func (pl *planner) mendPace() {
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
	pl.overnight = !quiet && !pl.pace.Held.IsZero()
	for _, n := range fresh {
		if pl.overnight {
			n.group = pl.once(heldGroup)
		}
		pl.open(n.group, n.item)
	}
	pl.say()
	if !quiet {
		pl.remind()
	}
	pl.digest()
	pl.keepPace()
}

// Groups that hold findings of many.
const (
	heldGroup     = "held"
	overflowGroup = "overflow"
)

// once returns a group that no later thread can join.
func (pl *planner) once(name string) string {
	return fmt.Sprintf("%s\x00%d", name, pl.now.UnixNano())
}

func (t *thread) is(name string) bool { return strings.HasPrefix(t.Group, name+"\x00") }

// A newcomer is a finding that no thread speaks of.
type newcomer struct {
	item
	group string
}

// gather notes the news of every thread, and returns what is new to all.
func (pl *planner) gather(quiet bool) []newcomer {
	var fresh []newcomer
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
			fresh = append(fresh, newcomer{item{news: news, finding: f}, group(f, route.GroupBy)})
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

// ended notes what became of a member that is not open any more.
func (pl *planner) ended(t *thread, id string, told model.Told, quiet bool) {
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
		delete(t.Members, id) // long ago
		t.changed = true
	case told.Ended():
	case told.News == model.WasAccepted || told.News == model.WasHidden:
		// Nobody wants to hear of it, but where it is listed it is struck.
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

// stub is a finding of which only is known what was told.
func stub(id string, told model.Told, now time.Time) *model.Finding {
	return &model.Finding{ID: id, Key: told.Key, Name: told.Name, Verdict: told.Verdict, Severity: told.Severity,
		Actor: model.UnknownActor("not kept"), Resolved: now}
}

// sorted returns the threads, the oldest first.
func (pl *planner) sorted() []*thread {
	return slices.SortedFunc(maps.Values(pl.threads), func(a, b *thread) int {
		return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID))
	})
}

// open puts a newcomer into the thread of its group that has just begun, or into
// a new one: nobody should have to look into a thread for what is worse than
// what began it.
func (pl *planner) open(group string, it item) *thread {
	home := pl.group[group]
	if home == nil || pl.now.Sub(home.Opened) > pl.GroupWindow || !home.first && it.finding.Severity.Rank() < home.worstTold() {
		home = &thread{first: true, findings: map[string]*model.Finding{}, Thread: model.Thread{
			ID: threadID(pl.receiver, fmt.Sprintf("%s\x00%d", group, len(pl.threads)), pl.now), Receiver: pl.receiver, Group: group,
			Opened: pl.now, Members: map[string]model.Told{}}}
		pl.threads[home.ID], pl.group[group] = home, home
	}
	home.findings[it.finding.ID] = it.finding
	home.news = append(home.news, it)
	return home
}

// worstTold is the rank of the worst that was told in a thread.
func (t *thread) worstTold() int {
	rank := len(model.Severities())
	for _, told := range t.Members {
		rank = min(rank, told.Severity.Rank())
	}
	return rank
}

// finish adds what was planned to the change.
func (pl *planner) finish(change *model.NoticeChange) {
	for _, t := range pl.sorted() {
		switch {
		case t.over() && pl.now.Sub(t.Said) > keepThread:
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

// over tells whether nothing in the thread is open any more.
func (t *thread) over() bool {
	for _, told := range t.Members {
		if !told.Ended() {
			return false
		}
	}
	return true
}
