package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/server"
)

// A reader is the client of a stream: the data sent to it, and the deadlines set.
type reader struct {
	*httptest.ResponseRecorder
	mu    sync.Mutex
	sent  strings.Builder
	stuck bool
	write []time.Time
	read  []time.Time
}

func newReader() *reader { return &reader{ResponseRecorder: httptest.NewRecorder()} }

func (r *reader) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stuck {
		return 0, errors.New("i/o timeout")
	}
	return r.sent.Write(b)
}

func (r *reader) Flush() {}

func (r *reader) SetWriteDeadline(t time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write = append(r.write, t)
	return nil
}

func (r *reader) SetReadDeadline(t time.Time) error {
	r.read = append(r.read, t)
	return nil
}

func (r *reader) got() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent.String()
}

// streamed returns a site that only serves event streams.
func streamed() (*site, *people) {
	p := &people{}
	return &site{Options: Options{News: NewNews(), Log: quiet()}, guard: p, streams: make(chan struct{}, maxStreams)}, p
}

// open opens a stream; done is closed when it ends.
func open(ctx context.Context, s *site, r *reader) (done <-chan struct{}) {
	ended := make(chan struct{})
	request := httptest.NewRequestWithContext(access.With(ctx, visitor(access.Viewer)), http.MethodGet, "/events", http.NoBody)
	go func() {
		defer close(ended)
		s.events(r, request)
	}()
	return ended
}

func TestStreamTellsNews(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := streamed()
		ctx, cancel := context.WithCancel(t.Context())
		r := newReader()
		done := open(ctx, s, r)
		synctest.Wait()
		if !strings.HasSuffix(r.got(), "event: changed\nid: 0\ndata: 0\n\n") {
			t.Errorf("a page is not told what is known: %q", r.got())
		}
		for range 100 { // within a tenth of a second
			s.News.Notify()
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		if n := strings.Count(r.got(), "event: changed"); n != 2 || !strings.HasSuffix(r.got(), "id: 100\ndata: 100\n\n") {
			t.Errorf("100 news in a tenth of a second are told %d times: %q", n-1, r.got())
		}
		time.Sleep(time.Minute)
		if n := strings.Count(r.got(), ": heartbeat\n\n"); n != 3 {
			t.Errorf("%d signs of life in a minute, want 3", n)
		}
		if len(r.read) != 1 || !r.read[0].IsZero() {
			t.Errorf("the stream ends when nothing is read any more: %v", r.read)
		}
		if last := r.write[len(r.write)-1]; !last.IsZero() || len(r.write) < 8 {
			t.Errorf("writes have the deadlines %v", r.write)
		}
		cancel() // driftd stops, or the page is closed
		<-done
		if len(s.streams) != 0 {
			t.Error("a closed page counts as an open one")
		}
	})
}

func TestStreamEndsWithTheSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, people := streamed()
		r := newReader()
		done := open(t.Context(), s, r)
		synctest.Wait()
		people.leave()
		s.News.Notify()
		<-done
		if !strings.HasSuffix(r.got(), "event: logout\ndata: log in again\n\n") || strings.Contains(r.got(), "data: 1") {
			t.Errorf("who is logged out is told %q", r.got())
		}
	})
}

func TestStreamNoticesLogoutWithoutNews(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, people := streamed()
		r := newReader()
		began := time.Now()
		done := open(t.Context(), s, r)
		synctest.Wait()
		people.leave()
		<-done
		if took := time.Since(began); took > heartbeat {
			t.Errorf("the stream went on for %v", took)
		}
	})
}

func TestStuckReaderIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := streamed()
		r := newReader()
		done := open(t.Context(), s, r)
		synctest.Wait()
		r.mu.Lock()
		r.stuck = true
		r.mu.Unlock()
		s.News.Notify()
		<-done
		if len(s.streams) != 0 {
			t.Error("a stuck reader counts as an open page")
		}
	})
}

