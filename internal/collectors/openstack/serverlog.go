package openstack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/openstack/bus"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
	"github.com/driftd/driftd/internal/printable"
)

// viaActions is model.Actor.Via of actors from Nova's instance action log.
const viaActions = "os-instance-actions"

// Limits: the number of deleted servers, how long they are kept, and the last actions per
// server.
const (
	maxGone     = 1000
	goneKept    = 90 * 24 * time.Hour
	maxOfServer = 32
)

// Time ranges of the list of deleted servers: goneFirst for the first one, and later since the
// last one, with goneOverlap for clocks that differ.
const (
	goneFirst   = 30 * 24 * time.Hour
	goneOverlap = 10 * time.Minute
)

// deletedStatus is the status of a deleted server.
const deletedStatus = "DELETED"

// A serverLog keeps the actions of servers from Nova's instance action log. Each scan reads
// those of a few servers, and first those of servers that changed since the last read.
type serverLog struct {
	// Servers are the servers whose actions were read, by id.
	Servers map[string]serverRecord
	// Gone are the times of deletion of deleted servers, by id.
	Gone map[string]time.Time
	// Listed is when the deleted servers were last listed.
	Listed time.Time
	// fault is why the actions of a server could not be read in the last scan; "" if all were.
	fault string
}

// A serverRecord is the result of reading the actions of one server.
type serverRecord struct {
	// Seen is the fingerprint of the server at that time.
	Seen   string
	Events []bus.Event `json:"Acts"`
}

// An effect is the change of a server by an action.
type effect struct {
	action model.Action
	fields string
}

// effects returns the actions that change values which driftd reads.
func effects() map[string]effect {
	all := map[string]effect{
		"create":           {action: model.Created},
		"delete":           {action: model.Deleted},
		"attach_interface": {fields: "interfaces"},
		"detach_interface": {fields: "interfaces"},
		"attach_volume":    {fields: "volumes"},
		"detach_volume":    {fields: "volumes"},
		"swap_volume":      {fields: "volumes"},
	}
	for name, fields := range bus.ServerActions() {
		all[name] = effect{fields: fields}
	}
	return all
}

// read reads the actions of servers.
func (s *serverLog) read(ctx context.Context, api requester, config Config, e *normalize.Estate, taken time.Time) {
	live, read := e.Objects[normalize.Server]
	if !read || config.Actions == 0 {
		return
	}
	s.fault = ""
	s.listDeleted(ctx, api, config, e.AllProjects, taken)
	seen := fingerprints(live, e.Objects[normalize.Port])
	gone := s.unreadDeleted()
	// Deleted servers take at most half of the requests.
	wanted := gone[:min(len(gone), (config.Actions+1)/2)]
	changed := s.changed(live, seen)
	wanted = append(slices.Clip(wanted), changed[:min(len(changed), config.Actions-len(wanted))]...)
	answers, errs := make([]model.Value, len(wanted)), make([]error, len(wanted))
	collectors.Parallel(config.Concurrency, len(wanted), func(i int) {
		answers[i], errs[i] = api.Object(ctx, normalize.Compute, pathTo("servers", wanted[i], "os-instance-actions"), nil)
	})
	for i, id := range wanted {
		// A server that was deleted meanwhile has no actions.
		if errs[i] != nil && httpclient.Code(errs[i]) != http.StatusNotFound {
			s.fault = config.reason(normalize.Compute, errs[i])
			continue
		}
		s.Servers[id] = serverRecord{Seen: cmp.Or(seen[id], deletedStatus), Events: actions(id, answers[i])}
	}
	s.prune(seen, taken)
}

// fingerprints returns a hash of each server's values, by ID, because the time of the last change
// does not reflect every change.
func fingerprints(servers, ports []normalize.Object) map[string]string {
	plugged := map[string][]string{}
	for i := range ports {
		device := ports[i].Value.At("device_id").Str()
		plugged[device] = append(plugged[device], ports[i].ID)
	}
	seen := make(map[string]string, len(servers))
	for i := range servers {
		o := &servers[i]
		text := append(o.Updated.AppendFormat(nil, time.RFC3339), o.Value.AppendJSON(nil)...)
		for _, id := range slices.Sorted(slices.Values(plugged[o.ID])) {
			text = append(text, id...)
		}
		sum := sha256.Sum256(text)
		seen[o.ID] = hex.EncodeToString(sum[:8])
	}
	return seen
}

