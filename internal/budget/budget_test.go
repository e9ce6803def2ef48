package budget_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/decode"
)

// count returns the memory in bytes that a read of a text counts.
func count(t *testing.T, text string, size int) int64 {
	t.Helper()
	low, high := int64(0), int64(1)<<40
	for low < high {
		limit := (low + high) / 2
		if read(t, text, size, limit) == nil {
			high = limit
		} else {
			low = limit + 1
		}
	}
	return low
}

// read reads a text in parts of a size as one read with a limit.
func read(t *testing.T, text string, size int, limit int64) error {
	t.Helper()
	ctx := budget.NewTotal(1<<50).Scope(t.Context(), limit)
	_, err := budget.Run(ctx, func(ctx context.Context) (int64, error) {
		return io.CopyBuffer(struct{ io.Writer }{io.Discard}, budget.Reader(ctx, struct{ io.Reader }{strings.NewReader(text)}), make([]byte, size))
	})
	return err
}

// TestReaderSplit holds that a text costs the same however it arrives.
func TestReaderSplit(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"a":[1,2,{"b":"x,y,{[\"\\"}],"c":"\\\\","d":"é\u0022,"}`,
		" \n\t[{},{}]",
		"<a><b>x</b></a>",
		"plain, text {with} [marks]",
		"\ufeff{\"a\":1}",
		"",
	} {
		whole := count(t, text, 1<<20)
		for _, size := range []int{2, 3, 7} {
			if got := count(t, text, size); got != whole {
				t.Errorf("%q in parts of %d bytes costs %d, whole %d", text, size, got, whole)
			}
		}
	}
}

// TestReaderStrings holds that a string costs by its length, and by what a document in it
// may hold.
func TestReaderStrings(t *testing.T) {
	t.Parallel()
	in := func(s string) int64 { return count(t, `{"a":"`+s+`"}`, 64) }
	plain := in(strings.Repeat("x", 100))
	if got := in(strings.Repeat(`}]:\"`, 20)); got != plain {
		t.Errorf("marks that hold nothing cost %d, letters %d", got, plain)
	}
	if got := in(strings.Repeat(`[{,x\"`, 20)); got < plain+60*100 {
		t.Errorf("a document costs %d, letters %d", got, plain)
	}
}

// large is about what a struct of an SDK may be.
type large struct {
	A, B, C, D, E, F, G, H string
	I, J, K, L             *int
	M, N                   map[string]string
	O, P                   []string
}

// TestCost holds that what decoding a text takes is counted.
//
//nolint:paralleltest // memory is measured for the whole process
func TestCost(t *testing.T) {
	const n = 50_000
	repeat := func(s string) string { return "[" + strings.TrimSuffix(strings.Repeat(s+",", n), ",") + "]" }
	values := func(text []byte) (any, error) { return decode.JSON(text) }
	plain := func(text []byte) (v any, err error) { return v, json.Unmarshal(text, &v) }
	structs := func(text []byte) (any, error) {
		var v []large
		return v, json.Unmarshal(text, &v)
	}
	elements := func(text []byte) (any, error) {
		var v struct {
			Items []large `xml:"i"`
		}
		return v, xml.Unmarshal(text, &v)
	}
	within := func(text []byte) (any, error) {
		var outer string
		if err := json.Unmarshal(text, &outer); err != nil {
			return nil, err
		}
		return decode.JSON([]byte(outer))
	}
	attributes := func(text []byte) (any, error) {
		d := xml.NewDecoder(bytes.NewReader(text))
		for {
			if token, err := d.Token(); err != nil {
				return nil, err
			} else if start, ok := token.(xml.StartElement); ok {
				return start, nil
			}
		}
	}
	yaml := func(text []byte) (any, error) {
		documents, err := decode.YAML(bytes.NewReader(text))
		return documents, err
	}
	var keys strings.Builder
	for i := range n {
		fmt.Fprintf(&keys, `,"k%d":%d`, i, i)
	}
	for _, tc := range []struct {
		name   string
		text   string
		decode func([]byte) (any, error)
	}{
		{"empty maps", repeat("{}"), values},
		{"empty maps as any", repeat("{}"), plain},
		{"empty maps as structs", repeat("{}"), structs},
		{"nulls as structs", repeat("null"), structs},
		{"empty lists", repeat("[]"), values},
		{"empty lists as any", repeat("[]"), plain},
		{"digits", repeat("1"), values},
		{"digits as any", repeat("1"), plain},
		{"exponents", repeat("1E308"), values},
		{"empty strings", repeat(`""`), values},
		{"small maps", repeat(`{"a":1}`), values},
		{"small maps as any", repeat(`{"a":1}`), plain},
		{"keys", "{" + keys.String()[1:] + "}", values},
		{"keys as any", "{" + keys.String()[1:] + "}", plain},
		{"long strings", repeat(`"` + strings.Repeat("x", 200) + `"`), values},
		{"escapes", repeat(`"` + strings.Repeat(`\u00e9`, 20) + `"`), values},
		{"nested", repeat(strings.Repeat("[", 50) + strings.Repeat("]", 50)), values},
		{"objects", repeat(`{"id":17,"name":"web-17","display":"web-17","tags":[],"custom_fields":{"owner":null},"site":{"id":1,"slug":"a"}}`), values},
		{"maps in a string", strconv.Quote(repeat("{}")), within},
		{"digits in a string", strconv.Quote(repeat("1")), within},
		{"small maps in a string", strconv.Quote(repeat(`{"a":1}`)), within},
		{"escaped maps in a string", `"[` + strings.Repeat(`\u007b\u007d\u002c`, n) + `{}]"`, within},
		{"XML attributes", "<l " + strings.Repeat(`a="" `, n) + "/>", attributes},
		{"XML elements after a letter", "x<l>" + strings.Repeat("<i/>", n) + "</l>", elements},
		{"YAML items", strings.Repeat("- a\n", n), yaml},
		{"YAML keys", strings.NewReplacer(",", "\n", `":`, `": `).Replace(keys.String()[1:]), yaml},
		{"YAML in one line", strings.Repeat("- ", 150) + "a\n", yaml},
		{"XML elements", "<l>" + strings.Repeat("<i/>", n) + "</l>", elements},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := []byte(tc.text)
			kept := heldBy(func() any {
				v, err := tc.decode(bytes.Clone(text))
				if err != nil {
					t.Fatal(err)
				}
				return v
			})
			if read(t, tc.text, 32<<10, kept-1) == nil {
				t.Errorf("%d bytes are kept for %d bytes of text, and fewer counted", kept, len(text))
			}
		})
	}
}

