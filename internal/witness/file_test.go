package witness_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/witness"
)

const (
	begin = "-----BEGIN DRIFTD AUDIT HEAD-----\n"
	end   = "-----END DRIFTD AUDIT HEAD-----\n"
)

func record(note string) string { return "\n" + begin + note + end }

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestFileForm(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "heads")
	log := newLog(t)
	a, b := log.add(), log.add()
	w := open(t, witness.Settings{File: path}, env())
	for _, h := range []audit.Head{a, b} {
		if err := w.Publish(t.Context(), h, false); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != record(string(a.Note))+record(string(b.Note)) {
		t.Errorf("error %v, content\n%s", err, got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if w.Name() != "the file "+path {
		t.Error(w.Name())
	}
}

// TestFileRecords checks what is read from files that crashes or people left.
func TestFileRecords(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	a, b := string(log.add().Note), string(log.add().Note)
	for name, test := range map[string]struct {
		reason, content string
		heads           int
		// errs are parts of the error, one a line.
		errs []string
		// unverified reports whether a record is not a head of the log.
		unverified bool
	}{
		"torn end":         {"a crash interrupted the last record", record(a) + record(b)[:60], 1, nil, false},
		"torn middle":      {"a crash interrupted a record, and another one follows", record(a)[:60] + record(b), 1, []string{"line 2: the record is not complete"}, false},
		"no break":         {"bytes without a line break precede a record", record(a) + "garbage" + record(b), 2, []string{"line 9: not a record"}, false},
		"begin":            {"a begin line precedes a record", begin + record(b), 1, []string{"line 1: the record is not complete"}, false},
		"end":              {"an end line without a record", end + record(b), 1, []string{"line 1: not a record"}, false},
		"several lines":    {"lines that follow each other are one error", "a\nb\nc\n" + record(b), 1, []string{"line 1: not a record"}, false},
		"windows":          {"an editor wrote carriage returns", strings.ReplaceAll(record(a), "-----\n", "-----\r\n"), 1, nil, false},
		"windows file":     {"a file system made the line ends those of Windows", strings.ReplaceAll(record(a)+record(b), "\n", "\r\n"), 2, nil, false},
		"edited":           {"the size was edited", record(strings.Replace(a, "\n1\n", "\n2\n", 1)) + record(b), 1, []string{"line 3: read head"}, true},
		"empty record":     {"a record without a note", record("") + record(b), 1, []string{"line 3: "}, true},
		"empty":            {"a file without records", "", 0, nil, false},
		"much garbage":     {"errors are bounded", strings.Repeat(record("x\n"), 30) + record(b), 1, append(make([]string, 20), "and 10 more"), true},
		"a note in a note": {"a record cannot contain another", record(a + a), 0, []string{"line 3: "}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "heads")
			appendTo(t, path, test.content)
			heads, err := open(t, witness.Settings{File: path}, env()).Heads(t.Context(), log.parse)
			if len(heads) != test.heads {
				t.Errorf("%s: %d heads, want %d", test.reason, len(heads), test.heads)
			}
			var lines []string
			if records := (*witness.RecordsError)(nil); errors.As(err, &records) {
				lines = strings.Split(err.Error(), "\n")
				if records.Unread || records.Unverified != test.unverified {
					t.Errorf("%s: %+v", test.reason, records)
				}
			}
			if len(lines) != len(test.errs) {
				t.Fatalf("%s: error %v, want %q", test.reason, err, test.errs)
			}
			for i, want := range test.errs {
				if !strings.Contains(lines[i], want) {
					t.Errorf("%s: error %q, want %q", test.reason, lines[i], want)
				}
			}
		})
	}
}

