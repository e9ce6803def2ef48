package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws/catalogue"
	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// An estate holds the results of the lists of all services other than S3.
type estate struct {
	config  Config
	source  string
	brief   bool
	client  *awsapi.Client
	who     awsapi.Identity
	taken   time.Time
	regions []string
	lists   []*catalogue.List

	mu     sync.Mutex
	pages  []catalogue.Page
	unread []model.Unread
	// gaps are the reasons why kinds were not read, by kind and place.
	gaps map[model.Scope]gap
	// answered reports whether any list was read.
	answered bool
}

// newEstate returns an estate without results. The credentials must be of the configured account or, without one,
// that of the last scan.
func newEstate(ctx context.Context, sc *scan) (*estate, error) {
	client := sc.session.client
	who, err := client.Identify(ctx)
	if err != nil {
		return nil, err
	}
	switch want, err := sc.lastAccount.Check(sc.config.Account, who.Account, sc.brief); {
	case err != nil:
		return nil, err
	case want != "":
		return nil, &accountError{want: want, got: who.Account, arn: printable.Text(who.ARN), configured: sc.config.Account != ""}
	}
	return &estate{
		config: sc.config, source: sc.source, brief: sc.brief, taken: sc.taken, client: client, who: who, gaps: map[model.Scope]gap{},
		regions: sc.config.regions(client.Config.Region), lists: sc.config.lists(),
	}, nil
}

// A job is a list in one place.
type job struct {
	list *catalogue.List
	env  catalogue.Env
	// region is where the request is sent.
	region string
}

// read reads every list in every region, and those of global services once.
func (e *estate) read(ctx context.Context) {
	var jobs []job
	for _, l := range e.lists {
		regions := e.regions
		if l.IsGlobal() {
			regions = []string{e.home()}
		}
		for _, region := range regions {
			jobs = append(jobs, job{l, e.env(l, region), region})
		}
	}
	collectors.Parallel(e.config.Concurrency, len(jobs), func(i int) {
		r := &reading{estate: e, job: jobs[i], texts: table.Texts{}}
		r.read(ctx, r.list, nil, model.Value{})
		e.add(r)
	})
}

func (e *estate) env(l *catalogue.List, region string) catalogue.Env {
	place := region
	texts := map[string]string{"region": region, "account": e.who.Account, "partition": e.who.Partition}
	if l.IsGlobal() {
		place = catalogue.Global
		delete(texts, "region")
	}
	return catalogue.Env{
		Source: e.source, Place: place, Texts: texts,
		MaxKeyAge: e.config.MaxKeyAge, Now: e.taken,
	}
}

// home returns the region in which requests for what belongs to no region are sent.
func (e *estate) home() string { return awsapi.Home(e.regions[0]) }

// add adds what a job has read.
func (e *estate) add(r *reading) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pages, e.unread = append(e.pages, r.pages...), append(e.unread, r.unread...)
	for scope, g := range r.gaps {
		e.gaps[scope] = g
	}
	e.answered = e.answered || r.answered
}

// A reading is a list that is being read in one place, with those for its rows.
type reading struct {
	job

	estate   *estate
	mu       sync.Mutex
	texts    table.Texts
	pages    []catalogue.Page
	unread   []model.Unread
	gaps     map[model.Scope]gap
	answered bool
}

// read reads a list, and the lists for its rows. input are the parameters for a row of another
// list, which is of; both are nil for none.
func (r *reading) read(ctx context.Context, l *catalogue.List, input map[string]any, of model.Value) {
	call := l.Call
	if input != nil {
		call.Input = input
	}
	rows, err := r.load(ctx, l, &call, of)
	if err == nil && !r.estate.brief {
		r.follow(ctx, l, rows)
	}
}

