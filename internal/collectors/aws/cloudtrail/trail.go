package cloudtrail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

const (
	// maxObjects bounds the log files that a scan reads of a region, maxLists the lists of up to
	// 1000 names.
	maxObjects = 500
	maxLists   = 200
	// overlap is how late a log file may be in the bucket, by the time in its name.
	overlap = 6 * time.Hour
	// maxAttempts is how many scans try to read a log file, maxFailed how many such files are kept.
	maxAttempts = 5
	maxFailed   = 100
	// atOnce is the number of log files of a region that are read at once.
	atOnce = 4
)

// Objects are the objects of S3. owner is the account that must own the bucket.
type Objects interface {
	// List returns the keys with a prefix after a key, in order, and whether there are more.
	List(ctx context.Context, bucket, owner, prefix, after string) (keys []string, more bool, err error)
	// Get returns the content of an object.
	Get(ctx context.Context, bucket, owner, key string) ([]byte, error)
}

// A trailState is how far a trail was read.
type trailState struct {
	Of      string                 `json:",omitempty"`
	Regions map[string]regionTrail `json:",omitempty"`
}

// A regionTrail is how far the log files of a region were read.
type regionTrail struct {
	// Since is the beginning of the first reading, Until the end of the last one, by the times
	// in the names of the files.
	Since, Until time.Time
	// Seen are the names that were read, as far back as the next reading begins.
	Seen []string `json:",omitempty"`
	// Failed are the files that could not be read.
	Failed map[string]failure `json:",omitempty"`
}

// begin returns the time at which the next reading begins.
func (s *regionTrail) begin() time.Time { return model.Later(s.Since, s.Until.Add(-overlap)).UTC() }

// A failure is how often a file could not be read, and why.
type failure struct {
	Attempts int
	Reason   string
}

// A fetch is one reading of the log files of a region.
type fetch struct {
	copied

	objects               Objects
	bucket, owner, folder string
	region                string
	lookback              time.Duration

	found []record
	size  int
}

// trailForm is the form of the setting: the bucket and the folder of the accounts.
func trailForm() *regexp.Regexp {
	return regexp.MustCompile(`^s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])/((?:[A-Za-z0-9!_.'()*-]+/)*AWSLogs(?:/o-[a-z0-9]{10,32})?)$`)
}

// prefix returns what the keys of the region's files begin with.
func (x *fetch) prefix() string {
	return x.folder + "/" + x.account.Number + "/CloudTrail/" + x.region + "/"
}

// name returns the first part of a file's name.
func (x *fetch) name() string { return x.account.Number + "_CloudTrail_" + x.region + "_" }

const minutes = "20060102T1504Z"

// timeOf returns the time in the name of a log file; zero for another file. See
// https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-log-file-examples.html
func (x *fetch) timeOf(name string) time.Time {
	const day = "2006/01/02/"
	if len(name) < len(day) || len(name) > 200 {
		return time.Time{}
	}
	if _, err := time.Parse(day, name[:len(day)]); err != nil {
		return time.Time{}
	}
	rest, ok := strings.CutPrefix(name[len(day):], x.name())
	at, unique, _ := strings.Cut(rest, "_")
	unique, isLog := strings.CutSuffix(unique, ".json.gz")
	t, err := time.Parse(minutes, at)
	if !ok || !isLog || err != nil || unique == "" || strings.ContainsFunc(unique, func(c rune) bool { return !strings.ContainsRune(alphanumeric, c) }) {
		return time.Time{}
	}
	return t
}

const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// read reads the files that failed before, and the new ones, the oldest first. more reports
// whether new ones are left.
func (x *fetch) read(ctx context.Context, s regionTrail) (_ regionTrail, more bool, err error) {
	if s.Until.IsZero() || x.now.Sub(s.Until) > maxAge {
		from := x.now.Add(-cmp.Or(x.lookback, 24*time.Hour))
		s = regionTrail{Since: from, Until: from}
	}
	if s.Failed = maps.Clone(s.Failed); s.Failed == nil {
		s.Failed = map[string]failure{}
	}
	names, more, err := x.list(ctx, s)
	if err != nil {
		return s, false, err
	}
	again := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Failed)), func(name string) bool { return s.Failed[name].Attempts >= maxAttempts })
	had := false
	for all := slices.Concat(again, names); len(all) > 0; {
		if x.size > maxRead {
			more = true
			break
		}
		var errs []error
		errs, had = x.next(ctx, all, had)
		if i := slices.IndexFunc(errs, isRefused); i >= 0 && (!had || ctx.Err() != nil) {
			return s, false, errs[i]
		}
		for i, name := range all[:len(errs)] {
			if !s.note(name, errs[i]) {
				return s, false, errs[i]
			}
			s.Until = model.Later(s.Until, earlier(x.timeOf(name), x.now))
			s.Seen = append(s.Seen, name)
		}
		all = all[len(errs):]
	}
	if !more {
		s.Until = x.now
	}
	slices.Sort(s.Seen)
	s.Seen = slices.DeleteFunc(slices.Compact(s.Seen), func(name string) bool { return x.timeOf(name).Before(s.begin().Truncate(time.Minute)) })
	maps.DeleteFunc(s.Failed, func(name string, _ failure) bool { return x.timeOf(name).Before(x.now.Add(-maxAge)) })
	return s, more, nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// list returns the names of new files, sorted.
