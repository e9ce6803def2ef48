package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

func BenchmarkSaveNew100k(b *testing.B) {
	snap := estate(100_000, 0)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s, err := Open(b.TempDir(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		save(b, s, scan(0, nil, snap))
		b.StopTimer()
		b.ReportMetric(float64(s.Size())/(1<<20), "MB")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func BenchmarkSaveUnchanged100k(b *testing.B) {
	snap := estate(100_000, 0)
	s := openNew(b)
	save(b, s, scan(0, nil, snap))
	before := s.Size()
	b.ReportAllocs()
	for b.Loop() {
		save(b, s, scan(1, nil, snap))
	}
	b.ReportMetric(float64(s.Size()-before)/float64(b.N)/1024, "kB-grown/op")
}

// flood returns a record of 5,000 new findings, notified in one thread with 25 messages of 20.
func flood() Record {
	rec := scan(1, make([]model.Finding, 5000))
	for i := range rec.Findings {
		rec.Findings[i] = finding(fmt.Sprintf("%016x", i), 1, based, func(f *model.Finding) { f.Flipped(minute(1), f.Basis) })
	}
	rec.Notices.Threads = []model.Thread{thread("slack", "t", 1, len(rec.Findings))}
	for i := range 25 {
		m := message("slack", "t", fmt.Sprintf("t.%d", i))
		m.News = make([]model.Item, model.MaxItems)
		for j := range m.News {
			m.News[j] = model.Item{News: model.Appeared, Finding: rec.Findings[i*len(m.News)+j].Public()}
		}
		m.All = m.News
		rec.Notices.Messages = append(rec.Notices.Messages, m)
	}
	return rec
}

func BenchmarkSaveFlood(b *testing.B) {
	rec := flood()
	for b.Loop() {
		b.StopTimer()
		s, err := Open(b.TempDir(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		save(b, s, rec)
		b.StopTimer()
		b.ReportMetric(float64(s.Size())/(1<<20), "MB")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func BenchmarkDeliver(b *testing.B) {
	s := openNew(b)
	rec := flood()
	save(b, s, rec)
	for i := 0; b.Loop(); i++ {
		m := rec.Notices.Messages[i%25]
		if err := errors.Join(s.BeginDelivery("slack", m.Key), s.EndDelivery("slack", m.Key, "receipt")); err != nil {
			b.Fatal(err)
		}
		if i%25 == 24 {
			b.StopTimer()
			saveNotices(b, s, model.NoticeChange{Messages: rec.Notices.Messages})
			b.StartTimer()
		}
	}
}

func BenchmarkNotices(b *testing.B) {
	s := openNew(b)
	save(b, s, flood())
	for b.Loop() {
		if _, err := s.Notices(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSettle settles the findings of a flood, all of them accepted.
func BenchmarkSettle(b *testing.B) {
	s := openNew(b)
	rec := flood()
	save(b, s, rec)
	list := make([]model.Decision, len(rec.Findings))
	for i := range list {
		list[i] = decision(fmt.Sprintf("d%016x", i), rec.Findings[i].ID)
	}
	if err := s.Decide(list, minute(2)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if changed, err := s.Settle(minute(3)); err != nil || changed != 0 {
			b.Fatal(changed, err)
		}
	}
}

func BenchmarkDecideOne(b *testing.B) {
	s := openNew(b)
	rec := flood()
	save(b, s, rec)
	for b.Loop() {
		if err := s.Decide([]model.Decision{decision("d", rec.Findings[0].ID)}, minute(2)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerifyAudit verifies an audit log of 10,000 entries, and the database against it.
func BenchmarkVerifyAudit(b *testing.B) {
	s := openAt(b, b.TempDir(), Options{Audit: auditKey(b)})
	entries := make([]audit.Entry, 10_000)
	for i := range entries {
		entries[i] = audit.Entry{Kind: audit.KindStart, Time: minute(i), Data: doubtData{strings.Repeat("x", 200)}}
	}
	if err := s.Record(entries...); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if r, err := s.VerifyAudit(nil); err != nil || !r.OK() {
			b.Fatal(r.Faults, err)
		}
	}
}

// BenchmarkAuditEntry saves a scan that changed one finding, with and without the audit log: the
// difference is what a scan pays for its entry.
func BenchmarkAuditEntry(b *testing.B) {
	for name, key := range map[string]*audit.Key{"with": auditKey(b), "without": nil} {
		b.Run(name, func(b *testing.B) {
			s := openAt(b, b.TempDir(), Options{Audit: key})
			n := 0
			for b.Loop() {
				n++
				save(b, s, scan(n, []model.Finding{finding("a", 0), finding(fmt.Sprint("b", n%2), n)}))
			}
		})
	}
}

// listed returns a record of 50,000 findings on one source.
func listed() Record {
	rec := scan(1, make([]model.Finding, 50_000))
	for i := range rec.Findings {
		rec.Findings[i] = finding(fmt.Sprintf("%012x", i*7919), 1, based, func(f *model.Finding) {
			f.Key.ID = fmt.Sprintf("n%d/c%d", i%50, i)
			f.Address = fmt.Sprintf("deploy/all.yaml:%d", i)
		})
	}
	return rec
}

// BenchmarkOutlines reads the outlines of 50,000 findings, BenchmarkFindings the findings.
func BenchmarkOutlines(b *testing.B) {
	s := openNew(b)
	save(b, s, listed())
	b.ReportAllocs()
	for b.Loop() {
		if list, err := s.Outlines(Filter{}); err != nil || len(list) != 50_000 {
			b.Fatal(len(list), err)
		}
	}
}

func BenchmarkFindings(b *testing.B) {
	s := openNew(b)
	save(b, s, listed())
	b.ReportAllocs()
	for b.Loop() {
		if list, err := s.Findings(Filter{}); err != nil || len(list) != 50_000 {
			b.Fatal(len(list), err)
		}
	}
}
