package bounded_test

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/driftd/driftd/internal/bounded"
)

var errBroken = errors.New("broken")

func TestReadAll(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		r      io.Reader
		want   string
		err    error
	}{
		{"nothing", strings.NewReader(""), "", nil},
		{"as much as the limit", strings.NewReader("1234"), "1234", nil},
		{"one byte more", strings.NewReader("12345"), "", bounded.ErrTooLarge},
		{"without an end", endless{}, "", bounded.ErrTooLarge},
		{"a failure", iotest.ErrReader(errBroken), "", errBroken},
	} {
		if got, err := bounded.ReadAll(tc.r, 4); string(got) != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: got %q, %v; want %q, %v", tc.reason, got, err, tc.want, tc.err)
		}
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestReadFile(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"small": {Data: []byte("1234")}, "large": {Data: []byte("12345")}}
	for _, tc := range []struct {
		name, want string
		err        error
	}{
		{"small", "1234", nil},
		{"large", "", bounded.ErrTooLarge},
		{"missing", "", fs.ErrNotExist},
	} {
		if got, err := bounded.ReadFile(files, tc.name, 4); string(got) != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: got %q, %v; want %q, %v", tc.name, got, err, tc.want, tc.err)
		}
	}
}
