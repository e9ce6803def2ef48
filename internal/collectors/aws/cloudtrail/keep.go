package cloudtrail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/atomicfile"
)

// maxRecords bounds the kept events. The oldest are dropped.
const maxRecords = 20_000

// kept is the content of the file.
type kept struct {
	// Version is the version of the table: records of another one are read again.
	Version int
	Account Account
	Regions map[string]state
	// Records are sorted by time.
	Records []record
}

// version changes with the form of records and with the table.
const version = 1

// A state is how far the log of a region was read.
type state struct {
	// Since is the beginning of the first reading, Until the end of the last one.
	Since, Until time.Time
	// Gap is a time that was left out.
	Gap *span `json:",omitempty"`
}

// A span is a time between two moments.
type span struct{ From, To time.Time }

// add adds records, of which the newest are first, and drops those that are there. Records of
// one second keep the order of the log.
func (k *kept) add(found []record) {
	there := map[string]bool{}
	for i := range k.Records {
		there[k.Records[i].ID] = true
	}
	for _, r := range slices.Backward(found) {
		if !there[r.ID] {
			there[r.ID] = true
			k.Records = append(k.Records, r)
		}
	}
	slices.SortStableFunc(k.Records, func(a, b record) int { return a.At.Compare(b.At) })
}

// bound drops records that are too old or too many, and moves the beginning of the regions' logs.
func (k *kept) bound(now time.Time) {
	since := now.Add(-maxAge)
	k.Records = slices.DeleteFunc(k.Records, func(r record) bool { return r.At.Before(since) })
	if n := len(k.Records) - maxRecords; n > 0 {
		since = k.Records[n].At
		k.Records = slices.Delete(k.Records, 0, n)
	}
	for region, s := range k.Regions {
		if s.Since.Before(since) {
			s.Since = since
			k.Regions[region] = s
		}
	}
}

func (r *Reader) file() string {
	if r.env.CacheDir == "" {
		return ""
	}
	return filepath.Join(r.env.CacheDir, "cloudtrail.json")
}

// load reads the file once, and forgets what is of another account. A file that cannot be
// read is logged and ignored: its content is read again from the log.
func (r *Reader) load(ctx context.Context, account Account) {
	if r.kept.Regions == nil && r.file() != "" {
		text, err := os.ReadFile(r.file())
		if err == nil {
			err = json.Unmarshal(text, &r.kept)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.env.Log.LogAttrs(ctx, slog.LevelWarn, "kept events of CloudTrail not read", slog.Any("err", err))
			r.kept = kept{}
		}
	}
	if r.kept.Account != account || r.kept.Version != version || r.kept.Regions == nil {
		r.kept = kept{Version: version, Account: account, Regions: map[string]state{}}
	}
}

func (r *Reader) save() error {
	if r.file() == "" {
		return nil
	}
	text, err := json.Marshal(r.kept)
	if err != nil {
		return fmt.Errorf("encode events: %w", err)
	}
	return atomicfile.Write(r.file(), text)
}