func (x *fetch) list(ctx context.Context, s regionTrail) (names []string, more bool, err error) {
	seen := map[string]bool{}
	for _, name := range slices.AppendSeq(slices.Clone(s.Seen), maps.Keys(s.Failed)) {
		seen[name] = true
	}
	from := s.begin()
	key := func(t time.Time) string { return x.prefix() + t.Format("2006/01/02/") + x.name() + t.Format(minutes) }
	after, end := key(from), key(x.now.Add(delay).UTC())
	for range maxLists {
		keys, more, err := x.objects.List(ctx, x.bucket, x.owner, x.prefix(), after)
		if err != nil {
			return nil, false, err
		}
		for _, key := range keys {
			name, ok := strings.CutPrefix(key, x.prefix())
			at := x.timeOf(name)
			if !ok || at.IsZero() || at.After(x.now.Add(delay)) || seen[name] {
				continue
			}
			if len(names) == maxObjects {
				return names, true, nil
			}
			seen[name] = true
			names = append(names, name)
		}
		switch {
		case !more || len(keys) > 0 && keys[len(keys)-1] > end:
			return names, false, nil
		case len(keys) == 0 || keys[len(keys)-1] <= after:
			return nil, false, errors.New("the list of objects does not end: the server repeats a page")
		}
		after = keys[len(keys)-1]
	}
	return nil, false, fmt.Errorf("the last %s have more than %d objects", overlap, maxLists*1000)
}

// A contentError is the error of a file that was had.
type contentError struct{ error }

// isRefused reports whether a file could not be had.
func isRefused(err error) bool {
	_, content := errors.AsType[contentError](err)
	return err != nil && !content
}

// next reads the first of some files, and more until one is had or too many are not. It returns an error for each, and
// whether any file could be had: if so, those that could not are at fault, and not the rights.
func (x *fetch) next(ctx context.Context, names []string, had bool) ([]error, bool) {
	var errs []error
	for batch := range slices.Chunk(names, atOnce) {
		errs = append(errs, x.get(ctx, batch)...)
		had = had || slices.ContainsFunc(errs, func(err error) bool { return !isRefused(err) })
		if had || ctx.Err() != nil || len(errs) >= maxFailed {
			break
		}
	}
	return errs, had
}

// get reads files, and returns an error for each. A file that is gone has none.
func (x *fetch) get(ctx context.Context, names []string) []error {
	errs, found := make([]error, len(names)), make([][]record, len(names))
	collectors.Parallel(atOnce, len(names), func(i int) {
		found[i], errs[i] = x.file(ctx, names[i])
	})
	for i := range names {
		if errs[i] == nil {
			x.found = append(x.found, found[i]...)
			for j := range found[i] {
				x.size += found[i][j].size()
			}
		}
	}
	return errs
}

// file returns the records of a file.
func (x *fetch) file(ctx context.Context, name string) ([]record, error) {
	content, err := x.objects.Get(ctx, x.bucket, x.owner, x.prefix()+name)
	if _, large := errors.AsType[*httpclient.TooLarge](err); large {
		return nil, contentError{fmt.Errorf("%w: raise max_body", err)}
	}
	if err != nil {
		if awsapi.CodeOf(err) == "NoSuchKey" {
			err = nil
		}
		return nil, err
	}
	var all []record
	size, in, at := 0, x.copied, earlier(x.timeOf(name), x.now)
	in.place = "s3://" + x.bucket + "/" + x.prefix() + name
	err = eachEvent(content, func(event model.Value) error {
		if r, ok := in.decode(event, x.region, at); ok {
			all = append(all, r)
			size += r.size()
		}
		if size > maxRead {
			return errors.New("it has too many events")
		}
		return nil
	})
	if err != nil {
		return nil, contentError{err}
	}
	return all, nil
}

// note keeps the result of a file. It returns false if there are too many failures to keep
// another one.
func (s *regionTrail) note(name string, err error) bool {
	if err == nil {
		delete(s.Failed, name)
		return true
	}
	before, ok := s.Failed[name]
	if !ok && len(s.Failed) >= maxFailed {
		given := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Failed)), func(name string) bool { return s.Failed[name].Attempts < maxAttempts })
		if len(given) == 0 {
			return false
		}
		delete(s.Failed, given[0])
	}
	s.Failed[name] = failure{before.Attempts + 1, printable.Line(err.Error(), maxEvidence)}
	return true
}

// left returns which files were not read; "" if all were. more reports whether new ones are left.
func (s *regionTrail) left(more bool) string {
	var all []string
	if more {
		all = append(all, "files since "+s.Until.UTC().Format("2006-01-02 15:04 UTC")+" are read in the next scans")
	}
	if names := slices.Sorted(maps.Keys(s.Failed)); len(names) > 0 {
		last := names[len(names)-1]
		text := last + " could not be read: " + s.Failed[last].Reason
		if len(names) > 1 {
			text = fmt.Sprintf("%d files could not be read, such as %s: %s", len(names), last, s.Failed[last].Reason)
		}
		next := ", and is tried again"
		if s.Failed[last].Attempts >= maxAttempts {
			next = ", and is not tried again"
		}
		all = append(all, text+next)
	}
	return strings.Join(all, "; ")
}

// trailReason returns why a trail was not read, and what to do.
func trailReason(err error) string {
	text := printable.Text(err.Error())
	switch status := awsapi.StatusOf(err); {
	case collectors.Ended(err) != "":
		return collectors.Ended(err)
	case status == http.StatusForbidden && strings.Contains(strings.ToLower(text), "kms"):
		return text + "; grant kms:Decrypt on the key of the trail"
	case status == http.StatusForbidden:
		return text + "; grant s3:ListBucket and s3:GetObject on the bucket, also in its policy if it is of another account, and set audit.trail_owner to that account"
	case status == http.StatusNotFound:
		return text + "; correct audit.trail"
	}
	return text
}
