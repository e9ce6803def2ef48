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
	"github.com/driftd/driftd/internal/model"
)

const (
	// maxRecords bounds the kept events. Those that only a copy has are dropped first, then the
	// oldest: others may be able to add events to a copy.
	maxRecords = 20_000
	// maxKept bounds the size of the kept events in the same way, in bytes.
	maxKept = 32 << 20
)

// kept is the content of the file.
type kept struct {
	// Version is the version of the table: records of another one are read again.
	Version int
	Account Account
	Regions map[string]state
	Trail   trailState
	Queue   queueState
	// Records are sorted by time.
	Records []record
}

// version changes with the form of records and with the table.
const version = 2

// A state is how far the log of a region was read.
type state struct {
	// Since is the beginning of the first reading, Until the end of the last one.
	Since, Until time.Time
	// Gap is a time that was left out.
	Gap *span `json:",omitempty"`
}

// A span is a time between two moments.
type span struct{ From, To time.Time }

// covers reports whether an event at a time is in the event history, if it happened.
func (s state) covers(at time.Time) bool {
	read := !at.Before(s.Since) && at.Before(s.Until.Add(-delay))
	return read && (s.Gap == nil || at.Before(s.Gap.From) || at.After(s.Gap.To))
}

// add adds records, of which the newest are first, and drops those that are there. A record of
// the event history replaces that of a copy. Records of one second keep the order of the log.
func (k *kept) add(found []record) {
	there := map[string]int{}
	for i := range k.Records {
		there[k.Records[i].ID] = i
	}
	for _, r := range slices.Backward(found) {
		switch i, ok := there[r.ID]; {
		case !ok:
			there[r.ID] = len(k.Records)
			k.Records = append(k.Records, r)
		case k.Records[i].From != "" && r.From == "":
			k.Records[i] = r
		}
	}
	slices.SortStableFunc(k.Records, func(a, b record) int { return a.At.Compare(b.At) })
}

// refute drops events that a copy has and the event history of their region lacks, and returns
// them.
func (k *kept) refute(region string) []record {
	var refuted []record
	s := k.Regions[region]
	k.Records = slices.DeleteFunc(k.Records, func(r record) bool {
		if r.From == "" || r.Region != region || !s.covers(r.At) {
			return false
		}
		refuted = append(refuted, r)
		return true
	})
	return refuted
}

// bound drops records that are too old or too many, and moves the beginning of the logs.
func (k *kept) bound(now time.Time) {
	old := now.Add(-maxAge)
	k.Records = slices.DeleteFunc(k.Records, func(r record) bool { return r.At.Before(old) })
	copied := model.Later(old, k.trim(func(r *record) bool { return r.From != "" }))
	since := model.Later(old, k.trim(func(*record) bool { return true }))
	for region, s := range k.Regions {
		s.Since = model.Later(s.Since, since)
		k.Regions[region] = s
	}
	for region, s := range k.Trail.Regions {
		s.Since = model.Later(s.Since, model.Later(copied, since))
		k.Trail.Regions[region] = s
	}
	if !k.Queue.Since.IsZero() {
		k.Queue.Since = model.Later(k.Queue.Since, model.Later(copied, since))
	}
}

// trim drops the oldest of some records while there are too many in all. It returns the time
// after the last dropped one; zero for none.
func (k *kept) trim(some func(*record) bool) (after time.Time) {
	records, size := len(k.Records), 0
	for i := range k.Records {
		size += k.Records[i].size()
	}
	k.Records = slices.DeleteFunc(k.Records, func(r record) bool {
		if records <= maxRecords && size <= maxKept || !some(&r) {
			return false
		}
		records, size, after = records-1, size-r.size(), r.At.Add(time.Second)
		return true
	})
	return after
}

func (r *Reader) file() string {
	if r.env.CacheDir == "" {
		return ""
	}
	return filepath.Join(r.env.CacheDir, "cloudtrail.json")
}

// load reads the file once, and forgets what is of another account, and of a copy that is no
// longer configured. A file that cannot be read is logged and ignored: its content is read
// again from the log.
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
	if r.kept.Trail.Of != r.config.Trail || r.kept.Trail.Regions == nil {
		r.kept.Trail = trailState{Of: r.config.Trail, Regions: map[string]regionTrail{}}
	}
	if r.kept.Queue.Of != r.config.Queue {
		r.kept.Queue = queueState{Of: r.config.Queue}
	}
	r.kept.Records = slices.DeleteFunc(r.kept.Records, func(x record) bool {
		return x.From != "" && x.From != r.config.Trail && x.From != r.config.Queue
	})
}

// errNoFolder is the error of events that stay in memory.
var errNoFolder = errors.New("there is no folder for them")

func (r *Reader) save() error {
	if r.file() == "" {
		return errNoFolder
	}
	text, err := json.Marshal(r.kept)
	if err != nil {
		return fmt.Errorf("encode events: %w", err)
	}
	return atomicfile.Write(r.file(), text)
}