func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := streamed()
		ctx, cancel := context.WithCancel(t.Context())
		var all []<-chan struct{}
		for range maxStreams {
			all = append(all, open(ctx, s, newReader()))
		}
		synctest.Wait()
		r := httptest.NewRecorder()
		s.events(r, httptest.NewRequestWithContext(access.With(ctx, visitor(access.Viewer)), http.MethodGet, "/events", http.NoBody))
		if r.Code != http.StatusServiceUnavailable || r.Header().Get("Retry-After") == "" {
			t.Errorf("one stream more than there may be: %d", r.Code)
		}
		cancel()
		for _, done := range all {
			<-done
		}
	})
}

func TestIndexIsMadeAtMostOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		news, made := NewNews(), 0
		c := newCache(func(revision uint64) (*index, error) {
			made++
			time.Sleep(200 * time.Millisecond)
			return &index{revision: revision, built: time.Now()}, nil
		}, news, time.Now)
		get := func(fresh bool) *index {
			x, err := c.get(t.Context(), fresh)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		get(false)
		for range 100 {
			news.Notify()
			if x := get(false); time.Since(x.built) > pause {
				t.Fatalf("what is shown is %v old", time.Since(x.built))
			}
			time.Sleep(100 * time.Millisecond)
		}
		if made > 11 {
			t.Errorf("made %d times in 10 seconds", made)
		}
		news.Notify()
		wanted, _ := news.Now()
		if x := get(true); x.revision != wanted {
			t.Errorf("who wants it as it is now gets revision %d, want %d", x.revision, wanted)
		}
		before := made
		time.Sleep(longest - time.Second)
		if get(true); made != before {
			t.Error("made anew without news")
		}
		time.Sleep(time.Second)
		if get(true); made != before+1 {
			t.Error("not made anew after a long time without news")
		}
	})
}

// TestPanicsEndARequest verifies that a panic while building the index ends the request that needs
// it, and that the next request builds it.
func TestPanicsEndARequest(t *testing.T) {
	t.Parallel()
	breaks := true
	c := newCache(func(uint64) (*index, error) {
		each([]int{1, 2, 3}, func(_, n int) {
			if breaks && n == 2 {
				panic("a value that nobody foresaw")
			}
		})
		return &index{built: now()}, nil
	}, NewNews(), now)
	func() {
		defer func() {
			if cause := fmt.Sprint(recover()); !strings.Contains(cause, "nobody foresaw") || !strings.Contains(cause, "stream_test.go") {
				t.Errorf("the cause and its place are lost: %s", cause)
			}
		}()
		_, _ = c.get(t.Context(), true)
	}()
	breaks = false
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.get(ctx, true); err != nil {
		t.Errorf("%v after a request that broke", err)
	}
}

func TestHeadOpensNoStream(t *testing.T) {
	t.Parallel()
	s, _ := streamed()
	s.events(httptest.NewRecorder(), httptest.NewRequestWithContext(access.With(t.Context(), visitor(access.Viewer)), http.MethodHead, "/events", http.NoBody))
	if len(s.streams) != 0 {
		t.Error("a request for the header holds a stream")
	}
}

func TestIndexIsMadeAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fails := true
		c := newCache(func(uint64) (*index, error) {
			if fails {
				return nil, &server.Error{Status: http.StatusInternalServerError, Message: "the disk is gone"}
			}
			time.Sleep(pause)
			return &index{built: time.Now()}, nil
		}, NewNews(), time.Now)
		if _, err := c.get(t.Context(), false); err == nil {
			t.Error("no error although nothing could be read")
		}
		fails = false
		if _, err := c.get(t.Context(), false); err != nil {
			t.Errorf("%v although it can be read again", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		c.current.built = time.Now()
		c.news.Notify()
		if _, err := c.get(ended, true); !errors.Is(err, context.Canceled) {
			t.Errorf("%v for a visitor who is gone", err)
		}
	})
}
