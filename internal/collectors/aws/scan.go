package aws

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws/catalogue"
	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/collectors/pinned"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// A scan holds the results of one reading of an account.
type scan struct {
	config      Config
	source      string
	kinds       []*normalize.Kind
	brief       bool
	taken       time.Time
	session     *session
	lastAccount *pinned.Scope
	// owner and server are the canonical id and the Server header of the list of buckets; "" if
	// the buckets are configured by name.
	owner, server string
	buckets       []*bucket
	// bucketsUnread is why no bucket was read; zero if they were.
	bucketsUnread gap
	// estate is nil if only buckets are read.
	estate *estate
}

// readAll reads the buckets and the lists of the other services. An error means that nothing
// could be read.
func (sc *scan) readAll(ctx context.Context) (err error) {
	if len(sc.config.lists()) == 0 {
		return sc.read(ctx)
	}
	if sc.estate, err = newEstate(ctx, sc); err != nil {
		return err
	}
	if !sc.config.reads(s3Service) {
		sc.bucketsUnread = gap{"left out by services", true}
	} else if err = sc.read(ctx); err != nil {
		sc.bucketsUnread = gap{reason: bucketsReason(err)}
	}
	sc.estate.read(ctx)
	return nil
}

// A bucket is a bucket that is being read.
type bucket struct {
	normalize.BucketParts

	region string
	// deleted reports whether the bucket was deleted after it was listed.
	deleted bool
	// gaps are the parts of the bucket that were not read, by kind.
	gaps map[string]gap
	// failed is the first error of a request. answered reports whether the server answered one about the bucket.
	failed   error
	answered bool
}

// A gap is the reason why a kind was not read. skipped reports whether that is expected.
type gap struct {
	reason  string
	skipped bool
}

// read lists the buckets and reads every part of each.
func (sc *scan) read(ctx context.Context) error {
	listed, err := sc.list(ctx)
	if err != nil {
		return err
	}
	for _, b := range listed {
		sc.buckets = append(sc.buckets, &bucket{region: b.Region, gaps: map[string]gap{},
			BucketParts: normalize.BucketParts{Name: b.Name, Created: b.Created, Parts: map[string]model.Value{}}})
	}
	if sc.brief && len(sc.buckets) > 1 {
		sc.buckets = sc.buckets[:1]
	}
	kinds, byKind := slices.DeleteFunc(slices.Clone(sc.kinds), sc.config.excludes), getters()
	collectors.Parallel(sc.config.Concurrency, len(sc.buckets), func(i int) {
		for _, k := range kinds {
			sc.buckets[i].read(ctx, sc.session, k, byKind)
		}
	})
	return nil
}

// anyRead reports whether any part of any bucket was read.
func (sc *scan) anyRead() bool {
	return sc.estate != nil && sc.estate.answered || slices.ContainsFunc(sc.buckets, func(b *bucket) bool { return len(b.Parts) > 0 })
}

// unreached returns the error of buckets that are configured by name if the server answered no request about any of
// them, or refuses the credentials.
func (sc *scan) unreached() error {
	if sc.config.Buckets == nil || sc.anyRead() || len(sc.buckets) == 0 || slices.ContainsFunc(sc.buckets, func(b *bucket) bool { return b.answered || b.failed == nil }) {
		return nil
	}
	return sc.buckets[0].failed
}

// list returns the buckets to read, sorted by name, without duplicates.
func (sc *scan) list(ctx context.Context) ([]normalize.ListedBucket, error) {
	var all []normalize.ListedBucket
	var err error
	if sc.config.Buckets == nil {
		all, err = sc.listAll(ctx)
	}
	for _, name := range sc.config.Buckets {
		all = append(all, normalize.ListedBucket{Name: name})
	}
	slices.SortFunc(all, func(a, b normalize.ListedBucket) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b normalize.ListedBucket) bool { return a.Name == b.Name }), err
}

const (
	// pageSize is the number of buckets in a page, maxPages the largest number of pages.
	pageSize = 1000
	maxPages = 1000
)

