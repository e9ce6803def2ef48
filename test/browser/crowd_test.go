//go:build e2e

package browser

import (
	"bufio"
	"context"
	"net/http"
	"sync"
	"testing"
)

// viewers is the number of clients of a page at once.
const viewers = 200

// TestManyViewers opens many pages: each of them is notified of one change, and all memory is
// released when they close.
func TestManyViewers(t *testing.T) {
	t.Parallel()
	d := serve(t, drifted(20).files(t), "20 findings")
	id := d.findings(t.Context(), t)[0].ID
	quiet := d.metric(t.Context(), "go_goroutines")
	var memory [2]float64
	// The first group allocates memory, the second one must not need more.
	for i := range memory {
		d.openStreams(t, id)
		var now float64
		if !eventually(t.Context(), func(ctx context.Context) bool {
			now = d.metric(ctx, "go_goroutines")
			return now <= quiet+20
		}) {
			t.Errorf("%v goroutines are left of %d viewers, there were %v", now, viewers, quiet)
		}
		memory[i] = d.metric(t.Context(), "process_resident_memory_bytes")
	}
	t.Logf("memory after one group %.0f MB, after another %.0f MB", memory[0]/1e6, memory[1]/1e6)
	if memory[1] > memory[0]+20e6 {
		t.Errorf("memory grew from %.0f to %.0f bytes by a second group", memory[0], memory[1])
	}
}

// openStreams opens the streams of many viewers, changes something, and waits until all of them
// are notified.
func (d *daemon) openStreams(t *testing.T, id string) {
	t.Helper()
	ctx, leave := context.WithTimeout(t.Context(), patience)
	defer leave()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	ready, notified := make(chan error, viewers), make(chan error, viewers)
	var group sync.WaitGroup
	defer group.Wait()
	defer leave()
	for range viewers {
		group.Go(func() { d.follow(ctx, transport, ready, notified) })
	}
	await := func(what string, done <-chan error) {
		t.Helper()
		for range viewers {
			select {
			case err := <-done:
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			case <-ctx.Done():
				t.Fatalf("%s: not all of %d in time", what, viewers)
			}
		}
	}
	await("open a stream", ready)
	d.decide(t, "acknowledge", id)
	await("notify of a change", notified)
}

// follow reads one stream: the first event is the present state, the second one the change.
func (d *daemon) follow(ctx context.Context, transport http.RoundTripper, ready, notified chan<- error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base+"/events", http.NoBody)
	if err != nil {
		ready <- err
		return
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		ready <- err
		return
	}
	defer func() { _ = answer.Body.Close() }()
	events := []chan<- error{ready, notified}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() && len(events) > 0 {
		if lines.Text() == "event: changed" {
			events[0] <- nil
			events = events[1:]
		}
	}
}
