//go:build e2e

package browser

import (
	"bufio"
	"context"
	"net/http"
	"sync"
	"testing"
)

// viewers is how many people look at once.
const viewers = 200

// TestManyViewers has many pages open: each of them is told of one change, and
// when they go nothing of them stays.
func TestManyViewers(t *testing.T) {
	t.Parallel()
	d := serve(t, drifted(20).files(t), "20 findings")
	id := d.findings(t.Context(), t)[0].ID
	quiet := d.metric(t.Context(), "go_goroutines")
	var memory [2]float64
	// The first crowd shows what one costs, the second that the next costs nothing.
	for i := range memory {
		d.crowd(t, id)
		var now float64
		if !eventually(t.Context(), func(ctx context.Context) bool {
			now = d.metric(ctx, "go_goroutines")
			return now <= quiet+20
		}) {
			t.Errorf("%v goroutines are left of %d viewers, there were %v", now, viewers, quiet)
		}
		memory[i] = d.metric(t.Context(), "process_resident_memory_bytes")
	}
	t.Logf("memory after one crowd %.0f MB, after another %.0f MB", memory[0]/1e6, memory[1]/1e6)
	if memory[1] > memory[0]+20e6 {
		t.Errorf("memory grew from %.0f to %.0f bytes by a second crowd", memory[0], memory[1])
	}
}

// crowd opens the streams of many viewers, changes something, and waits until all
// of them know.
func (d *daemon) crowd(t *testing.T, id string) {
	t.Helper()
	ctx, leave := context.WithTimeout(t.Context(), patience)
	defer leave()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	ready, told := make(chan error, viewers), make(chan error, viewers)
	var group sync.WaitGroup
	defer group.Wait()
	defer leave()
	for range viewers {
		group.Go(func() { d.follow(ctx, transport, ready, told) })
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
	await("tell of a change", told)
}

// follow reads one stream: the first news is what is known, the second what
// changed.
func (d *daemon) follow(ctx context.Context, transport http.RoundTripper, ready, told chan<- error) {
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
	news := []chan<- error{ready, told}
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() && len(news) > 0 {
		if lines.Text() == "event: changed" {
			news[0] <- nil
			news = news[1:]
		}
	}
}
