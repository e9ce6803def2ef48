package audit

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A desk is a folder with an audit log, and what is known of it.
type desk struct {
	t    *testing.T
	path string
	log  *Log
	said *strings.Builder
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, path: filepath.Join(t.TempDir(), "audit.log")}
	d.log, d.said = newLog(t, d.path)
	return d
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// append writes texts to a file beside the log, or to the log itself.
func (d *desk) append(name string, texts ...string) {
	d.t.Helper()
	f, err := os.OpenFile(filepath.Join(filepath.Dir(d.path), name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	d.must(err)
	_, err = f.WriteString(strings.Join(texts, ""))
	d.must(err)
	d.must(f.Close())
}

// date sets when a file was last written to, after noon.
func (d *desk) date(name string, after time.Duration) {
	d.t.Helper()
	d.must(os.Chtimes(filepath.Join(filepath.Dir(d.path), name), time.Time{}, noon().Add(after)))
}

func (d *desk) rename(from, to string) {
	d.t.Helper()
	folder := filepath.Dir(d.path)
	d.must(os.Rename(filepath.Join(folder, from), filepath.Join(folder, to)))
}

// knows reads the log and checks which writes are known then.
func (d *desk) knows(reason, want string) {
	d.t.Helper()
	d.log.Refresh(d.t.Context())
	if got := known(d.log); got != want {
		d.t.Errorf("%s: %q, want %q", reason, got, want)
	}
}

// line is alice's edit, some seconds after noon.
func line(n int) string {
	return editAs(fmt.Sprint("e", n), "alice", time.Duration(n)*time.Second) + "\n"
}

func TestFileIsReadOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.append("audit.log", line(1), "\n", line(2))
	d.knows("what is there", "e1 e2")
	d.knows("nothing came", "e1 e2")
	d.append("audit.log", line(3)[:100])
	d.knows("half a line is none", "e1 e2")
	d.append("audit.log", line(3)[100:], line(4))
	d.knows("its end makes it one", "e1 e2 e3 e4")
	if d.said.Len() > 0 {
		t.Errorf("nothing is wrong, and it says: %s", d.said)
	}
}

func TestFileIsNotReadTwice(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.append("audit.log", line(1), line(2))
	lines := 0
	count := func([]byte) { lines++ }
	for range 3 {
		if _, err := d.log.file.read(t.Context(), noon(), count); err != nil {
			t.Fatal(err)
		}
	}
	if lines != 2 {
		t.Errorf("%d lines were read, want 2", lines)
	}
}

func TestFileOutlivesRotation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		rotate func(*desk)
	}{
		"renamed": {"as the API server does it", func(d *desk) {
			d.append("audit.log", line(2))
			d.rename("audit.log", "audit-2026-03-01T12-00-01.000.log")
		}},
		"by logrotate": {"with a number", func(d *desk) {
			d.append("audit.log", line(2))
			d.rename("audit.log", "audit.log.1")
		}},
		"twice": {"while nobody looked", func(d *desk) {
			d.append("audit.log", line(2)[:50])
			d.append("audit.log", line(2)[50:])
			d.rename("audit.log", "audit.log.2")
			d.append("audit.log.1", "")
		}},
		"truncated": {"after it was copied", func(d *desk) {
			d.append("audit.log.1", line(1), line(2))
			d.must(os.Truncate(d.path, 0))
		}},
		"compressed": {"at once", func(d *desk) {
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			_, err := w.Write([]byte(line(1) + line(2)))
			d.must(err)
			d.must(w.Close())
			d.append("audit-2026-03-01T12-00-01.000.log.gz", z.String())
			d.must(os.Remove(d.path))
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.append("audit.log", line(1))
			d.knows("before", "e1")
			tt.rotate(d)
			d.append("audit.log", line(3))
			d.knows(tt.reason, "e1 e2 e3")
			d.append("audit.log", line(4))
			d.knows("and after", "e1 e2 e3 e4")
		})
	}
}

// TestFileIsAnother has a file of the same name, and at least the same length,
// take the log's place in its very inode.
func TestFileIsAnother(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.append("audit.log", line(1))
	d.knows("before", "e1")
	d.must(os.Truncate(d.path, 0))
	d.append("audit.log", line(2), line(3))
	d.knows("truncated and grown", "e1 e2 e3")
}

func TestFileBeginsWithWhatWasRotated(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.append("audit-2026-03-01T10-00-00.000.log", line(1))
	d.date("audit-2026-03-01T10-00-00.000.log", -2*time.Hour)
	d.append("audit.log.1", line(2))
	d.date("audit.log.1", -time.Hour)
	d.append("audit.log-20260228", line(8)) // before what is remembered
	d.date("audit.log-20260228", -48*time.Hour)
	for _, name := range []string{"audit-policy.log", "audit.log.bak", "other.log", "audit.logs"} {
		d.append(name, line(9))
	}
	d.must(os.Symlink(d.path, d.path+".3"))
	d.append("audit.log", line(3))
	d.knows("the log's own past, as far as it counts", "e1 e2 e3")
}

