package store

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// plain is a simple model of the store.
type plain struct {
	versions map[model.Key][]plainVersion
	places   map[model.Key]string
}

type plainVersion struct {
	at    time.Time
	value string // "" if gone
}

func (p *plain) put(k model.Key, at time.Time, value string) {
	list := p.versions[k]
	if n := len(list); n > 0 {
		if list[n-1].value == value {
			return
		}
		if least := list[n-1].at.Add(1); at.Before(least) {
			at = least
		}
	}
	p.versions[k] = append(list, plainVersion{at, value})
}

func (p *plain) save(snap model.Snapshot) {
	seen := map[model.Key]bool{}
	for _, r := range snap.Resources {
		seen[r.Key] = true
		p.put(r.Key, snap.Taken, r.Value.At("data").Str())
		p.places[r.Key] = r.Place
	}
	for k := range p.versions {
		if covered, _ := snap.Covers(k.Kind, p.places[k]); k.Source == snap.Source && !seen[k] && covered {
			p.put(k, snap.Taken, "")
		}
	}
}

func (p *plain) at(k model.Key, moment time.Time) plainVersion {
	var found plainVersion
	for _, v := range p.versions[k] {
		if !v.at.After(moment) {
			found = v
		}
	}
	return found
}

func (p *plain) keys() []model.Key {
	var keys []model.Key
	for k := range p.versions {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, model.Key.Compare)
	return keys
}

func (p *plain) changes(source string, from, to time.Time) []string {
	var changes []string
	for _, k := range p.keys() {
		before, after := p.at(k, from), p.at(k, to)
		if before.value == after.value || source != "" && k.Source != source {
			continue
		}
		changes = append(changes, fmt.Sprintf("%s/%s %s→%s %s", k.Source, k.ID, orDash(before.value), orDash(after.value), after.at.Sub(start())))
	}
	return changes
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// drawSnapshot draws a snapshot of one of two sources: a few resources in two places, coverage of
// either, at a time that may lie in the past.
func drawSnapshot(t *rapid.T) model.Snapshot {
	source := rapid.SampledFrom([]string{"aa", "ab"}).Draw(t, "source")
	snap := model.Snapshot{Source: source, Taken: minute(rapid.IntRange(-3, 12).Draw(t, "taken"))}
	for _, id := range []string{"a", "a\x00b", "b", "b/c", "d"} {
		if !rapid.Bool().Draw(t, "present") {
			continue
		}
		snap.Resources = append(snap.Resources, model.Resource{
			Key:   model.Key{Source: source, Kind: "t/k", ID: id},
			Place: rapid.SampledFrom([]string{"p", "q"}).Draw(t, "place"),
			Value: text(rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "value")),
		})
	}
	for _, place := range []string{"p", "q"} {
		snap.Coverage = append(snap.Coverage, model.Coverage{Source: source, Kind: "t/k", Place: place, Complete: rapid.Bool().Draw(t, "complete")})
	}
	return snap
}

func TestStoreAgreesWithPlainModel(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "") //nolint:usetesting // one folder for each drawn case; root is t.TempDir
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, Options{Retention: Retention{MaxAge: time.Nanosecond}})
		if err != nil {
			t.Fatal(err)
		}
		p := &plain{versions: map[model.Key][]plainVersion{}, places: map[model.Key]string{}}
		for i := range rapid.IntRange(1, 8).Draw(t, "scans") {
			snap := drawSnapshot(t)
			p.save(snap)
			if err := s.Save(scan(i, nil, snap)); err != nil {
				t.Fatal(err)
			}
		}
		compareHistories(t, s, p)
		compareChanges(t, s, p, minute(-5))
		cut := minute(rapid.IntRange(-4, 14).Draw(t, "cut"))
		if _, err := s.Prune(cut.Add(time.Nanosecond)); err != nil {
			t.Fatal(err)
		}
		compareChanges(t, s, p, cut)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := verify(s.path, mustCodec(t)); err != nil {
			t.Fatal(err)
		}
	})
}

// modelOutbox is a simple model of the outbox.
type modelOutbox struct {
	queues   map[string][]model.OutboxEntry
	threads  map[string]string    // id → receiver
	receipts map[[2]string]string // receiver, thread
}

