package witness_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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
		if err := w.Publish(t.Context(), h); err != nil {
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
	}{
		"torn end":         {"a crash interrupted the last record", record(a) + record(b)[:60], 1, nil},
		"torn middle":      {"a crash interrupted a record, and another one follows", record(a)[:60] + record(b), 1, []string{"line 2: the record is not complete"}},
		"no break":         {"bytes without a line break precede a record", record(a) + "garbage" + record(b), 2, []string{"line 9: not a record"}},
		"begin":            {"a begin line precedes a record", begin + record(b), 1, []string{"line 1: the record is not complete"}},
		"end":              {"an end line without a record", end + record(b), 1, []string{"line 1: not a record"}},
		"several lines":    {"lines that follow each other are one error", "a\nb\nc\n" + record(b), 1, []string{"line 1: not a record"}},
		"windows":          {"an editor wrote carriage returns", strings.ReplaceAll(record(a), "-----\n", "-----\r\n"), 1, nil},
		"edited":           {"the size was edited", record(strings.Replace(a, "\n1\n", "\n2\n", 1)) + record(b), 1, []string{"line 3: read head"}},
		"empty record":     {"a record without a note", record("") + record(b), 1, []string{"line 3: "}},
		"empty":            {"a file without records", "", 0, nil},
		"much garbage":     {"errors are bounded", strings.Repeat(record("x\n"), 30) + record(b), 1, append(make([]string, 20), "and 10 more")},
		"a note in a note": {"a record cannot contain another", record(a + a), 0, []string{"line 3: "}},
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
			if err != nil {
				lines = strings.Split(err.Error(), "\n")
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

// TestFileLarge checks that only the end of a large file is read, and that a record which begins
// before it is left out.
func TestFileLarge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "heads")
	log := newLog(t)
	h := log.add()
	one := record(string(h.Note))
	appendTo(t, path, strings.Repeat(one, 6<<20/len(one)))
	appendTo(t, path, record("x\n"))
	heads, err := open(t, witness.Settings{File: path}, env()).Heads(t.Context(), log.parse)
	if want := (4<<20 - len(record("x\n"))) / len(one); len(heads) != want {
		t.Errorf("%d heads, want %d", len(heads), want)
	}
	if err == nil || strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), "in its last 4 MiB, line ") {
		t.Errorf("error %v", err)
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
		err := w.Publish(t.Context(), log.add())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), "append to "+path+": ") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("publish to %s: %v, want %q", path, err, want)
		}
		if _, err := w.Heads(t.Context(), log.parse); want != "" && !strings.Contains(want, "no such") && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("heads of %s: %v, want %q", path, err, want)
		}
	}
}
