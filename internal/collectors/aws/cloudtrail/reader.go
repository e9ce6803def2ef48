package cloudtrail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// Config configures the reading of the log. It is part of the settings of an aws source.
type Config struct {
	// Lookback is how far the first reading of a region's log goes back; 0 for a day. CloudTrail
	// keeps 90 days. The event history of a compatible server is read only if this is set.
	Lookback time.Duration `mapstructure:"lookback"`
	// Pages is the largest number of pages of 50 events that a scan reads of a region's event
	// history; 0 to read none. The next scans read the others.
	Pages int `mapstructure:"pages"`
	// Trail is the folder of a trail in S3 that has the folders of accounts
	// ("s3://bucket/prefix/AWSLogs", that of an organization "s3://bucket/AWSLogs/o-a1b2c3d4e5").
	Trail string `mapstructure:"trail"`
	// TrailOwner is the number of the account that owns the bucket of Trail; "" for that of the
	// credentials.
	TrailOwner string `mapstructure:"trail_owner"`
	// Queue is the ARN of a queue of SQS that a rule of EventBridge fills with the events of
	// CloudTrail. Messages are deleted after they were read.
	Queue string `mapstructure:"queue"`
	// ScanInterval has new messages in Queue start a scan of the source while driftd serves: at most
	// one in this time, 30s at least; 0 starts none.
	ScanInterval time.Duration `mapstructure:"scan_interval"`
}

// Defaults returns the default settings.
func Defaults() Config { return Config{Pages: 40} }

// maxAge is how long CloudTrail keeps events.
const maxAge = 90 * 24 * time.Hour

// Check returns an error if a setting has no meaning.
func (c Config) Check() error {
	switch {
	case c.Lookback < 0 || c.Lookback > maxAge:
		return errors.New("setting audit.lookback must be between 0 and 2160h: CloudTrail keeps 90 days")
	case c.Pages < 0 || c.Pages > 10_000:
		return errors.New("setting audit.pages must be between 0 and 10000; 0 does not read the event history")
	case c.Trail != "" && !trailForm().MatchString(c.Trail):
		return errors.New("setting audit.trail is not the folder of a trail: want one such as s3://bucket/prefix/AWSLogs, or s3://bucket/AWSLogs/o-a1b2c3d4e5 for that of an organization")
	case c.TrailOwner != "" && !regexp.MustCompile(`^[0-9]{12}$`).MatchString(c.TrailOwner):
		return errors.New("setting audit.trail_owner is not an account number: want twelve digits in quotes")
	case c.TrailOwner != "" && c.Trail == "":
		return errors.New("setting audit.trail_owner belongs to a trail: set audit.trail")
	case c.Queue != "" && !regexp.MustCompile(`^arn:aws[a-z-]*:sqs:[a-z]{2}[a-z0-9-]{3,30}:[0-9]{12}:[A-Za-z0-9_-]{1,80}$`).MatchString(c.Queue):
		return errors.New("setting audit.queue is not a queue: want the ARN of a standard queue such as arn:aws:sqs:eu-central-1:123456789012:driftd")
	}
	return c.checkInterval()
}

func (c Config) checkInterval() error {
	switch {
	case c.ScanInterval == 0:
		return nil
	case c.ScanInterval < minInterval:
		return fmt.Errorf("setting audit.scan_interval must be at least %s; 0 starts no scans", minInterval)
	case c.Queue == "":
		return errors.New("setting audit.scan_interval belongs to a queue: set audit.queue")
	}
	return nil
}

// reads reports whether the event history of a server is read: AWS, or a compatible one.
func (c Config) reads(compatible bool) bool { return c.Pages > 0 && (!compatible || c.Lookback > 0) }

// Reads reports whether anything is read of a server: AWS, or a compatible one.
func (c Config) Reads(compatible bool) bool {
	return c.reads(compatible) || c.Trail != "" || c.Queue != ""
}

const (
	// interval is the pause between two requests: CloudTrail accepts two in a second.
	interval = 510 * time.Millisecond
	// delay is how late events may be in the log, and a reserve.
	delay = 20 * time.Minute
)

// A Pace limits the requests of all readers of a process to CloudTrail's rate, which is per
// account and region. It is safe for concurrent use; its zero value is ready.
type Pace struct {
	mu       sync.Mutex
	limiters map[string]*rate.Limiter
}

func (p *Pace) limiter(account, region string) *rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := account + " " + region
	if p.limiters == nil {
		p.limiters = map[string]*rate.Limiter{}
	}
	if p.limiters[key] == nil {
		p.limiters[key] = rate.NewLimiter(rate.Every(interval), 1)
	}
	return p.limiters[key]
}

// A Client sends calls to AWS. *awsapi.Client is one.
type Client interface {
	Pages(ctx context.Context, region string, call *awsapi.Call, begin func(), page func(model.Value) error) error
	Do(ctx context.Context, region string, call *awsapi.Call) (model.Value, error)
	Endpoint(s *awsapi.Service, region string) string
}

// A Server is AWS, or a compatible server.
type Server struct {
	Client Client
	// Objects are needed for a trail.
	Objects    Objects
	Compatible bool
}

// A Reader reads the logs of one account, and keeps what it has read between scans. It is
// safe for concurrent use.
type Reader struct {
	config Config
	env    collectors.Env
	pace   *Pace

	mu   sync.Mutex
	kept kept

	arrivals arrivals
}

// New returns a reader that keeps its events in the folder of env.
func New(config Config, env collectors.Env, pace *Pace) *Reader {
	return &Reader{config: config, env: env, pace: pace}
}