// TestFilePadded checks that bytes that follow heads, or lie between them, hide none.
func TestFilePadded(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	want := []audit.Head{log.add(), log.add()}
	first := record(string(want[0].Note))
	for name, padding := range map[string]string{
		"lines":               strings.Repeat("x\n", 5<<19),
		"a long line":         strings.Repeat("x", 5<<20),
		"a line of returns":   begin[:len(begin)-1] + strings.Repeat("\r", 5<<20),
		"empty lines":         strings.Repeat("\r\n", 5<<19),
		"heads of the log":    strings.Repeat(first, 5<<20/len(first)),
		"a record":            begin + strings.Repeat("x\n", 5<<19) + end,
		"a long line, begun":  "\n" + begin + strings.Repeat("x", 5<<20),
		"a cut begin line":    strings.Repeat("x", 64<<10-1) + "\n" + begin[:20],
		"a begin in a line":   strings.Repeat("x", 64<<10) + begin,
		"a record in a chunk": strings.Repeat("x", 64<<10) + strings.TrimPrefix(first, "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "heads")
			appendTo(t, path, first+padding)
			w := open(t, witness.Settings{File: path}, env())
			if err := w.Publish(t.Context(), want[1], true); err != nil {
				t.Fatal(err)
			}
			heads, err := w.Heads(t.Context(), log.parse)
			if diff := cmp.Diff(want, heads); diff != "" {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
			if records := (*witness.RecordsError)(nil); err != nil && (!errors.As(err, &records) || records.Unread || records.Unverified) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestFileLarge checks that only the end of a large file is read, and that the rest is named. A
// record that begins before the end is left out.
func TestFileLarge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "heads")
	log := newLog(t)
	a, b := log.add(), log.add()
	appendTo(t, path, record(string(a.Note)))
	// The hole between the records takes no space.
	if err := os.Truncate(path, 40<<20); err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, record(string(b.Note))+record("x\n"))
	heads, err := open(t, witness.Settings{File: path}, env()).Heads(t.Context(), log.parse)
	if len(heads) != 1 || heads[0].Size != b.Size {
		t.Errorf("heads %v", heads)
	}
	info, statErr := os.Stat(path)
	if statErr != nil {
		t.Fatal(statErr)
	}
	skipped := fmt.Sprintf("its first %d bytes were not read, and heads in them were not compared", info.Size()-32<<20)
	if records := (*witness.RecordsError)(nil); !errors.As(err, &records) || records.Older == "" || records.Unread || !records.Unverified || len(records.Problems) != 1 ||
		!strings.Contains(records.Older, skipped) || !strings.Contains(records.Problems[0], "in its last 32 MiB, line ") {
		t.Errorf("error %v, want %q", err, skipped)
	}
}

// TestFileEmptied checks that a file that had heads is not made anew.
func TestFileEmptied(t *testing.T) {
	t.Parallel()
	log := newLog(t)
	for name, empty := range map[string]func(path string) error{"removed": os.Remove, "emptied": func(path string) error { return os.Truncate(path, 0) }} {
		path := filepath.Join(t.TempDir(), "heads")
		w := open(t, witness.Settings{File: path}, env())
		h := log.add()
		err := errors.Join(w.Publish(t.Context(), h, false), w.Publish(t.Context(), h, true), empty(path))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Publish(t.Context(), h, true); err == nil || !strings.Contains(err.Error(), "it is missing or empty, and heads were sent to it before") {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			t.Errorf("%s: a head was written", name)
		}
		if heads, err := w.Heads(t.Context(), log.parse); len(heads) > 0 || err != nil {
			t.Errorf("%s: %v, %v", name, heads, err)
		}
		if err := w.Publish(t.Context(), h, false); err != nil {
			t.Errorf("%s: begun anew: %v", name, err)
		}
	}
}

func TestFileRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, shared, target := filepath.Join(dir, "pipe"), filepath.Join(dir, "shared"), filepath.Join(dir, "target")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	appendTo(t, target, "")
	link, own := filepath.Join(shared, "link"), filepath.Join(dir, "own")
	for _, l := range []string{link, own} {
		if err := os.Symlink(target, l); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(shared, 0o777|os.ModeSticky); err != nil { //nolint:gosec // what the test is about
		t.Fatal(err)
	}
	log := newLog(t)
	for path, want := range map[string]string{
		pipe: "not a regular file", "/dev/null": "not a regular file", dir: "not a regular file",
		link: "symbolic link in a folder that every user can write to", own: "",
		filepath.Join(dir, "no", "heads"): "no such file or directory",
	} {
		w := open(t, witness.Settings{File: path}, env())
		err := w.Publish(t.Context(), log.add(), false)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), "append to "+path+": ") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("publish to %s: %v, want %q", path, err, want)
		}
		if _, err := w.Heads(t.Context(), log.parse); want != "" && !strings.Contains(want, "no such") && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("heads of %s: %v, want %q", path, err, want)
		}
	}
}