func (p *modelOutbox) save(change *model.NoticeChange) {
	for _, m := range change.Messages {
		if p.find(m.Receiver, m.Key) < 0 {
			p.queues[m.Receiver] = append(p.queues[m.Receiver], model.OutboxEntry{Message: m})
		}
	}
	for _, t := range change.Threads {
		p.threads[t.ID] = t.Receiver
	}
	for _, id := range change.Gone {
		delete(p.threads, id)
	}
	p.removeReceipts()
}

func (p *modelOutbox) find(receiver, key string) int {
	return slices.IndexFunc(p.queues[receiver], func(p model.OutboxEntry) bool { return p.Message.Key == key })
}

func (p *modelOutbox) begin(receiver, key string) {
	if i := p.find(receiver, key); i >= 0 {
		p.queues[receiver][i].Begun = true
	}
}

func (p *modelOutbox) end(receiver, key, receipt string) {
	i := p.find(receiver, key)
	if i < 0 {
		return
	}
	if receipt != "" {
		p.receipts[[2]string{receiver, p.queues[receiver][i].Message.Thread}] = receipt
	}
	if p.queues[receiver] = slices.Delete(p.queues[receiver], i, i+1); len(p.queues[receiver]) == 0 {
		delete(p.queues, receiver)
	}
	p.removeReceipts()
}

// removeReceipts removes the receipts of threads that are not stored and have no queued message.
func (p *modelOutbox) removeReceipts() {
	for at := range p.receipts {
		waits := slices.ContainsFunc(p.queues[at[0]], func(p model.OutboxEntry) bool { return p.Message.Thread == at[1] })
		if p.threads[at[1]] != at[0] && !waits {
			delete(p.receipts, at)
		}
	}
}

// all returns the queued messages, each with its receipt.
func (p *modelOutbox) all() map[string][]model.OutboxEntry {
	queues := map[string][]model.OutboxEntry{}
	for receiver, queue := range p.queues {
		for _, entry := range queue {
			entry.Receipt = p.receipts[[2]string{receiver, entry.Message.Thread}]
			queues[receiver] = append(queues[receiver], entry)
		}
	}
	return queues
}

// drawChange draws messages and threads. Most messages of a receiver are in the thread with the
// receiver's name.
func drawChange(t *rapid.T) *model.NoticeChange {
	change := &model.NoticeChange{}
	receivers := []string{"a", "ab", "b"}
	own := func(receiver string) *rapid.Generator[string] {
		return rapid.SampledFrom([]string{receiver, receiver, receiver, "a", "ab", "b"})
	}
	for range rapid.IntRange(0, 3).Draw(t, "messages") {
		receiver := rapid.SampledFrom(receivers).Draw(t, "receiver")
		m := message(receiver, rapid.OneOf(own(receiver), own("")).Draw(t, "thread"), drawKey(t))
		m.At = minute(rapid.IntRange(0, 9).Draw(t, "at"))
		change.Messages = append(change.Messages, m)
	}
	for _, id := range receivers {
		switch rapid.IntRange(0, 5).Draw(t, "thread "+id) {
		case 0, 1:
			change.Threads = append(change.Threads, thread(own(id).Draw(t, "of"), id, 0, 1))
		case 2:
			change.Gone = append(change.Gone, id)
		}
	}
	return change
}

func drawKey(t *rapid.T) string {
	return rapid.SampledFrom([]string{"1", "2", "3", "4", "5"}).Draw(t, "key")
}

func TestOutboxAgreesWithPlainModel(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(root, "") //nolint:usetesting // one folder for each drawn case; root is t.TempDir
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := &modelOutbox{queues: map[string][]model.OutboxEntry{}, threads: map[string]string{}, receipts: map[[2]string]string{}}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			if err := stepBoth(t, s, p); err != nil {
				t.Fatal(err)
			}
			compareOutbox(t, s, p)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := verify(s.path, mustCodec(t)); err != nil {
			t.Fatal(err)
		}
	})
}

