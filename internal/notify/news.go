package notify

import (
	"cmp"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// newsOf returns the news of an open finding; "" for none. t is its thread, or nil.
// routed reports whether a route sends it to the receiver.
func (pl *planner) newsOf(f *model.Finding, t *thread, routed bool) model.News {
	switch {
	case t != nil && routed:
		return pl.newsSince(t.Members[f.ID], f)
	case t != nil:
		// other receivers get it now; this one only that it is milder or resolved
		if told := t.Members[f.ID]; told.Open() && !f.Muted() && milder(model.Reclassified, told, f) {
			return model.Reclassified
		}
		return ""
	case !routed || !pl.loud(f, pl.now):
		return ""
	case f.Flaps(pl.now):
		return model.StartsToFlap
	}
	return model.Appeared
}

// newsSince returns the news of a finding since its last notice.
func (pl *planner) newsSince(told model.Notified, f *model.Finding) model.News {
	switch {
	case told.Ended() && !pl.loud(f, pl.now):
		return ""
	case f.Muted():
		return unless(muted(f), told.News)
	case told.Muted():
		return model.Returned
	case f.Flaps(pl.now):
		if told.Flapping {
			return ""
		}
		return model.StartsToFlap
	case told.Ended():
		return model.Again
	case told.Flapping:
		return model.Steady
	case f.Verdict != told.Verdict:
		return model.Reclassified
	case f.Severity.Rank() < told.Severity.Rank(), f.Basis != told.Basis && len(f.Changes) > 0:
		return model.Altered
	}
	return ""
}

// milder reports whether news is that a finding has a milder verdict than in its last
// notice.
func milder(news model.News, told model.Notified, f *model.Finding) bool {
	return news == model.Reclassified && f.Verdict != told.Verdict && f.Severity.Rank() > told.Severity.Rank()
}

// newItem returns the news of a member.
func (t *thread) newItem(news model.News, f *model.Finding, now time.Time) item {
	told := t.Members[f.ID]
	it := item{news: news, finding: f, why: why(news, told, f, now), quiet: milder(news, told, f)}
	if news == model.Reclassified {
		it.was = &told
	}
	return it
}

// loud returns the items that cause a message.
func loud(items []item) []item {
	return slices.DeleteFunc(slices.Clone(items), func(it item) bool { return it.quiet })
}

// unless returns news if it differs from the last notice.
func unless(news, told model.News) model.News {
	if news == told {
		return ""
	}
	return news
}

// muted returns why there are no messages about a finding.
func muted(f *model.Finding) model.News {
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

// record stores the news of an item as the last notice of its finding.
func (t *thread) record(it item, flapping bool) {
	f := it.finding
	t.Members[f.ID] = model.Notified{News: it.news, Sequence: t.Sequence + 1, Basis: f.Basis, Flapping: flapping, Severity: f.Severity,
		Verdict: f.Verdict, Key: f.Key, Name: f.Name, Decision: f.Decision}
}

// why returns why a muted finding is open again, and the former verdict of a
// reclassified one; "" for other news.
func why(news model.News, told model.Notified, f *model.Finding, now time.Time) string {
	switch news {
	case model.Reclassified:
		return "was " + string(told.Verdict)
	case model.Returned:
	default:
		return ""
	}
	d := told.Decision
	if d == nil {
		return "no longer hidden by a rule"
	}
	said := d.Kind.Participle() + " by " + d.By
	switch {
	case d.Ended(now):
		return said + ", expired"
	case d.Basis != "" && d.Basis != f.Basis, told.Basis != f.Basis:
		return said + ", but changed since"
	case f.Severity.Rank() < told.Severity.Rank():
		return said + ", but more severe now"
	}
	return said + ", revoked"
}

// newsOrder returns all news, the most urgent first.
func newsOrder() []model.News {
	return []model.News{model.Appeared, model.Again, model.Returned, model.StartsToFlap, model.Reclassified, model.Altered, model.Steady,
		model.Standing, model.WasAcknowledged, model.WasSnoozed, model.WasAccepted, model.WasHidden, model.WasMerged, model.Over}
}

// urgency returns the place of news in newsOrder.
func urgency(it item) int { return slices.Index(newsOrder(), it.news) }

func sortItems(items []item) {
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(urgency(a), urgency(b)), worstFirst(*a.finding, *b.finding))
	})
}

// listed returns the news of the next message: items that cause a message, or all
// where there are none.
func (t *thread) listed() []item {
	if items := loud(t.news); len(items) > 0 {
		return items
	}
	return t.news
}

// kind returns the kind of the next message.
func (t *thread) kind() model.MessageKind {
	if t.first && t.is(heldGroup) {
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

// standing returns all members of the thread, the open ones first.
func (t *thread) standing() []item {
	items := make([]item, 0, len(t.Members))
	for id, told := range t.Members {
		if f := t.findings[id]; f != nil {
			news := told.News
			if told.Open() {
				news = model.Standing
			}
			items = append(items, item{news: news, finding: f})
		}
	}
	sortItems(items)
	return items
}
