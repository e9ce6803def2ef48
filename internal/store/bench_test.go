package store

import (
	"testing"
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