// stepBoth applies one drawn operation to the store and to the model: mostly to the next message,
// sometimes to another one or one that is not queued.
func stepBoth(t *rapid.T, s *Store, p *modelOutbox) error {
	receiver, key := rapid.SampledFrom([]string{"a", "ab", "b"}).Draw(t, "receiver"), drawKey(t)
	if queue := p.queues[receiver]; len(queue) > 0 && rapid.IntRange(0, 3).Draw(t, "other") > 0 {
		key = queue[0].Message.Key
	}
	switch rapid.IntRange(0, 4).Draw(t, "step") {
	case 0:
		p.begin(receiver, key)
		return s.BeginDelivery(receiver, key)
	case 1, 2:
		receipt := rapid.SampledFrom([]string{"", "r1", "r2"}).Draw(t, "receipt")
		p.end(receiver, key, receipt)
		return s.EndDelivery(receiver, key, receipt)
	case 3:
		p.end(receiver, key, "")
		return s.DropMessage(receiver, key)
	}
	change := drawChange(t)
	p.save(change)
	return s.SaveNotices(*change)
}

func compareOutbox(t *rapid.T, s *Store, p *modelOutbox) {
	queues, entries, receipts := outbox(t, s)
	if diff := cmp.Diff(p.all(), entries); diff != "" {
		t.Fatalf("what waits: %s", diff)
	}
	if diff := cmp.Diff(p.receipts, receipts); diff != "" {
		t.Fatalf("receipts: %s", diff)
	}
	want := map[string]model.Queue{}
	for receiver, queue := range p.queues {
		want[receiver] = model.Queue{Length: len(queue), Oldest: queue[0].Message.At}
	}
	if diff := cmp.Diff(want, queues); diff != "" {
		t.Fatalf("queues: %s", diff)
	}
	for _, receiver := range []string{"a", "ab", "b"} {
		got, ok, err := s.NextOutboxEntry(receiver)
		if waits := len(p.queues[receiver]) > 0; err != nil || ok != waits {
			t.Fatalf("next for %s: %t, %v; want %t", receiver, ok, err, waits)
		}
		if !ok {
			continue
		}
		if diff := cmp.Diff(p.all()[receiver][0], got); diff != "" {
			t.Fatalf("next for %s: %s", receiver, diff)
		}
	}
}

// outbox reads the whole outbox.
func outbox(t rapid.TB, s *Store) (queues map[string]model.Queue, entries map[string][]model.OutboxEntry, receipts map[[2]string]string) {
	t.Helper()
	entries, receipts = map[string][]model.OutboxEntry{}, map[[2]string]string{}
	queues, err := s.Queues()
	if err != nil {
		t.Fatal(err)
	}
	err = s.view("test", func(tx *txn) error {
		err := each(tx.receipts, nil, func(k, v []byte) error {
			receiver, thread, _ := bytes.Cut(k, []byte{0})
			var receipt string
			err := tx.unpackJSON(v, &receipt)
			receipts[[2]string{string(receiver), string(thread)}] = receipt
			return err
		})
		if err != nil {
			return err
		}
		return each(tx.outbox, nil, func(k, v []byte) error {
			q, m, err := tx.parseMessage(k, v)
			entries[m.Receiver] = append(entries[m.Receiver], model.OutboxEntry{Message: m, Begun: q.begun, Receipt: receipts[[2]string{m.Receiver, m.Thread}]})
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return queues, entries, receipts
}

func mustCodec(t rapid.TB) codec {
	c, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func compareHistories(t *rapid.T, s *Store, p *plain) {
	for _, k := range p.keys() {
		versions, err := s.History(k)
		if err != nil {
			t.Fatal(err)
		}
		var got []plainVersion
		for _, v := range versions {
			value := ""
			if v.Value != nil {
				value = v.Value.At("data").Str()
			}
			got = append(got, plainVersion{v.At, value})
		}
		if diff := cmp.Diff(p.versions[k], got, cmp.AllowUnexported(plainVersion{})); diff != "" {
			t.Fatalf("history of %s: %s", k, diff)
		}
	}
}

// compareChanges compares the changes between any two times after least.
func compareChanges(t *rapid.T, s *Store, p *plain, least time.Time) {
	for range 4 {
		from := minute(rapid.IntRange(-5, 15).Draw(t, "from"))
		to := minute(rapid.IntRange(-5, 15).Draw(t, "to"))
		if from.Before(least) || to.Before(from) {
			continue
		}
		source := rapid.SampledFrom([]string{"", "aa", "ab"}).Draw(t, "of")
		changes, err := s.Changes(source, from, to)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range changes {
			got = append(got, shortened(&changes[i]))
		}
		if diff := cmp.Diff(p.changes(source, from, to), got); diff != "" {
			t.Fatalf("changes of %q from %s to %s: %s", source, from.Sub(start()), to.Sub(start()), diff)
		}
	}
}