func (sc *scan) listAll(ctx context.Context) ([]normalize.ListedBucket, error) {
	var all []normalize.ListedBucket
	var token *string
	for range maxPages {
		body, _, err := sc.session.do(ctx, "", func(ctx context.Context, c *s3.Client, o func(*s3.Options)) error {
			_, err := c.ListBuckets(ctx, &s3.ListBucketsInput{MaxBuckets: aws.Int32(pageSize), ContinuationToken: token}, o)
			return err
		})
		if err != nil {
			return nil, err
		}
		page, err := normalize.DecodePage(body.body)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Buckets...)
		sc.owner, sc.server = printable.Text(page.Owner), printable.Text(body.header.Get("Server"))
		if page.Next == "" {
			return all, nil
		}
		if token != nil && *token == page.Next {
			break
		}
		token = &page.Next
	}
	return nil, errors.New("the list of buckets does not end: the server repeats a page or sends too many")
}

// read reads one part of the bucket. The parts of a bucket are read one after another: the
// first answer returns the bucket's region and shows whether the bucket still exists.
func (b *bucket) read(ctx context.Context, s *session, k *normalize.Kind, byKind map[string]getter) {
	if b.deleted {
		return
	}
	if ctx.Err() != nil {
		b.record(k, model.Value{}, context.Cause(ctx))
		return
	}
	if !isBucket(b.Name) {
		b.gaps[k.Name] = gap{reason: "not a valid bucket name: not requested, because it could address another server"}
		return
	}
	var value model.Value
	ctx, settle := budget.Part(ctx)
	defer func() { settle(value.Weight()) }()
	a, err := b.get(ctx, s, byKind[k.Name])
	if err == nil {
		value, err = k.Decode(a.body)
	}
	if isNoSuchBucket(err) {
		// A single answer does not prove that a listed bucket was deleted.
		_, again := b.get(ctx, s, byKind[normalize.Bucket])
		b.deleted = isNoSuchBucket(again)
	}
	b.record(k, value, err)
}

// get requests one part of the bucket in the bucket's region, and stores the region that
// answered.
func (b *bucket) get(ctx context.Context, s *session, send getter) (a answer, err error) {
	a, b.region, err = s.do(ctx, b.region, func(ctx context.Context, c *s3.Client, o func(*s3.Options)) error {
		return send(ctx, c, &b.Name, s.owner(), o)
	})
	return a, err
}

func isNoSuchBucket(err error) bool { return awsapi.CodeOf(err) == "NoSuchBucket" }

// isAnswer reports whether a request with this error had an answer about its bucket.
func isAnswer(err error) bool {
	status := awsapi.StatusOf(err)
	return err == nil || status > 0 && status < http.StatusInternalServerError && !refusesCredentials(err)
}

// record stores the value of a part, or the reason why it was not read.
func (b *bucket) record(k *normalize.Kind, value model.Value, err error) {
	b.answered = b.answered || isAnswer(err)
	if b.failed == nil {
		b.failed = err
	}
	switch code := awsapi.CodeOf(err); {
	case err == nil:
		b.Parts[k.Name] = value
	case k.IsUnset(code) && k.Name == normalize.Bucket:
		b.Parts[k.Name] = model.MapOf()
	case k.IsUnset(code):
	case b.deleted:
	case code == "NotImplemented" && awsapi.StatusOf(err) == http.StatusNotImplemented:
		b.gaps[k.Name] = gap{reason: "the server does not support it: 501 NotImplemented", skipped: true}
	default:
		b.gaps[k.Name] = gap{reason: gapReason(k, err)}
	}
}