func TestFileReadsTheNewestFirstTime(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		limit  int
		want   string
	}{
		"all":         {"there is room", 4 * len(line(1)), "e1 e2 e3 e4"},
		"half a line": {"a line that is cut is none", 2*len(line(1)) + len(line(1))/2, "e3 e4"},
		"one file":    {"the end of it", len(line(1)) + 10, "e4"},
		"one byte":    {"a line that is not whole is none", 1, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.log.file.first = int64(tt.limit)
			d.append("audit.log.1", line(1), line(2))
			d.append("audit.log", line(3), line(4))
			d.knows(tt.reason, tt.want)
			d.append("audit.log", line(5))
			d.knows("what comes is read", strings.TrimSpace(tt.want+" e5"))
		})
	}
}

func TestFileStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.append("audit.log.1", line(1), line(2))
	d.append("audit.log", line(3), line(4))
	for range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := d.log.file.read(ctx, noon(), func(text []byte) {
			writes, err := Decode(text)
			d.must(err)
			d.log.note(writes)
			cancel()
		})
		d.must(err)
	}
	if got := known(d.log); got != "e1 e2 e3 e4" {
		t.Errorf("read line by line: %q", got)
	}
}

// TestFileRotatesWhileItIsRead stops in the middle of an older file, and has the
// log turned over before it goes on.
func TestFileRotatesWhileItIsRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.append("audit.log.2", line(1), line(2))
	d.append("audit.log", line(3))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := d.log.file.read(ctx, noon(), func([]byte) { cancel() })
	d.must(err)
	d.rename("audit.log", "audit.log.1")
	d.append("audit.log", line(4))
	d.knows("nothing but what was handed over is left out", "e2 e3 e4")
}

func TestFileLeavesOutWhatIsBroken(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	long := `{"stage":"ResponseComplete","requestObject":"` + strings.Repeat("x", maxLine+1<<20) + "\"}\n"
	d.append("audit.log", line(1), `{"stage":"ResponseComplete","verb":"patch","auditID":"hunter2`+"\n", long, "plain words\n", line(2), long[:len(long)-10])
	d.knows("the rest counts", "e1 e2")
	if text := d.said.String(); !strings.Contains(text, "broken=1 too_long=2") || strings.Contains(text, "hunter2") {
		t.Errorf("the log counts and quotes nothing: %s", text)
	}
	d.append("audit.log", long[len(long)-10:], line(3))
	d.knows("and after a line that was too long", "e1 e2 e3")
}

func TestFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.knows("there is none yet", "")
	if text := d.said.String(); strings.Count(text, d.path) != 1 || !strings.Contains(text, "no such file") {
		t.Errorf("the log says which and why: %s", text)
	}
	d.knows("nor later", "")
	if text := d.said.String(); strings.Count(text, "\n") != 1 {
		t.Errorf("it is said once: %s", text)
	}
	d.append("audit.log", line(1))
	d.knows("it came", "e1")

	folder, said := newLog(t, t.TempDir())
	folder.Refresh(t.Context())
	if !strings.Contains(said.String(), "is no file: name the file of --audit-log-path") {
		t.Errorf("of a folder it says: %s", said)
	}
}

func BenchmarkRefresh(b *testing.B) {
	path := filepath.Join(b.TempDir(), "audit.log")
	var text strings.Builder
	for i := range 20_000 {
		text.WriteString(editAs(fmt.Sprint("e", i), "alice", time.Duration(i)*time.Millisecond) + "\n")
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		l := New(Options{Path: path, Keep: 24 * time.Hour, Wanted: func(Resource) bool { return true }, Now: noon})
		l.Refresh(b.Context())
	}
}

// A compressed file that takes longer than there is time for is read on where it
// was left, each line once, and then the log itself.
func TestCompressedFileIsReadOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	const lines = 2000
	for i := range lines {
		if _, err := fmt.Fprintln(z, editAs(fmt.Sprint("old-", i), "bob", 0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{path + ".1.gz": packed.Bytes(), path: []byte(editAs("live", "alice", 0) + "\n")} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := &file{path: path, keep: 24 * time.Hour, first: maxFirst}
	seen, looks := map[string]int{}, 0
	for ; looks < 10 && seen["live"] == 0; looks++ {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		_, err := f.read(ctx, time.Now(), func(line []byte) {
			writes, err := Decode(line)
			if err != nil || len(writes) != 1 {
				t.Fatalf("%d writes, %v", len(writes), err)
			}
			seen[writes[0].ID]++
			if n++; n == lines/3 {
				cancel()
			}
		})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != lines+1 || looks != 4 {
		t.Errorf("%d lines in %d looks, want %d in 4", len(seen), looks, lines+1)
	}
	for id, n := range seen {
		if n != 1 {
			t.Fatalf("%s was read %d times", id, n)
		}
	}
}
