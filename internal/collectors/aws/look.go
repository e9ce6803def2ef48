package aws

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A look is one reading of an account, while it is being made.
type look struct {
	config  Config
	source  string
	kinds   []*normalize.Kind
	brief   bool
	taken   time.Time
	session *session
	// owner and server are what the list of buckets tells.
	owner, server string
	buckets       []*bucket
}

// A bucket is one that is being read.
type bucket struct {
	normalize.Read

	region string
	// gone tells that it was deleted meanwhile.
	gone bool
	// gaps are the kinds that could not be read of it.
	gaps map[string]gap
}

// A gap is something that was not read.
type gap struct {
	reason  string
	skipped bool
}

// read lists the buckets and reads every part of each.
func (l *look) read(ctx context.Context) error {
	listed, err := l.list(ctx)
	if err != nil {
		return err
	}
	for _, b := range listed {
		l.buckets = append(l.buckets, &bucket{region: b.Region, gaps: map[string]gap{},
			Read: normalize.Read{Name: b.Name, Created: b.Created, Parts: map[string]model.Value{}}})
	}
	if l.brief && len(l.buckets) > 1 {
		l.buckets = l.buckets[:1]
	}
	kinds, asks := slices.DeleteFunc(slices.Clone(l.kinds), l.config.excludes), askers()
	collectors.Parallel(l.config.Concurrency, len(l.buckets), func(i int) {
		for _, k := range kinds {
			l.buckets[i].read(ctx, l.session, k, asks)
		}
	})
	return nil
}

// any reports whether some part of some bucket was read.
func (l *look) any() bool {
	return slices.ContainsFunc(l.buckets, func(b *bucket) bool { return len(b.Parts) > 0 })
}

// list returns the buckets that are to be read, sorted by name, each once.
func (l *look) list(ctx context.Context) ([]normalize.Listed, error) {
	var all []normalize.Listed
	var err error
	if l.config.Buckets == nil {
		all, err = l.listAll(ctx)
	}
	for _, name := range l.config.Buckets {
		all = append(all, normalize.Listed{Name: name})
	}
	slices.SortFunc(all, func(a, b normalize.Listed) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b normalize.Listed) bool { return a.Name == b.Name }), err
}

const (
	// pageSize is how many buckets are asked for at once, maxPages how often.
	pageSize = 1000
	maxPages = 1000
)

func (l *look) listAll(ctx context.Context) ([]normalize.Listed, error) {
	var all []normalize.Listed
	var token *string
	for range maxPages {
		body, _, err := l.session.ask(ctx, "", func(ctx context.Context, c *s3.Client, o func(*s3.Options)) error {
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
		l.owner, l.server = httpclient.Printable(page.Owner), httpclient.Printable(body.header.Get("Server"))
		if page.Next == "" {
			return all, nil
		}
		if token != nil && *token == page.Next {
			break
		}
		token = &page.Next
	}
	return nil, errors.New("the list of buckets does not come to an end")
}

// read reads one part of the bucket. The parts of a bucket are read one after
// another: the first tells in which region it lies, and whether it is still there.
func (b *bucket) read(ctx context.Context, s *session, k *normalize.Kind, asks map[string]asker) {
	if b.gone {
		return
	}
	if ctx.Err() != nil {
		b.settle(k, model.Value{}, context.Cause(ctx))
		return
	}
	if !isBucket(b.Name) {
		b.gaps[k.Name] = gap{reason: "no bucket can have its name, which may lead to another server: it was not asked for"}
		return
	}
	var value model.Value
	ctx, settle := budget.Part(ctx)
	defer func() { settle(value.Weight()) }()
	a, err := b.ask(ctx, s, asks[k.Name])
	if err == nil {
		value, err = k.Decode(a.body)
	}
	if isGone(err) {
		// One answer is not enough to call a bucket gone that was listed.
		_, again := b.ask(ctx, s, asks[normalize.Bucket])
		b.gone = isGone(again)
	}
	b.settle(k, value, err)
}

// ask asks for one part, in the region where the bucket lies.
func (b *bucket) ask(ctx context.Context, s *session, ask asker) (a answer, err error) {
	a, b.region, err = s.ask(ctx, b.region, func(ctx context.Context, c *s3.Client, o func(*s3.Options)) error {
		return ask(ctx, c, &b.Name, s.owner(), o)
	})
	return a, err
}

func isGone(err error) bool { return codeOf(err) == "NoSuchBucket" }

// settle takes up what was read of a bucket, or why it was not.
func (b *bucket) settle(k *normalize.Kind, value model.Value, err error) {
	switch code := codeOf(err); {
	case err == nil:
		b.Parts[k.Name] = value
	case k.Unset(code) && k.Name == normalize.Bucket:
		b.Parts[k.Name] = model.MapOf()
	case k.Unset(code):
	case b.gone:
	case code == "NotImplemented" && statusOf(err) == http.StatusNotImplemented:
		b.gaps[k.Name] = gap{reason: "the server has no such thing: it says 501 NotImplemented", skipped: true}
	default:
		b.gaps[k.Name] = gap{reason: because(k, err)}
	}
}

// snapshot gives what was read its final form.
func (l *look) snapshot() model.Snapshot {
	s := model.Snapshot{Source: l.source, Taken: l.taken, Coverage: l.coverage(), Kinds: normalize.Schemas(), Version: l.server}
	for _, b := range l.buckets {
		if !b.gone {
			s.Resources = append(s.Resources, b.Resources(l.source)...)
		}
	}
	slices.SortFunc(s.Resources, func(a, b model.Resource) int { return a.Key.Compare(b.Key) })
	return s
}

// coverage says of each kind whether it was read of every bucket, and of which it
// was not.
func (l *look) coverage() []model.Coverage {
	var all []model.Coverage
	for _, k := range l.kinds {
		add := func(place string, g gap) {
			all = append(all, model.Coverage{Source: l.source, Kind: k.Name, Place: place, Complete: g.reason == "", Skipped: g.skipped, Reason: g.reason})
		}
		if l.config.excludes(k) {
			add("", gap{"left out by exclude_kinds", true})
			continue
		}
		everywhere, alike := l.gap(k)
		if l.config.Buckets != nil && everywhere == (gap{}) {
			everywhere, alike = gap{"only the buckets under buckets are read", true}, false
		}
		add("", everywhere)
		for _, b := range l.buckets {
			if g := b.gaps[k.Name]; !alike && !b.gone && g != everywhere {
				add(b.Name, g)
			}
		}
	}
	slices.SortFunc(all, func(a, b model.Coverage) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Place, b.Place))
	})
	return all
}

// gap returns why a kind was read of no bucket, where that is the same for all.
func (l *look) gap(k *normalize.Kind) (g gap, alike bool) {
	first := true
	for _, b := range l.buckets {
		if b.gone {
			continue
		}
		if !first && b.gaps[k.Name] != g {
			return gap{}, false
		}
		g, first = b.gaps[k.Name], false
	}
	return g, true
}

// identity names who asks.
func (l *look) identity(ctx context.Context) string {
	if l.owner != "" {
		return "the account that S3 calls " + l.owner
	}
	credentials, err := l.session.s3.Options().Credentials.Retrieve(ctx)
	if err != nil {
		return ""
	}
	return "the access key " + credentials.AccessKeyID
}