// heldBy returns how many bytes of memory the result of f holds.
func heldBy(f func() any) int64 {
	var before, after runtime.MemStats
	collect()
	runtime.ReadMemStats(&before)
	v := f()
	collect()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(v)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// collect frees what is not held. A sync.Pool holds its objects until the second collection.
func collect() {
	runtime.GC()
	runtime.GC()
}

// take runs a read that takes n bytes.
func take(ctx context.Context, n int64) error {
	_, err := budget.Run(ctx, func(ctx context.Context) (int, error) { return 0, budget.Take(ctx, n) })
	return err
}

// TestLimit checks that a read over its limit is an error even if it returns none, and that its context ends.
func TestLimit(t *testing.T) {
	t.Parallel()
	total := budget.NewTotal(1000)
	ctx := total.Scope(t.Context(), 100)
	runs := 0
	_, err := budget.Run(ctx, func(ctx context.Context) (int, error) {
		runs++
		if err := budget.Take(ctx, 100); err != nil {
			t.Errorf("within the limit: %v", err)
		}
		if err := budget.Take(ctx, 1); err == nil {
			t.Error("beyond the limit there is no error")
		}
		if _, err := budget.Reader(ctx, strings.NewReader("x")).Read(make([]byte, 1)); err == nil {
			t.Error("the read continues")
		}
		if ctx.Err() == nil {
			t.Error("the context goes on")
		}
		return 1, nil
	})
	exceeded, ok := errors.AsType[*budget.Exceeded](err)
	if !ok || exceeded.Shared || !strings.Contains(err.Error(), "max_memory") || runs != 1 {
		t.Errorf("error %v after %d runs, want one about max_memory after one", err, runs)
	}
	if err := take(ctx, 100); err != nil {
		t.Errorf("the next read: %v", err)
	}
}

// TestPart holds that of a part only what it keeps counts, which may be more than it took.
func TestPart(t *testing.T) {
	t.Parallel()
	ctx := budget.NewTotal(1000).Scope(t.Context(), 100)
	_, err := budget.Run(ctx, func(ctx context.Context) (int, error) {
		for range 7 {
			within, end := budget.Part(ctx)
			if err := budget.Take(within, 30); err != nil {
				return 0, err
			}
			end(10)
			end(0) // nothing was taken since
		}
		within, end := budget.Part(ctx)
		if err := budget.Take(within, 10); err != nil {
			return 0, err
		}
		end(30)
		if ctx.Err() != nil {
			t.Error("7 parts that keep 10 of 30, and one that keeps 30 of 10, are too much")
		}
		within, end = budget.Part(ctx)
		end(1)
		if within.Err() == nil {
			t.Error("one more is not too much")
		}
		return 0, nil
	})
	if _, ok := errors.AsType[*budget.Exceeded](err); !ok {
		t.Errorf("error %v", err)
	}
}

// TestTotal checks that the largest read ends if all together need too much, and that it is tried again.
func TestTotal(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		kept   int64
		second int64
		fails  bool
	}{
		{"alone it fits", 0, 60, false},
		{"alone it does not fit either", 50, 60, true},
		{"it needs less", 50, 40, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			total := budget.NewTotal(100)
			total.Keep("other", 1000)
			total.Keep("other", tc.kept)
			ctx := total.Scope(t.Context(), 90)
			took, ended := make(chan bool), make(chan bool)
			small := make(chan error, 1)
			go func() {
				_, err := budget.Run(ctx, func(ctx context.Context) (int, error) {
					<-took
					err := budget.Take(ctx, 45)
					<-ended
					return 0, err
				})
				small <- err
			}()
			runs := 0
			_, err := budget.Run(ctx, func(ctx context.Context) (int, error) {
				if runs++; runs == 2 {
					return 0, budget.Take(ctx, tc.second)
				}
				if err := budget.Take(ctx, min(90, 100-tc.kept)); err != nil {
					t.Errorf("first: %v", err)
				}
				took <- true
				<-ctx.Done()
				close(ended)
				if err := <-small; err != nil {
					t.Errorf("the small one: %v", err)
				}
				return 0, ctx.Err()
			})
			exceeded, ok := errors.AsType[*budget.Exceeded](err)
			if ok != tc.fails || ok && !exceeded.Shared || runs != 2 {
				t.Errorf("the largest: %v after %d runs", err, runs)
			}
		})
	}
}

