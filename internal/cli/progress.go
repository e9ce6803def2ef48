package cli

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/daemon"
)

// progress prints what is done and the elapsed time on a terminal, beginning after one second. The
// returned function ends it.
func (c *command) progress(what string) (stop func()) {
	return c.progressOf(func() string { return what })
}

// progressOf is progress with a text that changes.
func (c *command) progressOf(what func() string) (stop func()) {
	width, ok := terminalWidth(c.streams.Err)
	if !ok {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		started := time.Now()
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for shown := false; ; shown = true {
			select {
			case <-done:
				if shown {
					fmt.Fprint(c.streams.Err, "\r\x1b[K")
				}
				return
			case <-ticker.C:
				fmt.Fprintf(c.streams.Err, "\r%s\x1b[K", progressLine(what(), time.Since(started), width))
			}
		}
	}()
	return func() { close(done); <-ended }
}

// progressLine returns a text with the elapsed time, shortened to the width of the terminal: a line that wraps cannot be
// replaced.
func progressLine(what string, elapsed time.Duration, width int) string {
	after := " … " + elapsed.Round(time.Second).String()
	text := []rune(what)
	if most := width - 1 - len([]rune(after)); len(text) > most {
		text = text[:max(most, 0)]
	}
	return string(text) + after
}

// reads observes the reads of a scan.
type reads struct {
	daemon.NoObserver

	mu      sync.Mutex
	total   int
	waiting []string
}

// newReads returns an observer for one scan of everything.
func newReads(e *daemon.Estate) *reads {
	r := &reads{}
	for _, s := range e.Sources {
		r.waiting = append(r.waiting, "source "+s.Name)
	}
	for _, d := range e.Declarations {
		r.waiting = append(r.waiting, "declaration "+d.Name)
	}
	r.total = len(r.waiting)
	return r
}

// SourceScanned implements daemon.ReadObserver.
func (r *reads) SourceScanned(source string, _ time.Duration, _ error) { r.end("source " + source) }

// DeclarationLoaded implements daemon.ReadObserver.
func (r *reads) DeclarationLoaded(declaration string, _ error) { r.end("declaration " + declaration) }

func (r *reads) end(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = slices.DeleteFunc(r.waiting, func(w string) bool { return w == name })
}

// String returns the number of reads that have ended, and what is still read.
func (r *reads) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.waiting) == 0 {
		return "comparing"
	}
	return fmt.Sprintf("read %d of %d, reading %s", r.total-len(r.waiting), r.total, strings.Join(r.waiting, ", "))
}