// Read reads what is new in the event histories of the regions, of the one with the events of
// global services, and in the copies. The regions are of one partition, and not empty. A log that
// cannot be read makes only the actors of its region unknown.
func (r *Reader) Read(ctx context.Context, server Server, account Account, regions []string, now time.Time) *Log {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.load(ctx, account)
	home := awsapi.Home(regions[0])
	regions = append(slices.Clone(regions), home)
	slices.Sort(regions)
	x := &look{Reader: r, server: server, account: account, regions: slices.Compact(regions), now: now, operations: table(),
		log: &Log{home: home, regions: map[string][]*part{}}}
	x.readHistory(ctx)
	x.readQueue(ctx)
	x.readTrail(ctx)
	x.refute(ctx)
	r.kept.bound(now)
	err := r.save()
	if err != nil && !errors.Is(err, errNoFolder) {
		r.env.Log.LogAttrs(ctx, slog.LevelWarn, "events of CloudTrail not kept", slog.Any("err", err))
	}
	x.emptyQueue(ctx, err == nil)
	x.log.Events = x.events()
	return x.log
}

// A reading reads the log of one region.
type reading struct {
	config     Config
	client     Client
	account    Account
	region     string
	operations map[operation][]effect
	limiter    *rate.Limiter
	pages      int
}

// read reads what is new since the last reading, and with the pages that are left what that
// one left out.
func (x *reading) read(ctx context.Context, s state, now time.Time) (state, []record, string) {
	x.pages = x.config.Pages
	from := s.Until.Add(-delay)
	if s.Until.IsZero() || now.Sub(s.Until) > maxAge {
		from = now.Add(-cmp.Or(x.config.Lookback, 24*time.Hour))
		s = state{Since: from}
	}
	all, oldest, err := x.span(ctx, span{from, now})
	if err != nil && len(all) == 0 && oldest.IsZero() {
		return s, nil, reasonOf(err)
	}
	s.Until = now
	gap := s.Gap
	if oldest.After(from) {
		// A gap of an earlier reading is part of the new one, and read again.
		gap = &span{from, oldest}
		if s.Gap != nil {
			gap.From = s.Gap.From
		}
	}
	if s.Gap = gap; err == nil && gap != nil && x.pages > 0 {
		var older []record
		older, err = x.close(ctx, &s)
		all = append(all, older...)
	}
	if err != nil {
		return s, all, reasonOf(err)
	}
	return s, all, ""
}

// close reads the gap of a state, which it closes or makes smaller.
func (x *reading) close(ctx context.Context, s *state) ([]record, error) {
	found, oldest, err := x.span(ctx, *s.Gap)
	switch {
	case err != nil && oldest.IsZero():
	case oldest.After(s.Gap.From):
		s.Gap = &span{s.Gap.From, oldest}
	default:
		s.Gap = nil
	}
	return found, err
}

// errEnough ends a reading after the last page that is permitted.
var errEnough = errors.New("no page is left")

// service returns CloudTrail. It has one target for the header in all regions.
func service() *awsapi.Service {
	return &awsapi.Service{ID: "cloudtrail", Protocol: awsapi.JSON, Version: "1.1", Target: "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101", Rate: 2}
}

// span reads a time span, the newest events first. oldest is the time up to which it was read
// if that is not the whole span; zero if nothing was read. Pages that are larger than
// max_body are requested with fewer events.
func (x *reading) span(ctx context.Context, s span) (all []record, oldest time.Time, err error) {
	for _, events := range []int{50, 10, 2} {
		all, oldest, err = x.events(ctx, s, events)
		if _, large := errors.AsType[*httpclient.TooLarge](err); !large {
			break
		}
	}
	return all, oldest, err
}

// events reads a time span in pages of a size.
func (x *reading) events(ctx context.Context, s span, size int) (all []record, oldest time.Time, err error) {
	call := &awsapi.Call{Service: service(), Action: "LookupEvents", Page: []awsapi.PageToken{{Param: "NextToken", Field: "NextToken"}}, Input: map[string]any{
		"StartTime": s.From.Unix(), "EndTime": s.To.Unix() + 1, "MaxResults": size,
		"LookupAttributes": []map[string]string{{"AttributeKey": "ReadOnly", "AttributeValue": "false"}},
	}}
	if err := httpclient.Turn(ctx, x.limiter); err != nil {
		return nil, oldest, err
	}
	err = x.client.Pages(ctx, x.region, call, func() {}, func(page model.Value) error {
		x.pages--
		for _, entry := range page.At("Events").Items() {
			r, ok := decodeEntry(entry, x.account, x.operations)
			if ok {
				all = append(all, r)
			}
			if at := timeOf(entry.At("EventTime")); !at.IsZero() {
				oldest = at
			}
		}
		if page.At("NextToken").Text() == "" {
			oldest = s.From
			return nil
		}
		if x.pages <= 0 {
			return errEnough
		}
		return httpclient.Turn(ctx, x.limiter)
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return all, oldest, err
}

// timeOf parses seconds since 1970.
func timeOf(v model.Value) time.Time {
	var seconds float64
	if _, err := fmt.Sscan(v.Text(), &seconds); err != nil || seconds <= 0 || seconds > 1e11 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}

// reasonOf returns why a log was not read, and what to do.
func reasonOf(err error) string {
	text := printable.Text(err.Error())
	switch {
	case collectors.Ended(err) != "":
		return collectors.Ended(err)
	case awsapi.DeniedByOrganization(err):
		return text + "; a policy of the organization denies it: allow cloudtrail:LookupEvents there"
	case awsapi.Denied(err):
		return text + "; grant cloudtrail:LookupEvents"
	case awsapi.Throttled(err):
		return text + "; others in the account read the log, too; the next scan goes on"
	}
	return text
}