// load requests a list and adds its resources. It returns the rows if there are lists for them.
func (r *reading) load(ctx context.Context, l *catalogue.List, call *awsapi.Call, of model.Value) ([]model.Value, error) {
	var pages []catalogue.Page
	var rows []model.Value
	err := r.send(ctx, call, func() { pages, rows = nil, nil }, func(answer model.Value) error {
		found, err := l.RowsOf(answer, of)
		if err != nil {
			return err
		}
		if len(l.Then) > 0 {
			rows = append(rows, found...)
		}
		page, err := r.take(l, found)
		pages = append(pages, page)
		return err
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	switch absent := slices.Contains(strings.Fields(l.Absent), awsapi.CodeOf(err)); {
	case err != nil && !absent:
		r.fail(l, of, err)
	case !absent:
		r.pages = append(r.pages, pages...)
		fallthrough
	default:
		r.answered = true
	}
	return rows, err
}

// send requests all pages, or the first one in a brief scan.
func (r *reading) send(ctx context.Context, call *awsapi.Call, begin func(), take func(model.Value) error) error {
	if !r.estate.brief {
		return r.estate.client.Pages(ctx, r.region, call, begin, take)
	}
	answer, err := r.estate.client.Do(ctx, r.region, call)
	if err != nil {
		return err
	}
	return take(answer)
}

// take returns the resources of rows.
func (r *reading) take(l *catalogue.List, rows []model.Value) (page catalogue.Page, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range rows {
		for _, k := range l.Kinds {
			if err := page.Add(k, row, &r.env, r.texts); err != nil {
				return page, err
			}
		}
	}
	return page, nil
}

// follow reads the lists for the rows of a list.
func (r *reading) follow(ctx context.Context, l *catalogue.List, rows []model.Value) {
	for _, then := range l.Then {
		of := then.Of(rows)
		inputs := then.Inputs(of, &r.env)
		collectors.Parallel(r.estate.config.Concurrency, len(inputs), func(i int) {
			if then.Batch.Size > 0 {
				r.read(ctx, then, inputs[i], model.Value{})
				return
			}
			r.read(ctx, then, inputs[i], of[i])
		})
	}
}

// fail records that a list was not read: the resource of a row, or all of its kinds.
func (r *reading) fail(l *catalogue.List, of model.Value, err error) {
	reason := r.estate.reason(l, r.env.Place, err)
	if unread := l.Unread(of, &r.env, awsapi.CodeOf(err), reason); len(unread) > 0 && !of.IsNull() {
		r.unread = append(r.unread, unread...)
		return
	}
	if r.gaps == nil {
		r.gaps = map[model.Scope]gap{}
	}
	for _, k := range l.AllKinds() {
		r.gaps[model.Scope{Kind: k.FullName(), Place: r.env.Place}] = gap{reason: reason}
	}
}

// reason returns why a list was not read, and the next step.
func (e *estate) reason(l *catalogue.List, place string, err error) string {
	if ended := collectors.Ended(err); ended != "" {
		return ended
	}
	var next string
	byType := l.Call.Service.ID == catalogue.CloudControlService
	switch {
	case byType && slices.Contains([]string{"TypeNotFoundException", "UnsupportedActionException", "InvalidRequestException"}, awsapi.CodeOf(err)):
		next = "Cloud Control has no list of all resources of this type here: remove it from cloud_control"
	case byType && awsapi.Denied(err) && !awsapi.DeniedByOrganization(err):
		next = "grant " + l.Rights + " and the rights to list that the type needs"
	case awsapi.DeniedByOrganization(err):
		next = "a policy of the organization denies it: allow " + l.Rights + " there, or exclude the kinds with exclude_kinds"
	case awsapi.Denied(err):
		next = "grant " + l.Rights
	case awsapi.Off(err) && place != catalogue.Global:
		next = fmt.Sprintf("the region %s is not enabled for account %s, although other requests are accepted: remove it from regions, or enable it", place, e.who.Account)
	case awsapi.Throttled(err):
		next = "AWS asks for fewer requests: raise the interval of the source, or exclude kinds with exclude_kinds"
	default:
		next = hint(err)
	}
	return advised(err, next)
}

// gap returns why a kind was not read in a place; "" if it was.
func (e *estate) gap(kind, place string) string {
	if kind == catalogue.Tags && place == catalogue.Global {
		if place = e.home(); !slices.Contains(e.regions, place) {
			return "the tags of what belongs to no region are read in " + place + ": add it to regions"
		}
	}
	if g, ok := e.gaps[model.Scope{Kind: kind, Place: place}]; ok {
		return g.reason
	}
	if !slices.ContainsFunc(e.lists, func(l *catalogue.List) bool {
		return slices.ContainsFunc(l.AllKinds(), func(k *catalogue.Kind) bool { return k.FullName() == kind })
	}) {
		return "it is left out by services or exclude_kinds"
	}
	return ""
}

// coverage returns for each kind and region whether it was fully read. Nothing is covered
// in regions that are not read.
func (e *estate) coverage() []model.Coverage {
	var all []model.Coverage
	seen := map[string]bool{}
	for _, l := range e.config.catalogue() {
		for _, k := range l.AllKinds() {
			if kind := k.FullName(); !seen[kind] && !k.IsCarrier() {
				seen[kind] = true
				all = append(all, e.coverageOf(kind, l.IsGlobal())...)
			}
		}
	}
	return all
}

func (e *estate) coverageOf(kind string, global bool) []model.Coverage {
	of := func(place, reason string, skipped bool) model.Coverage {
		return model.Coverage{Source: e.source, Kind: kind, Place: place, Complete: reason == "", Skipped: skipped, Reason: reason}
	}
	switch {
	case e.config.leavesOut(kind) != "":
		return []model.Coverage{of("", e.config.leavesOut(kind), true)}
	case global:
		return []model.Coverage{of("", e.gap(kind, catalogue.Global), false)}
	}
	all := []model.Coverage{of("", "only the regions "+strings.Join(e.regions, ", ")+" are read: set regions", true)}
	for _, region := range e.regions {
		all = append(all, of(region, e.gap(kind, region), false))
	}
	return all
}
