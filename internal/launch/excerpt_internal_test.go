package launch

import (
	"bytes"
	"strings"
	"testing"
)

func TestExcerpt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		limit  int
		writes []string
		want   string
	}{
		"nothing":        {10, nil, ""},
		"all":            {10, []string{"12345", "67890"}, "1234567890"},
		"whole lines":    {16, []string{"first\nsecret-", "secret-secret", "-secret\nlast\n"}, "first\n…\nlast\n"},
		"one long line":  {8, []string{strings.Repeat("x", 100)}, "…\n"},
		"many, one each": {8, strings.Split(strings.Repeat("a\n", 50), ""), "a\na\n…\na\n"},
	}
	for name, tt := range tests {
		e := &excerpt{limit: tt.limit}
		for _, w := range tt.writes {
			if n, err := e.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("%s: wrote %d, %v", name, n, err)
			}
		}
		if got := e.String(); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestExcerptIsSmall writes a hundred megabytes in one line.
func TestExcerptIsSmall(t *testing.T) {
	t.Parallel()
	e := &excerpt{limit: 1 << 10}
	for range 100 {
		if _, err := e.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if size := cap(e.head) + cap(e.tail); size > 16<<10 {
		t.Errorf("keeps %d bytes", size)
	}
}

func TestLineFilter(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]string{
		5: "a\nbc\n\nd\n12345\nend",
		0: "a\nbc\n\ntoo long still\nd\n12345\n123456\nend",
	} {
		var got bytes.Buffer
		f := &lineFilter{limit: limit, w: &got}
		for _, w := range []string{"a\nb", "c\n\n", "too long", " still\nd\n", "12345\n123456\n", "end"} {
			if n, err := f.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("wrote %d, %v", n, err)
			}
		}
		if err := f.end(); err != nil || got.String() != want {
			t.Errorf("limit %d: got %q, %v, want %q", limit, got.String(), err, want)
		}
	}
}
