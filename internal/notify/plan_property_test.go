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
	d := newDesk()
	d.policy.Receivers["ops"] = Pacing{Messages: 20, Per: 10 * time.Minute, Digest: -1}
	for i := range 5000 {
		f := finding(fmt.Sprintf("f%04d", i))
		f.Declaration = fmt.Sprintf("d%d", i%100)
		d.show(f)
	}
	said := d.tell()
	if len(said) != 20 || d.messages[19].Title != "More findings: prod: 4,050 findings changed" {
		t.Errorf("%d messages, the last %q; want 20, the last for all the rest", len(said), d.messages[len(said)-1].Title)
	}
	told := 0
	for _, m := range d.messages {
		told += m.NewsCount
		if len(m.News) > model.MaxItems || len(m.All) > model.MaxItems {
			t.Errorf("a message lists %d and %d findings", len(m.News), len(m.All))
		}
	}
	if told != 5000 {
		t.Errorf("%d findings were told, want all 5000", told)
	}
}

// TestThreadsAreBounded lets something new come every few minutes for days: the
// threads that hold it end.
func TestThreadsAreBounded(t *testing.T) {
	t.Parallel()
	d := newDesk()
	for i := range 5 * 24 * 12 {
		id := fmt.Sprint("f", i)
		d.show(finding(id)).tell()
		d.later(5 * time.Minute).resolve(id)
		d.recent = slices.DeleteFunc(d.recent, func(f model.Finding) bool { return d.now.Sub(f.Resolved) > 24*time.Hour })
	}
	members := 0
	for _, thread := range d.notices.Threads {
		members += len(thread.Members)
	}
	if perDay := 24 * 12; len(d.notices.Threads) > perDay || members > 2*perDay {
		t.Errorf("%d threads with %d members after five days, want those of the last", len(d.notices.Threads), members)
	}
}

// TestNothingIsSaidTwiceNorForgotten lets findings come, change and go in any
// order, and reads what was told of each.
func TestNothingIsSaidTwiceNorForgotten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk()
		d.policy.Routes[0].Repeat = 0
		if rapid.Bool().Draw(t, "limited") {
			d.policy.Receivers["ops"] = Pacing{Messages: rapid.IntRange(1, 3).Draw(t, "messages"), Per: time.Hour, Digest: -1}
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(t, "id")
			if _, open := d.open[id]; open && rapid.Bool().Draw(t, "resolve") {
				d.resolve(id)
			} else {
				f := by(basis(finding(id), rapid.SampledFrom([]string{"1", "2"}).Draw(t, "basis")), rapid.SampledFrom([]string{"x", "y"}).Draw(t, "by"))
				f.Verdict = rapid.SampledFrom([]model.Verdict{model.Changed, model.Disputed}).Draw(t, "verdict")
				f.Basis += string(f.Verdict)
				d.show(f)
			}
			d.later(time.Duration(rapid.IntRange(1, 120).Draw(t, "minutes")) * time.Minute)
			in := d.input()
			shuffled := in
			shuffled.Findings = rapid.Permutation(in.Findings).Draw(t, "order")
			if diff := cmp.Diff(d.policy.Plan(in), d.policy.Plan(shuffled)); diff != "" {
				t.Fatalf("the order of findings matters:\n%s", diff)
			}
			d.tell()
		}
		for range 10 { // whatever the rate held back is told in the end
			d.later(2 * time.Hour).tell()
		}
		told := map[string]model.News{}
		for _, m := range d.messages {
			for _, it := range m.News {
				check(t, it, told[it.Finding.ID])
				told[it.Finding.ID] = it.News
			}
		}
		for id := range d.open {
			if told[id] == "" || told[id] == model.Over {
				t.Errorf("%s is open, and last told was %q", id, told[id])
			}
		}
		for id, last := range told {
			if _, open := d.open[id]; !open && last != model.Over {
				t.Errorf("%s is over, and last told was %q", id, last)
			}
		}
	})
}

// check tells whether one piece of news may follow another.
func check(t *rapid.T, it model.Item, before model.News) {
	known := before != "" && before != model.Over
	switch it.News {
	case model.Appeared, model.Again:
		if known {
			t.Errorf("%s is %s although it was open already", it.Finding.ID, it.News)
		}
	case model.Over, model.Altered, model.Steady, model.Reclassified:
		if !known {
			t.Errorf("%s is %s although it was not open", it.Finding.ID, it.News)
		}
	case model.StartsToFlap:
		if before == model.StartsToFlap {
			t.Errorf("%s is said to flap twice", it.Finding.ID)
		}
	}
}

// TestEveryThingHasOneThread lets findings come, go, change their verdict and
// merge in any order: what is open stands in one thread, what is over in none as
// open, and what was merged was never said to be resolved.
func TestEveryThingHasOneThread(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk()
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
				d.show(as(f, rapid.SampledFrom([]model.Verdict{model.Changed, model.Disputed, model.Pending}).Draw(t, "verdict"), severity))
				merged[id] = false
			}
			d.later(time.Duration(rapid.IntRange(1, 120).Draw(t, "minutes")) * time.Minute)
			before := len(d.messages)
			d.tell()
			for _, m := range d.messages[before:] {
				// A list may go on to show what was said to be resolved before it came
				// again and was merged, if its return was not said.
				for _, it := range append(m.News, m.All...) {
					if it.News == model.Over && merged[it.Finding.ID] && it.Finding.MergedInto != "" && !over[it.Finding.ID] {
						t.Fatalf("%s was merged, and is said to be resolved", it.Finding.ID)
					}
				}
				for _, it := range m.News {
					over[it.Finding.ID] = it.News == model.Over
				}
			}
		}
		for range 10 {
			d.later(2 * time.Hour).tell()
		}
		for _, id := range []string{"a", "b", "c", "d"} {
			threads := 0
			for _, thread := range d.notices.Threads {
				if told, member := thread.Members[id]; member && told.Open() {
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
