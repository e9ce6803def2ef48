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

// A logFolder is a folder with an audit log, and a Log that reads it.
type logFolder struct {
	t      *testing.T
	path   string
	log    *Log
	logged *strings.Builder
}

func newLogFolder(t *testing.T) *logFolder {
	t.Helper()
	d := &logFolder{t: t, path: filepath.Join(t.TempDir(), "audit.log")}
	d.log, d.logged = newLog(t, d.path)
	return d
}

func (d *logFolder) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// append appends texts to a file in the folder of the log.
func (d *logFolder) append(name string, texts ...string) {
	d.t.Helper()
	f, err := os.OpenFile(filepath.Join(filepath.Dir(d.path), name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	d.must(err)
	_, err = f.WriteString(strings.Join(texts, ""))
	d.must(err)
	d.must(f.Close())
}

// date sets the modification time of a file, relative to noon.
func (d *logFolder) date(name string, after time.Duration) {
	d.t.Helper()
	d.must(os.Chtimes(filepath.Join(filepath.Dir(d.path), name), time.Time{}, noon().Add(after)))
}

func (d *logFolder) rename(from, to string) {
	d.t.Helper()
	folder := filepath.Dir(d.path)
	d.must(os.Rename(filepath.Join(folder, from), filepath.Join(folder, to)))
}

// expect reads the log and checks the recorded writes.
func (d *logFolder) expect(reason, want string) {
	d.t.Helper()
	d.log.Refresh(d.t.Context())
	if got := recorded(d.log); got != want {
		d.t.Errorf("%s: %q, want %q", reason, got, want)
	}
}

// line returns the line of an edit by alice, n seconds after noon.
func line(n int) string {
	return editAs(fmt.Sprint("e", n), "alice", time.Duration(n)*time.Second) + "\n"
}

func TestFileIsReadOn(t *testing.T) {
	t.Parallel()
	d := newLogFolder(t)
	d.append("audit.log", line(1), "\n", line(2))
	d.expect("first read", "e1 e2")
	d.expect("no new lines", "e1 e2")
	d.append("audit.log", line(3)[:100])
	d.expect("an incomplete line", "e1 e2")
	d.append("audit.log", line(3)[100:], line(4))
	d.expect("the rest of the line", "e1 e2 e3 e4")
	if d.logged.Len() > 0 {
		t.Errorf("unexpected log: %s", d.logged)
	}
}

func TestFileIsNotReadTwice(t *testing.T) {
	t.Parallel()
	d := newLogFolder(t)
	d.append("audit.log", line(1), line(2))
	lines := 0
	count := func([]byte) { lines++ }
	for range 3 {
		if _, err := d.log.file.read(t.Context(), noon(), count, func() {}); err != nil {
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
		rotate func(*logFolder)
	}{
		"renamed by the API server": {"the name has a time", func(d *logFolder) {
			d.append("audit.log", line(2))
			d.rename("audit.log", "audit-2026-03-01T12-00-01.000.log")
		}},
		"renamed by logrotate": {"the name has a number", func(d *logFolder) {
			d.append("audit.log", line(2))
			d.rename("audit.log", "audit.log.1")
		}},
		"twice": {"two rotations between two reads", func(d *logFolder) {
			d.append("audit.log", line(2)[:50])
			d.append("audit.log", line(2)[50:])
			d.rename("audit.log", "audit.log.2")
			d.append("audit.log.1", "")
		}},
		"truncated": {"copytruncate of logrotate", func(d *logFolder) {
			d.append("audit.log.1", line(1), line(2))
			d.must(os.Truncate(d.path, 0))
		}},
		"compressed": {"compressed without delay", func(d *logFolder) {
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
			d := newLogFolder(t)
			d.append("audit.log", line(1))
			d.expect("before", "e1")
			tt.rotate(d)
			d.append("audit.log", line(3))
			d.expect(tt.reason, "e1 e2 e3")
			d.append("audit.log", line(4))
			d.expect("after the rotation", "e1 e2 e3 e4")
		})
	}
}

// TestFileIsReplaced replaces the content of the log, in the same inode and with at least
// the same length.
func TestFileIsReplaced(t *testing.T) {
	t.Parallel()
	d := newLogFolder(t)
	d.append("audit.log", line(1))
	d.expect("before", "e1")
	d.must(os.Truncate(d.path, 0))
	d.append("audit.log", line(2), line(3))
	d.expect("truncated and grown", "e1 e2 e3")
}

func TestFileReadsRotatedFilesFirst(t *testing.T) {
	t.Parallel()
	d := newLogFolder(t)
	d.append("audit-2026-03-01T10-00-00.000.log", line(1))
	d.date("audit-2026-03-01T10-00-00.000.log", -2*time.Hour)
	d.append("audit.log.1", line(2))
	d.date("audit.log.1", -time.Hour)
	d.append("audit.log-20260228", line(8)) // older than Keep
	d.date("audit.log-20260228", -48*time.Hour)
	for _, name := range []string{"audit-policy.log", "audit.log.bak", "other.log", "audit.logs"} {
		d.append(name, line(9))
	}
	d.must(os.Symlink(d.path, d.path+".3"))
	d.append("audit.log", line(3))
	d.expect("recent rotated files of this log only", "e1 e2 e3")
}

func TestFileReadsTheNewestFirstTime(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		limit  int
		want   string
	}{
		"all":         {"the limit is high enough", 4 * len(line(1)), "e1 e2 e3 e4"},
		"half a line": {"an incomplete line is skipped", 2*len(line(1)) + len(line(1))/2, "e3 e4"},
		"one file":    {"only the end of the log is read", len(line(1)) + 10, "e4"},
		"one byte":    {"an incomplete line is skipped", 1, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newLogFolder(t)
			d.log.file.first = int64(tt.limit)
			d.append("audit.log.1", line(1), line(2))
			d.append("audit.log", line(3), line(4))
			d.expect(tt.reason, tt.want)
			d.append("audit.log", line(5))
			d.expect("new lines are read", strings.TrimSpace(tt.want+" e5"))
		})
	}
}

func TestFileStopsAndGoesOn(t *testing.T) {
	t.Parallel()
	d := newLogFolder(t)
	d.append("audit.log.1", line(1), line(2))
	d.append("audit.log", line(3), line(4))
	for range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := d.log.file.read(ctx, noon(), func(text []byte) {
			writes, err := Decode(text)
			d.must(err)
			d.log.record(writes)
			cancel()
		}, d.log.gapInFile)
		d.must(err)
	}
	if got := recorded(d.log); got != "e1 e2 e3 e4" {
		t.Errorf("read line by line: %q", got)
	}
}