// TestPreference checks that a read that is tried again continues while small ones run, that another one ends if both
// need too much, and that the other one is tried again soon.
func TestPreference(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		lasts time.Duration
		fails bool
	}{
		{"short", time.Second, false},
		{"longer than anybody waits", 10 * time.Minute, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx := budget.NewTotal(100).Scope(t.Context(), 90)
				begin := time.Now()
				run := func(first, then int64, done chan<- error) {
					runs := 0
					_, err := budget.Run(ctx, func(ctx context.Context) (int, error) {
						if runs++; runs == 2 {
							err := budget.Take(ctx, then)
							time.Sleep(tc.lasts)
							return 0, err
						}
						_ = budget.Take(ctx, first)
						<-ctx.Done()
						return 0, ctx.Err()
					})
					done <- err
				}
				large, other := make(chan error, 1), make(chan error, 1)
				go run(40, 40, other)
				synctest.Wait()
				go run(70, 80, large) // ends at first, and the other one when it is tried again
				synctest.Wait()
				if err := take(ctx, 10); err != nil || time.Since(begin) > 0 {
					t.Errorf("a small one: error %v after %s", err, time.Since(begin))
				}
				exceeded, ok := errors.AsType[*budget.Exceeded](<-other)
				if ok != tc.fails || ok && !exceeded.Shared || time.Since(begin) > 2*time.Minute {
					t.Errorf("the other one: error %v after %s", exceeded, time.Since(begin))
				}
				if err := <-large; err != nil {
					t.Errorf("the large one: %v", err)
				}
			})
		})
	}
}

// TestLeftBehind checks that a read that continues after its end takes no memory.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	total := budget.NewTotal(100)
	ctx := total.Scope(t.Context(), 100)
	type part struct {
		context.Context

		end func(int64)
	}
	left, err := budget.Run(ctx, func(ctx context.Context) (part, error) {
		within, end := budget.Part(ctx)
		return part{within, end}, budget.Take(within, 50)
	})
	if err != nil {
		t.Fatal(err)
	}
	left.end(0)
	if err := budget.Take(left, 1); err == nil {
		t.Error("it still takes memory")
	}
	if err := take(ctx, 100); err != nil {
		t.Errorf("the next read: %v", err)
	}
}

// TestNoScope holds that nothing is counted without a scope.
func TestNoScope(t *testing.T) {
	t.Parallel()
	if err := take(t.Context(), 1<<60); err != nil {
		t.Error(err)
	}
	var none *budget.Total
	none.Keep("x", 1)
	if err := take(none.Scope(t.Context(), 1), 1<<60); err != nil {
		t.Error(err)
	}
}
