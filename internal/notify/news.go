package notify

import (
	"cmp"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// newsOf returns the news of the open finding f, or "" if there is none. t is the thread
// of f, or nil. routed is set if a route sends f to the receiver.
func (pl *planner) newsOf(f *model.Finding, t *thread, routed bool) model.News {
	switch {
	case t != nil && routed:
		return pl.newsSince(t.Members[f.ID], f)
	case t != nil:
		// No route sends f to this receiver any more. The receiver is still informed
		// when f becomes milder or is resolved.
		if last := t.Members[f.ID]; last.Open() && !f.Muted() && milder(model.Reclassified, last, f) {
			return model.Reclassified
		}
		return ""
	case !routed || !pl.notifies(f, pl.now):
		return ""
	case f.Flaps(pl.now):
		return model.StartsToFlap
	}
	return model.Appeared
}

// newsSince returns the news of f since its last notice.
func (pl *planner) newsSince(last model.Notified, f *model.Finding) model.News {
	switch {
	case last.Ended() && !pl.notifies(f, pl.now):
		return ""
	case f.Muted():
		return ifChanged(mutedNews(f), last.News)
	case last.Muted():
		return model.Returned
	case f.Flaps(pl.now):
		return flapping(last, f)
	case last.Ended():
		return model.Again
	case last.Flapping:
		return model.Steady
	case f.Verdict != last.Verdict:
		return model.Reclassified
	case f.Severity.Rank() < last.Severity.Rank(), f.Basis != last.Basis && len(f.Changes) > 0:
		return model.Altered
	}
	return ""
}

// flapping returns the news of a flapping finding: that it started to flap, or that it is more severe than
// in its last notice. Thus a field that changes to and fro does not hide another one.
func flapping(last model.Notified, f *model.Finding) model.News {
	switch {
	case !last.Flapping:
		return model.StartsToFlap
	case f.Severity.Rank() < last.Severity.Rank():
		return model.Altered
	}
	return ""
}

// milder reports whether news is that f was reclassified and is less severe than in its
// last notice.
func milder(news model.News, last model.Notified, f *model.Finding) bool {
	return news == model.Reclassified && f.Verdict != last.Verdict && f.Severity.Rank() > last.Severity.Rank()
}

// newItem returns the item for news of the member f.
func (t *thread) newItem(news model.News, f *model.Finding, now time.Time) item {
	last := t.Members[f.ID]
	it := item{news: news, finding: f, why: why(news, last, f, now), quiet: milder(news, last, f)}
	if news == model.Reclassified {
		it.was = &last
	}
	return it
}

// notQuiet returns the items that cause a message.
func notQuiet(items []item) []item {
	return slices.DeleteFunc(slices.Clone(items), func(it item) bool { return it.quiet })
}

// ifChanged returns news, or "" if it equals the last notice.
func ifChanged(news, last model.News) model.News {
	if news == last {
		return ""
	}
	return news
}

// mutedNews returns the news that the muted finding f was hidden, accepted, snoozed or
// acknowledged.
func mutedNews(f *model.Finding) model.News {
	switch {
	case f.Hidden != "":
		return model.WasHidden
	case f.Decision.Kind == model.Accept:
		return model.WasAccepted
	case f.Decision.Kind == model.Snooze:
		return model.WasSnoozed
	}
	return model.WasAcknowledged
}

// record stores the news of an item as the last notice of its finding. flapping is set if
// the notice is that the finding flaps.
func (t *thread) record(it item, flapping bool) {
	f := it.finding
	t.Members[f.ID] = model.Notified{News: it.news, Sequence: t.Sequence + 1, Basis: f.Basis, Flapping: flapping, Severity: f.Severity,
		Verdict: f.Verdict, Key: f.Key, Name: f.Name, Decision: f.Decision}
}

// why returns the reason why a muted finding is open again, or the former verdict of a
// reclassified one. It returns "" for other news.
func why(news model.News, last model.Notified, f *model.Finding, now time.Time) string {
	switch news {
	case model.Reclassified:
		return "was " + string(last.Verdict)
	case model.Returned:
	default:
		return ""
	}
	d := last.Decision
	if d == nil {
		return "no longer hidden by a rule"
	}
	decided := d.Kind.Participle() + " by " + d.By
	switch {
	case d.Ended(now):
		return decided + ", expired"
	case d.Basis != "" && d.Basis != f.Basis, last.Basis != f.Basis:
		return decided + ", but changed since"
	case f.Severity.Rank() < last.Severity.Rank():
		return decided + ", but more severe now"
	}
	return decided + ", revoked"
}

// newsOrder returns all news, the most urgent first.
func newsOrder() []model.News {
	return []model.News{model.Appeared, model.Again, model.Returned, model.StartsToFlap, model.Reclassified, model.Altered, model.Steady,
		model.Standing, model.WasAcknowledged, model.WasSnoozed, model.WasAccepted, model.WasHidden, model.WasMerged, model.Over}
}

// urgency returns the place of news in newsOrder.
func urgency(it item) int { return slices.Index(newsOrder(), it.news) }

// sortItems sorts items by urgency, then by severity.
func sortItems(items []item) {
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(urgency(a), urgency(b)), model.CompareWorst(a.finding, b.finding))
	})
}

// listed returns the news that the next message lists: the items that cause a message, or
// all items if none does.
func (t *thread) listed() []item {
	if items := notQuiet(t.news); len(items) > 0 {
		return items
	}
	return t.news
}

// kind returns the kind of the next message.
func (t *thread) kind() model.MessageKind {
	if t.first && t.hasGroup(heldGroup) {
		return model.DigestMessage
	}
	has := map[model.MessageKind]bool{}
	unchecked := true
	for _, it := range t.listed() {
		has[kindOf(it.news)] = true
		unchecked = unchecked && it.finding.Verdict == model.Unchecked
	}
	for _, kind := range []model.MessageKind{model.NewMessage, model.ChangedMessage, model.ResolvedMessage} {
		if has[kind] && kind == model.NewMessage && unchecked {
			return model.UncheckedMessage
		}
		if has[kind] {
			return kind
		}
	}
	return model.DecidedMessage
}

// kindOf returns the kind of a message about news.
func kindOf(news model.News) model.MessageKind {
	switch news {
	case model.Appeared, model.Again, model.Returned, model.StartsToFlap:
		return model.NewMessage
	case model.Altered, model.Steady, model.Reclassified, model.WasMerged:
		return model.ChangedMessage
	case model.Over:
		return model.ResolvedMessage
	}
	return model.DecidedMessage
}

// items returns all members of the thread, the open ones first.
func (t *thread) items() []item {
	items := make([]item, 0, len(t.Members))
	for id, last := range t.Members {
		if f := t.findings[id]; f != nil {
			news := last.News
			if last.Open() {
				news = model.Standing
			}
			items = append(items, item{news: news, finding: f})
		}
	}
	sortItems(items)
	return items
}
