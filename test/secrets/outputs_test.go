//go:build e2e

package secrets

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"go.etcd.io/bbolt"

	"github.com/driftd/driftd/internal/model"
)

// formats are the formats of reports.
func formats() []string {
	return []string{"table", "json", "markdown", "html", "sarif", "junit", "github", "gitlab", "comment"}
}

// everything checks each output of a running daemon, stops it, and checks the remaining files.
func (d *daemon) everything(r model.Report) {
	d.t.Helper()
	d.commands(r)
	d.pages(r)
	d.driftd("backup", d.path("backup.db"))
	d.temporary()
	d.stop()
	// Without a daemon the commands read the database themselves.
	for _, format := range formats() {
		d.driftd("report", "-o", format)
	}
	d.driftd("findings", "list", "--resolved")
	d.driftd("config", "check")
	d.files()
}

// commands runs each command that has output.
func (d *daemon) commands(r model.Report) {
	d.t.Helper()
	for _, format := range formats() {
		d.driftd("report", "-o", format)
	}
	for _, args := range [][]string{
		{"findings", "-o", "json"}, {"findings", "list"}, {"findings", "list", "-o", "wide"}, {"findings", "list", "-o", "yaml"}, {"findings", "list", "-o", "csv"},
		{"findings", "--hidden"}, {"findings", "--exempt"}, {"findings", "--not-judged"},
		{"status"}, {"status", "-o", "json"}, {"decisions"}, {"decisions", "-o", "json"}, {"accept", "--export"}, {"scorecard"}, {"scorecard", "-o", "json"}, {"actions"}, {"rules"}, {"audit", "list"},
		{"diff", "--from", "1h", "--to", "now"}, {"diff", "--from", "1h", "-o", "json"},
		{"sources", "test"}, {"notify", "test"}, {"config", "check"},
	} {
		d.driftd(args...)
	}
	// A process for each finding would take long: those of one verdict and kind have the same
	// format, and the pages include each.
	shown := map[string]int{}
	for _, f := range r.Findings {
		if kind := string(f.Verdict) + f.Kind; shown[kind] < 3 {
			shown[kind]++
			d.driftd("findings", "show", f.ID)
			d.driftd("suggest", f.ID)
			d.driftd("history", f.Key.String())
		}
	}
}

// pages requests all paths of the API, and the pages.
func (d *daemon) pages(r model.Report) {
	d.t.Helper()
	paths := []string{"/", "/timeline", "/sources", "/decisions", "/metrics", "/api/v1/report", "/api/v1/findings?limit=1000", "/api/v1/findings?resolved=true",
		"/api/v1/decisions", "/api/v1/runs", "/api/v1/exemptions", "/api/v1/preview", "/api/v1/status"}
	sources := map[string]bool{}
	for _, f := range r.Findings {
		paths = append(paths, "/findings/"+f.ID, "/api/v1/findings/"+f.ID, "/api/v1/findings/"+f.ID+"/suggestion", "/api/v1/history?key="+escapedKey(f.Key))
		sources[f.Source] = true
	}
	for source := range sources {
		paths = append(paths, "/api/v1/diff?from=1h&to=now&source="+source)
	}
	queue := make(chan string)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for path := range queue {
				body, err := d.get(path)
				if err != nil && !strings.Contains(err.Error(), "404") {
					d.t.Error(err)
				}
				d.check("GET "+general(path), body)
			}
		})
	}
	for _, path := range paths {
		queue <- path
	}
	close(queue)
	group.Wait()
}

func escapedKey(k model.Key) string {
	return strings.NewReplacer("[", "%5B", "]", "%5D", `"`, "%22", " ", "%20", "&", "%26", "+", "%2B").Replace(k.String())
}

// general returns the name of a page without its object.
func general(path string) string {
	path, _, _ = strings.Cut(path, "?")
	for _, prefix := range []string{"/findings/", "/api/v1/findings/"} {
		if strings.HasPrefix(path, prefix) {
			return prefix + "ID"
		}
	}
	return path
}

// temporary checks the folder for temporary files.
func (i *installation) temporary() {
	i.t.Helper()
	i.folder("temporary files", i.path("tmp"), func(string) bool { return true })
	i.folder("home", i.path("home"), func(string) bool { return true })
}

// files checks the state folder, the database and the backup. Clones of repositories are left
// out: they contain the secrets of the repositories.
func (i *installation) files() {
	i.t.Helper()
	i.temporary()
	i.folder("state folder", i.path("state"), func(path string) bool { return !strings.Contains(path, "/git/") })
	i.database("database", i.path("state/driftd.db"))
	i.database("backup", i.path("backup.db"))
}

// folder checks each regular file below a folder.
func (i *installation) folder(place, dir string, wanted func(path string) bool) {
	i.t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !wanted(path) {
			return err
		}
		content, err := os.ReadFile(path)
		i.check(place, content)
		i.check(place+" (a name)", []byte(path))
		return err
	})
	if err != nil {
		i.t.Error(err)
	}
}

// database checks each key and value of a database, and the content of compressed ones.
func (i *installation) database(place, path string) {
	i.t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		i.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		i.t.Fatal(err)
	}
	defer decoder.Close()
	frames := 0
	var walk func(b *bbolt.Bucket) error
	walk = func(b *bbolt.Bucket) error {
		return b.ForEach(func(key, value []byte) error {
			i.check(place, key)
			if value == nil {
				return walk(b.Bucket(key))
			}
			i.check(place, value)
			if content := unpacked(decoder, value); content != nil {
				frames++
				i.check(place, content)
			}
			return nil
		})
	}
	if err := db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error { return walk(b) })
	}); err != nil {
		i.t.Error(err)
	}
	if frames == 0 {
		i.t.Errorf("%s: nothing in %s is compressed: the test does not read what driftd writes", place, path)
	}
}

// unpacked returns the content of a compressed value, which ends with a checksum, or nil.
func unpacked(decoder *zstd.Decoder, value []byte) []byte {
	const (
		magic        = "\x28\xb5\x2f\xfd"
		checksumSize = 4
	)
	value = value[:max(0, len(value)-checksumSize)]
	for at := 0; ; at++ {
		next := strings.Index(string(value[at:]), magic)
		if next < 0 {
			return nil
		}
		at += next
		if content, err := decoder.DecodeAll(value[at:], nil); err == nil {
			return content
		}
	}
}