// snapshot returns the results as a snapshot.
func (sc *scan) snapshot() model.Snapshot {
	s := model.Snapshot{Source: sc.source, Taken: sc.taken, Coverage: append([]model.Coverage{sc.otherTypes()}, sc.coverage()...), Kinds: normalize.Schemas(), Version: sc.server}
	maps.Copy(s.Kinds, catalogue.Schemas(sc.config.further()...))
	for _, b := range sc.buckets {
		if !b.deleted {
			s.Resources = append(s.Resources, b.Resources(sc.source)...)
		}
	}
	if sc.estate != nil {
		s.Resources, s.Unread = catalogue.Join(sc.estate.pages, s.Resources, sc.estate.gap, sc.config.further()...)
		sc.estate.pages = nil
		s.Unread = append(s.Unread, sc.estate.unread...)
		slices.SortFunc(s.Unread, func(a, b model.Unread) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	}
	slices.SortFunc(s.Resources, func(a, b model.Resource) int { return a.Key.Compare(b.Key) })
	if len(s.Resources) >= manyResources {
		// The answers were read in small pieces, between which no room is left for the large blocks of the comparison.
		debug.FreeOSMemory()
	}
	return s
}

// manyResources is the number of resources from which on a scan returns the memory of the answers to the system.
const manyResources = 50_000

// otherTypes returns the coverage of the types of CloudFormation without an entry of their own. One that was removed from
// cloud_control is among them, so that findings about its resources stay open.
func (sc *scan) otherTypes() model.Coverage {
	reason := "neither driftd nor the setting cloud_control has a list of this type: add it to cloud_control, or correct the name of the kind"
	if sc.estate == nil {
		reason = "only buckets are read: set services, or cloud_control for a type that driftd has no list for"
	}
	return model.Coverage{Source: sc.source, Kind: Type + "/*.", Skipped: true, Reason: reason}
}

// coverage returns for each kind whether it was read of every bucket, and the buckets of which
// it was not read.
func (sc *scan) coverage() []model.Coverage {
	var all []model.Coverage
	for _, k := range sc.kinds {
		add := func(place string, g gap) {
			all = append(all, model.Coverage{Source: sc.source, Kind: k.Name, Place: place, Complete: g.reason == "", Skipped: g.skipped, Reason: g.reason})
		}
		if sc.config.excludes(k) {
			add("", gap{"left out by exclude_kinds", true})
			continue
		}
		if sc.bucketsUnread.reason != "" {
			add("", sc.bucketsUnread)
			continue
		}
		everywhere, uniform := sc.gap(k)
		if sc.config.Buckets != nil && everywhere == (gap{}) {
			everywhere, uniform = gap{"only the buckets of the setting buckets are read", true}, false
		}
		add("", everywhere)
		for _, b := range sc.buckets {
			if g := b.gaps[k.Name]; !uniform && !b.deleted && g != everywhere {
				add(b.Name, g)
			}
		}
	}
	if sc.estate != nil {
		all = append(all, sc.estate.coverage()...)
	}
	slices.SortFunc(all, func(a, b model.Coverage) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Place, b.Place))
	})
	return all
}

// gap returns the reason why a kind was read of no bucket. uniform reports whether the kind has
// the same gap in all buckets.
func (sc *scan) gap(k *normalize.Kind) (g gap, uniform bool) {
	first := true
	for _, b := range sc.buckets {
		if b.deleted {
			continue
		}
		if !first && b.gaps[k.Name] != g {
			return gap{}, false
		}
		g, first = b.gaps[k.Name], false
	}
	return g, true
}

// account returns the identity of the credentials.
func (sc *scan) account(ctx context.Context) (awsapi.Identity, error) {
	if sc.estate != nil {
		return sc.estate.who, nil
	}
	return sc.session.client.Identify(ctx)
}

// identity returns a description of the account or the access key that signs the requests.
func (sc *scan) identity(ctx context.Context) string {
	if sc.estate != nil {
		return printable.Text(sc.estate.who.ARN + " in account " + sc.estate.who.Account)
	}
	if sc.owner != "" {
		return "the account with the canonical id " + sc.owner
	}
	credentials, err := sc.session.client.Config.Credentials.Retrieve(ctx)
	if err != nil {
		return ""
	}
	return "the access key " + credentials.AccessKeyID
}
