package notify

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

func TestFlood(t *testing.T) {
	t.Parallel()
	d := newFixture()
	d.policy.Receivers["ops"] = Pacing{Messages: 20, Per: 10 * time.Minute, Digest: -1}
	for i := range 5000 {
		f := finding(fmt.Sprintf("f%04d", i))
		f.Declaration = fmt.Sprintf("d%d", i%100)
		d.setOpen(f)
	}
	got := d.plan()
	if len(got) != 20 || d.messages[19].Title != "More findings: prod: 4,050 findings changed" {
		t.Errorf("got %d messages, the last %q; want 20, the last one for all further findings", len(got), d.messages[len(got)-1].Title)
	}
	reported := 0
	for _, m := range d.messages {
		reported += m.NewsCount
		if len(m.News) > model.MaxItems || len(m.All) > model.MaxItems {
			t.Errorf("a message lists %d and %d findings", len(m.News), len(m.All))
		}
	}
	if reported != 5000 {
		t.Errorf("%d findings are in messages, want all 5000", reported)
	}
}

// TestThreadsAreBounded checks that old threads are removed when a new finding appears
// every five minutes for five days.
func TestThreadsAreBounded(t *testing.T) {
	t.Parallel()
	d := newFixture()
	for i := range 5 * 24 * 12 {
		id := fmt.Sprint("f", i)
		d.setOpen(finding(id)).plan()
		d.advance(5 * time.Minute).resolve(id)
		d.recent = slices.DeleteFunc(d.recent, func(f model.Finding) bool { return d.now.Sub(f.Resolved) > 24*time.Hour })
	}
	members := 0
	for _, thread := range d.notices.Threads {
		members += len(thread.Members)
	}
	if perDay := 24 * 12; len(d.notices.Threads) > perDay || members > 2*perDay {
		t.Errorf("%d threads with %d members after five days, want only those of the last day", len(d.notices.Threads), members)
	}
}

// TestEachChangeIsReportedOnce checks for random sequences of changes that each change of a
// finding is in one message, and that the last message about it has its final state.
func TestEachChangeIsReportedOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := newFixture()
		d.policy.Routes[0].Repeat = 0
		if rapid.Bool().Draw(t, "limited") {
			d.policy.Receivers["ops"] = Pacing{Messages: rapid.IntRange(1, 3).Draw(t, "messages"), Per: time.Hour, Digest: -1}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(t, "id")
			if _, open := d.open[id]; open && rapid.Bool().Draw(t, "resolve") {
				d.resolve(id)
			} else {
				f := withActor(withBasis(finding(id), rapid.SampledFrom([]string{"1", "2"}).Draw(t, "basis")), rapid.SampledFrom([]string{"x", "y"}).Draw(t, "by"))
				f.Verdict = rapid.SampledFrom([]model.Verdict{model.Changed, model.Disputed}).Draw(t, "verdict")
				f.Basis += string(f.Verdict)
				d.setOpen(f)
			}
			d.advance(time.Duration(rapid.IntRange(1, 120).Draw(t, "minutes")) * time.Minute)
			in := d.input()
			shuffled := in
			shuffled.Findings = rapid.Permutation(in.Findings).Draw(t, "order")
			if diff := cmp.Diff(d.policy.Plan(in), d.policy.Plan(shuffled)); diff != "" {
				t.Fatalf("the order of findings matters:\n%s", diff)
			}
			d.plan()
		}
		for range 10 { // the rate limit defers some news
			d.advance(2 * time.Hour).plan()
		}
		reported := map[string]model.News{}
		for _, m := range d.messages {
			for _, it := range m.News {
				checkSequence(t, it, reported[it.Finding.ID])
				reported[it.Finding.ID] = it.News
			}
		}
		for id := range d.open {
			if reported[id] == "" || reported[id] == model.Over {
				t.Errorf("%s is open, but its last news is %q", id, reported[id])
			}
		}
		for id, last := range reported {
			if _, open := d.open[id]; !open && last != model.Over {
				t.Errorf("%s is resolved, but its last news is %q", id, last)
			}
		}
	})
}

// checkSequence fails the test if the news of it must not follow the news before.
func checkSequence(t *rapid.T, it model.Item, before model.News) {
	open := before != "" && before != model.Over
	switch it.News {
	case model.Appeared, model.Again:
		if open {
			t.Errorf("%s is %s, but was open before", it.Finding.ID, it.News)
		}
	case model.Over, model.Altered, model.Steady, model.Reclassified:
		if !open {
			t.Errorf("%s is %s, but was not open before", it.Finding.ID, it.News)
		}
	case model.StartsToFlap:
		if before == model.StartsToFlap {
			t.Errorf("%s starts to flap twice", it.Finding.ID)
		}
	}
}

// TestOpenFindingHasOneThread checks for random sequences of changes and merges that an
// open finding is open in exactly one thread, that no thread shows an ended finding as
// open, and that no message calls a merged finding resolved.
func TestOpenFindingHasOneThread(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := newFixture()
		d.policy.Routes[0].Repeat = 0
		if rapid.Bool().Draw(t, "limited") {
			d.policy.Receivers["ops"] = Pacing{Messages: 2, Per: time.Hour, Digest: -1}
		}
		ids := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		merged, over := map[string]bool{}, map[string]bool{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			id, other := ids.Draw(t, "id"), ids.Draw(t, "other")
			_, open := d.open[id]
			_, both := d.open[other]
			switch step := rapid.IntRange(0, 4).Draw(t, "step"); {
			case step == 0 && open:
				d.resolve(id)
				merged[id] = false
			case step == 1 && open && both && id != other:
				d.merge(id, other)
				merged[id] = true
			default:
				f := finding(id)
				if open {
					f.Merged = d.open[id].Merged
				}
				for _, g := range d.open {
					g.Merged = slices.DeleteFunc(slices.Clone(g.Merged), func(m string) bool { return m == id })
					d.open[g.ID] = g
				}
				severity := rapid.SampledFrom([]model.Severity{model.High, model.Medium, model.Info}).Draw(t, "severity")
				d.setOpen(withVerdict(f, rapid.SampledFrom([]model.Verdict{model.Changed, model.Disputed, model.Pending}).Draw(t, "verdict"), severity))
				merged[id] = false
			}
			d.advance(time.Duration(rapid.IntRange(1, 120).Draw(t, "minutes")) * time.Minute)
			before := len(d.messages)
			d.plan()
			for _, m := range d.messages[before:] {
				// A list may show a merged finding as resolved if the last message about
				// it was that: the finding was opened again and merged without a message.
				for _, it := range append(m.News, m.All...) {
					if it.News == model.Over && merged[it.Finding.ID] && it.Finding.MergedInto != "" && !over[it.Finding.ID] {
						t.Fatalf("%s was merged, but is shown as resolved", it.Finding.ID)
					}
				}
				for _, it := range m.News {
					over[it.Finding.ID] = it.News == model.Over
				}
			}
		}
		for range 10 {
			d.advance(2 * time.Hour).plan()
		}
		for _, id := range []string{"a", "b", "c", "d"} {
			threads := 0
			for _, thread := range d.notices.Threads {
				if last, member := thread.Members[id]; member && last.Open() {
					threads++
				}
			}
			want := 0
			if _, open := d.open[id]; open {
				want = 1
			}
			if threads != want {
				t.Fatalf("%s is open in %d threads, want %d", id, threads, want)
			}
		}
	})
}
