package daemon

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/model"
)

// A costly collector or loader reserves some memory, or panics, before it calls another one.
type costly struct {
	of   *fakeDeclaration
	from *fakeSource
	need int64
	// panics is the value that it panics with, or nil.
	panics any
}

func (c *costly) Collect(ctx context.Context) (model.Snapshot, error) {
	if err := c.begin(ctx); err != nil {
		return model.Snapshot{}, err
	}
	return c.from.Collect(ctx)
}

func (c *costly) Load(ctx context.Context) (model.Declaration, error) {
	// A loader may ignore the error.
	_ = c.begin(ctx)
	return c.of.Load(ctx)
}

func (c *costly) begin(ctx context.Context) error {
	if c.panics != nil {
		panic(c.panics)
	}
	return budget.Take(ctx, c.need)
}

// TestBounds checks that a source that exceeds its memory, or panics, is unchecked with the
// reason, that others are read, and that nothing is missing because of it.
func TestBounds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		with   costly
		want   string
	}{
		"memory":  {"more than max_memory", costly{need: 2 << 20}, "it needs more than 1.0 MiB of memory: read less of it, or raise its max_memory"},
		"panic":   {"a bug of driftd", costly{panics: errors.New("index out of range")}, "driftd panicked, which is a bug in driftd: report it with the stack in its log (index out of range)"},
		"goexits": {"a panic with no error", costly{panics: "no\nway"}, "(no way)"},
	} {
		for _, part := range []string{"source", "declaration"} {
			t.Run(name+" "+part, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, 3, nil)
				estate := b.engine.estate
				estate.Memory = budget.NewTotal(1 << 30)
				b.engine = b.restart(estate)
				wantVerdicts(t, b.cycle(t), "")
				with := tc.with
				with.of, with.from = b.declaration, b.source
				other := &fakeSource{name: "other"}
				estate.Sources = append(estate.Sources, Source{Name: "other", Collector: other, MaxMemory: 1 << 20})
				if part == "source" {
					estate.Sources[0].Collector, estate.Sources[0].MaxMemory = &with, 1<<20
				} else {
					estate.Declarations[0].Loader, estate.Declarations[0].MaxMemory = &with, 1<<20
				}
				var logged bytes.Buffer
				b.engine = New(estate, Options{Store: b.store, Now: time.Now, Log: slog.New(slog.NewTextHandler(&logged, nil))})
				r := b.cycle(t)
				if got := reasons(r); !strings.Contains(got, tc.want) {
					t.Errorf("%s: reason %q, want %q", tc.reason, got, tc.want)
				}
				if got := verdicts(r); strings.Contains(got, "missing") || strings.Contains(got, "unmanaged") {
					t.Errorf("%s: findings %s", tc.reason, got)
				}
				if other.reads != 1 {
					t.Errorf("%s: %d reads of the other source", tc.reason, other.reads)
				}
				if inLog := strings.Contains(logged.String(), "costly"); inLog != (with.panics != nil) {
					t.Errorf("%s: the stack is in the log: %t", tc.reason, inLog)
				}
				with.need, with.panics = 0, nil
				wantVerdicts(t, b.cycle(t), "")
			})
		}
	}
}

// TestTotalBound checks that stored results count against the bound of all, and that the source
// with the largest one is not read.
func TestTotalBound(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3, nil)
	estate := b.engine.estate
	estate.Memory = budget.NewTotal(1 << 20)
	large := &costly{from: b.source, need: 1 << 20}
	estate.Sources = append(estate.Sources, Source{Name: "other", Collector: &fakeSource{name: "other", count: 3}, MaxMemory: 1 << 20})
	estate.Sources[0].Collector, estate.Sources[0].MaxMemory = large, 1<<20
	b.engine = b.restart(estate)
	b.cycle(t)
	r := b.cycle(t)
	want := "it needs the largest part of what all sources and declarations together need, which is more than 1.0 MiB of memory: read less of it, or raise max_memory at the top of the configuration"
	if got := reasons(r); !strings.Contains(got, want) {
		t.Errorf("reasons %q, want %q", got, want)
	}
	if got := verdicts(r); strings.Contains(got, "missing") {
		t.Errorf("findings %s", got)
	}
	large.need = 1 << 19
	if got := reasons(b.cycle(t)); got != "" {
		t.Errorf("reasons %q once it needs less", got)
	}
}