// TestFileRotatesWhileItIsRead stops in the middle of an older file, and rotates the log
// before it continues.
func TestFileRotatesWhileItIsRead(t *testing.T) {
	t.Parallel()
	d := newLogFolder(t)
	d.append("audit.log.2", line(1), line(2))
	d.append("audit.log", line(3))
	ctx, cancel := context.WithCancel(t.Context())
	_, err := d.log.file.read(ctx, noon(), func([]byte) { cancel() }, d.log.gapInFile)
	d.must(err)
	d.rename("audit.log", "audit.log.1")
	d.append("audit.log", line(4))
	d.expect("all lines but the one that was read before", "e2 e3 e4")
}

func TestFileSkipsBrokenLines(t *testing.T) {
	t.Parallel()
	d := newLogFolder(t)
	long := `{"stage":"ResponseComplete","requestObject":"` + strings.Repeat("x", maxLine+1<<20) + "\"}\n"
	d.append("audit.log", line(1), `{"stage":"ResponseComplete","verb":"patch","auditID":"hunter2`+"\n", long, "plain words\n", line(2), long[:len(long)-10])
	d.expect("the valid lines", "e1 e2")
	if text := d.logged.String(); !strings.Contains(text, "broken=1 too_long=2") || strings.Contains(text, "hunter2") {
		t.Errorf("log %s, want the numbers of broken and long lines without their text", text)
	}
	d.append("audit.log", long[len(long)-10:], line(3))
	d.expect("after the end of a long line", "e1 e2 e3")
}

func TestFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	d := newLogFolder(t)
	d.expect("no file", "")
	if text := d.logged.String(); strings.Count(text, d.path) != 1 || !strings.Contains(text, "no such file") {
		t.Errorf("log %s, want the path once and the reason", text)
	}
	d.expect("still no file", "")
	if text := d.logged.String(); strings.Count(text, "\n") != 1 {
		t.Errorf("log %s, want one line", text)
	}
	d.append("audit.log", line(1))
	d.expect("the file was created", "e1")

	folder, logged := newLog(t, t.TempDir())
	folder.Refresh(t.Context())
	if !strings.Contains(logged.String(), "is not a regular file: set the file of the API server's --audit-log-path") {
		t.Errorf("log for a folder: %s", logged)
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

// TestCompressedFileIsReadInParts reads a compressed file in several calls: each line once,
// and then the log itself.
func TestCompressedFileIsReadInParts(t *testing.T) {
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
	seen, reads := map[string]int{}, 0
	for ; reads < 10 && seen["live"] == 0; reads++ {
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
		}, func() { t.Error("a gap") })
		cancel()
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != lines+1 || reads != 4 {
		t.Errorf("%d lines in %d reads, want %d in 4", len(seen), reads, lines+1)
	}
	for id, n := range seen {
		if n != 1 {
			t.Fatalf("%s was read %d times", id, n)
		}
	}
}

// TestFileBegins checks the time since which a log was read without a gap.
func TestFileBegins(t *testing.T) {
	t.Parallel()
	rotate := func(d *logFolder) { d.rename("audit.log", "audit.log.1") }
	tests := map[string]struct {
		reason string
		change func(*logFolder)
		// want is the number of the first line without a gap; 0 if there is none.
		want int
	}{
		"more lines": {"nothing is lost", func(d *logFolder) { d.append("audit.log", line(3)) }, 1},
		"renamed":    {"the rest is read under the new name", func(d *logFolder) { d.append("audit.log", line(3)); rotate(d); d.append("audit.log", line(4)) }, 1},
		"copied": {"the copy has all lines", func(d *logFolder) {
			d.append("audit.log.1", line(1), line(2), line(3))
			d.must(os.Truncate(d.path, 0))
			d.append("audit.log", line(4))
		}, 1},
		"removed":   {"the rest of the former log is lost", func(d *logFolder) { d.must(os.Remove(d.path)); d.append("audit.log", line(4)) }, 4},
		"truncated": {"the rest of the former log is lost", func(d *logFolder) { d.must(os.Truncate(d.path, 0)); d.append("audit.log", line(4), line(5)) }, 4},
		"another copy": {"the copy is of another log", func(d *logFolder) {
			d.append("audit.log.1", line(7), line(8), line(9))
			d.must(os.Truncate(d.path, 0))
			d.append("audit.log", line(4))
		}, 7},
		"cut":         {"the end of the rotated log is lost", func(d *logFolder) { d.append("audit.log", line(3)[:50]); rotate(d); d.append("audit.log", line(4)) }, 4},
		"broken line": {"the line may be that of a write", func(d *logFolder) { d.append("audit.log", `{"stage":"ResponseComplete","verb":"patch"`+"\n", line(4)) }, 4},
		"ends broken": {"no later line was read", func(d *logFolder) { d.append("audit.log", line(4), `{"stage":"ResponseComplete","verb":"patch"`+"\n") }, 0},
		"long line": {"the line may be that of a write", func(d *logFolder) {
			d.append("audit.log", strings.Repeat("x", maxLine+1)+"\n")
			d.log.Refresh(d.t.Context())
			d.append("audit.log", line(4))
		}, 4},
		"unreadable": {"the lines of a rotated file are lost", func(d *logFolder) {
			d.append("audit.log", line(3))
			rotate(d)
			d.append("audit.log.1.gz", "no gzip")
			d.append("audit.log", line(4))
		}, 4},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newLogFolder(t)
			d.append("audit.log", line(1), line(2))
			d.log.Refresh(t.Context())
			tt.change(d)
			d.log.Refresh(t.Context())
			want := noon().Add(time.Duration(tt.want)*time.Second + 4*time.Millisecond)
			if tt.want == 0 {
				want = time.Time{}
			}
			if got := d.log.begin(); !got.Equal(want) {
				t.Errorf("%s: the log begins at %v, want %v", tt.reason, got, want)
			}
		})
	}
}
