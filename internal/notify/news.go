package notify

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// forgotten is the news of a finding that no route sends to the receiver any
// more: it is not told of that.
const forgotten model.News = "forgotten"

// newsOf returns what there is to tell of an open finding; "" for nothing. The
// thread is the one that speaks of it, or nil; routed tells that the receiver is
// to hear of it at all.
func (pl *planner) newsOf(f *model.Finding, t *thread, routed bool) model.News {
	switch {
	case t != nil && routed:
		return pl.newsSince(t.Members[f.ID], f)
	case t != nil:
		return forgotten
	case !routed || !pl.loud(f, pl.now):
		return ""
	case f.Flaps(pl.now):
		return model.StartsToFlap
	}
	return model.Appeared
}

// newsSince returns what there is to tell of a finding that was told before.
func (pl *planner) newsSince(told model.Told, f *model.Finding) model.News {
	switch {
	case told.News == model.Over && !pl.loud(f, pl.now):
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
	case told.News == model.Over:
		return model.Again
	case told.Flapping:
		return model.Steady
	case f.Severity.Rank() < told.Severity.Rank(), f.Basis != told.Basis && len(f.Changes) > 0:
		return model.Altered
	}
	return ""
}

// unless returns news that was not told yet.
func unless(news, told model.News) model.News {
	if news == told {
		return ""
	}
	return news
}

// muted says why nobody is to hear of a finding.
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

// tell notes that the receiver is told by the next message.
func (t *thread) tell(it item, flapping bool) {
	f := it.finding
	t.Members[f.ID] = model.Told{News: it.news, Sequence: t.Sequence + 1, Basis: f.Basis, Flapping: flapping, Severity: f.Severity,
		Verdict: f.Verdict, Key: f.Key, Name: f.Name}
}

// newsOrder lists the news, the most pressing first.
func newsOrder() []model.News {
	return []model.News{model.Appeared, model.Again, model.Returned, model.StartsToFlap, model.Altered, model.Steady,
		model.Standing, model.WasAcknowledged, model.WasSnoozed, model.WasAccepted, model.WasHidden, model.Over}
}

func sortItems(items []item) {
	order := newsOrder()
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.news), slices.Index(order, b.news)), worstFirst(*a.finding, *b.finding))
	})
}

// kind says why the thread is heard of.
func (t *thread) kind() model.MessageKind {
	if t.first && t.is(heldGroup) {
		return model.DigestMessage
	}
	has := map[model.MessageKind]bool{}
	unchecked := true
	for _, it := range t.news {
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
	case model.Altered, model.Steady:
		return model.ChangedMessage
	case model.Over:
		return model.ResolvedMessage
	}
	return model.DecidedMessage
}

// standing returns how all members of the thread stand, the open ones first.
func (t *thread) standing() []item {
	items := make([]item, 0, len(t.Members))
	for id, told := range t.Members {
		if f := t.findings[id]; f != nil {
			news := told.News
			if told.Open() {
				news = model.Standing
			}
			items = append(items, item{news, f})
		}
	}
	sortItems(items)
	return items
}