// changed returns the servers that differ from their last read, followed by those that were never
// read, each sorted by the time of the last change, latest first.
func (s *serverLog) changed(servers []normalize.Object, seen map[string]string) []string {
	var wanted []*normalize.Object
	for i := range servers {
		if o := &servers[i]; s.Servers[o.ID].Seen != seen[o.ID] {
			wanted = append(wanted, o)
		}
	}
	known := func(o *normalize.Object) int {
		if _, ok := s.Servers[o.ID]; ok {
			return 0
		}
		return 1
	}
	slices.SortFunc(wanted, func(a, b *normalize.Object) int {
		return cmp.Or(cmp.Compare(known(a), known(b)), b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID))
	})
	ids := make([]string, len(wanted))
	for i, o := range wanted {
		ids[i] = o.ID
	}
	return ids
}

// listDeleted lists the deleted servers. Nova omits them for users without the permission to see
// them.
func (s *serverLog) listDeleted(ctx context.Context, api requester, config Config, all bool, taken time.Time) {
	since := s.Listed.Add(-goneOverlap)
	if s.Listed.IsZero() {
		since = taken.Add(-goneFirst)
	}
	query := url.Values{"deleted": {"true"}, "changes-since": {since.UTC().Format("2006-01-02T15:04:05Z")},
		"limit": {"200"}, "sort_key": {"updated_at"}, "sort_dir": {"desc"}}
	if all {
		query.Set("all_tenants", "true")
	}
	answer, err := api.Object(ctx, normalize.Compute, "servers/detail", query)
	if err != nil {
		s.fault = config.reason(normalize.Compute, err)
		return
	}
	for _, row := range answer.At("servers").Items() {
		at := decode.Time(row.At("updated").Str(), time.RFC3339)
		if id := row.At("id").Str(); !at.IsZero() && id != "" && row.At("status").Str() == deletedStatus {
			s.Gone[id] = at
		}
	}
	s.Listed = taken
}

// unreadDeleted returns the deleted servers whose actions were not read since, the last one
// first.
func (s *serverLog) unreadDeleted() []string {
	var ids []string
	for id := range s.Gone {
		if s.Servers[id].Seen != deletedStatus {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(s.Gone[b].Compare(s.Gone[a]), cmp.Compare(a, b)) })
	return ids
}

// prune removes servers that neither exist nor are among the last deleted ones.
func (s *serverLog) prune(seen map[string]string, taken time.Time) {
	byAge := slices.SortedFunc(maps.Keys(s.Gone), func(a, b string) int { return s.Gone[b].Compare(s.Gone[a]) })
	for i, id := range byAge {
		if i >= maxGone || taken.Sub(s.Gone[id]) > goneKept {
			delete(s.Gone, id)
		}
	}
	maps.DeleteFunc(s.Servers, func(id string, _ serverRecord) bool {
		_, live := seen[id]
		_, gone := s.Gone[id]
		return !live && !gone
	})
}

// actions returns the events of one server, latest first.
func actions(id string, answer model.Value) []bus.Event {
	table := effects()
	var events []bus.Event
	for _, row := range answer.At("instanceActions").Items() {
		name := row.At("action").Str()
		t, known := table[name]
		at := decode.Time(strings.TrimSuffix(row.At("start_time").Str(), "Z"), "2006-01-02T15:04:05")
		user := printable.Text(row.At("user_id").Str())
		// Actions without a user are Nova's own.
		if !known || at.IsZero() || user == "" || t.action == model.Edited && len(events) >= maxOfServer || len(events) >= 2*maxOfServer {
			continue
		}
		events = append(events, bus.Event{
			Ref: model.Ref{Kind: normalize.Server, ID: id}, Action: t.action, Fields: strings.Fields(t.fields), At: at, UserID: user,
			Request: printable.Text(row.At("request_id").Str()), Via: viaActions, Evidence: "action " + name, Doubtful: !row.At("message").IsNull(),
		})
	}
	return events
}

// events returns the events of all servers.
func (s *serverLog) events() []bus.Event {
	var all []bus.Event
	for _, server := range s.Servers {
		all = append(all, server.Events...)
	}
	return all
}
