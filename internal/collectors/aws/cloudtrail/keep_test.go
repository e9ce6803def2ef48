package cloudtrail

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

func TestCovers(t *testing.T) {
	t.Parallel()
	s := state{Since: at(0), Until: at(60), Gap: &span{at(10), at(15)}}
	for minute, want := range map[int]bool{-1: false, 0: true, 9: true, 10: false, 15: false, 16: true, 39: true, 40: false, 60: false} {
		if got := s.covers(at(minute)); got != want {
			t.Errorf("covers(minute %d) = %v", minute, got)
		}
	}
	if s.Gap = nil; !s.covers(at(12)) {
		t.Error("without a gap, a minute is not covered")
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	fresh := func(copies int) *kept {
		k := &kept{Regions: map[string]state{"eu-central-1": {Since: at(0)}}, Trail: trailState{Regions: map[string]regionTrail{"eu-central-1": {Since: at(0)}}}, Queue: queueState{Since: at(0)}}
		for i := range maxRecords {
			r := record{ID: fmt.Sprint(i), At: at(0).Add(time.Duration(i) * time.Second)}
			if i%2 == 1 && i < 2*copies {
				r.From = testQueue
			}
			k.Records = append(k.Records, r)
		}
		return k
	}
	for _, test := range []struct {
		reason                 string
		copies, more, size     int
		left, history, fromTop int
	}{
		{"nothing is too much", 10, 0, 0, maxRecords, 0, 0},
		{"copies are dropped first", 10, 4, 0, maxRecords, 0, 8},
		{"then the oldest", 2, 4, 0, maxRecords, 3, 4},
		{"large ones drop the others", maxRecords / 2, 1, maxKept - 300, 1, maxRecords - 1, maxRecords},
	} {
		k := fresh(test.copies)
		for i := range test.more {
			k.Records = append(k.Records, record{ID: fmt.Sprint("new", i), At: at(0).Add(maxRecords * time.Second), Actor: model.Actor{Name: strings.Repeat("x", test.size)}})
		}
		k.bound(at(0).Add(maxRecords * time.Second))
		seconds := func(since time.Time) int { return int(since.Sub(at(0)) / time.Second) }
		history, trail, queue := seconds(k.Regions["eu-central-1"].Since), seconds(k.Trail.Regions["eu-central-1"].Since), seconds(k.Queue.Since)
		if len(k.Records) != test.left || history != test.history || trail != test.fromTop || queue != trail {
			t.Errorf("%s: %d records; since %d, %d and %d seconds", test.reason, len(k.Records), history, trail, queue)
		}
	}
	k := fresh(0)
	k.bound(at(0).Add(maxAge + 10*time.Second))
	if len(k.Records) != maxRecords-10 || !k.Regions["eu-central-1"].Since.Equal(at(0).Add(10*time.Second)) {
		t.Errorf("%d records are left of those that are too old, since %s", len(k.Records), k.Regions["eu-central-1"].Since)
	}
}
