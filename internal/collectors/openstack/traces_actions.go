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
	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// viaActions is what an Actor comes through whom Nova's log of a server names.
const viaActions = "os-instance-actions"

// Bounds of what is remembered of servers: how many that are gone, for how long,
// and the last actions of each.
const (
	maxGone     = 1000
	goneKept    = 90 * 24 * time.Hour
	maxOfServer = 32
)

// What list of deleted servers is asked for: goneFirst back at first, and later
// what is new since the last one, goneOverlap before it for clocks that differ.
const (
	goneFirst   = 30 * 24 * time.Hour
	goneOverlap = 10 * time.Minute
)

// deletedStatus is the status of a server that was deleted.
const deletedStatus = "DELETED"

// A serverLog is what Nova's logs of servers told, as far as it is remembered:
// each look asks a few servers, those first that changed since they were asked.
type serverLog struct {
	// Servers are those that were asked, by id.
	Servers map[string]asked
	// Gone are those that were deleted, by id, with the time of that.
	Gone map[string]time.Time
	// Listed is when those that are gone were last listed.
	Listed time.Time
	// fault says why a server could not be asked the last time; "" when all could.
	fault string
}

// An asked is what one server told.
type asked struct {
	// Seen stands for what the server was like when it was asked.
	Seen string
	Acts []bus.Act
}

// A touch is what an action does to a server.
type touch struct {
	deed   model.Action
	fields string
}

// touches are the actions of Nova's log that touch what driftd reads.
func touches() map[string]touch {
	all := map[string]touch{
		"create":           {deed: model.Created},
		"delete":           {deed: model.Deleted},
		"attach_interface": {fields: "interfaces"},
		"detach_interface": {fields: "interfaces"},
		"attach_volume":    {fields: "volumes"},
		"detach_volume":    {fields: "volumes"},
		"swap_volume":      {fields: "volumes"},
	}
	for name, fields := range bus.ServerActions() {
		all[name] = touch{fields: fields}
	}
	return all
}

// read asks servers for what was done to them.
func (s *serverLog) read(ctx context.Context, api asker, config Config, e *normalize.Estate, taken time.Time) {
	live, read := e.Objects[normalize.Server]
	if !read || config.Actions == 0 {
		return
	}
	s.fault = ""
	s.listGone(ctx, api, config, e.AllProjects, taken)
	seen := seenServers(live, e.Objects[normalize.Port])
	gone := s.unasked()
	// Those that are gone leave room for others.
	wanted := gone[:min(len(gone), (config.Actions+1)/2)]
	changed := s.changed(live, seen)
	wanted = append(slices.Clip(wanted), changed[:min(len(changed), config.Actions-len(wanted))]...)
	answers, errs := make([]model.Value, len(wanted)), make([]error, len(wanted))
	collectors.Parallel(config.Concurrency, len(wanted), func(i int) {
		answers[i], errs[i] = api.Object(ctx, normalize.Compute, pathTo("servers", wanted[i], "os-instance-actions"), nil)
	})
	for i, id := range wanted {
		// One that is gone meanwhile has nothing to tell.
		if errs[i] != nil && httpclient.Code(errs[i]) != http.StatusNotFound {
			s.fault = config.because(normalize.Compute, errs[i])
			continue
		}
		s.Servers[id] = asked{Seen: cmp.Or(seen[id], deletedStatus), Acts: actions(id, answers[i])}
	}
	s.prune(seen, taken)
}

// seenServers returns what stands for each server as it is, by id: Nova does not
// count every change of one.
func seenServers(servers, ports []normalize.Object) map[string]string {
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

// changed returns the servers that are another than when they were asked, and then
// those that never were, the last changed of each first.
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

// listGone asks which servers were deleted. Nova leaves them out of what a user
// sees who may not know.
func (s *serverLog) listGone(ctx context.Context, api asker, config Config, all bool, taken time.Time) {
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
		s.fault = config.because(normalize.Compute, err)
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

// unasked returns those that are gone and were not asked since, the last first.
func (s *serverLog) unasked() []string {
	var ids []string
	for id := range s.Gone {
		if s.Servers[id].Seen != deletedStatus {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(s.Gone[b].Compare(s.Gone[a]), cmp.Compare(a, b)) })
	return ids
}

// prune forgets servers that are neither there nor among those that went last.
func (s *serverLog) prune(seen map[string]string, taken time.Time) {
	byAge := slices.SortedFunc(maps.Keys(s.Gone), func(a, b string) int { return s.Gone[b].Compare(s.Gone[a]) })
	for i, id := range byAge {
		if i >= maxGone || taken.Sub(s.Gone[id]) > goneKept {
			delete(s.Gone, id)
		}
	}
	maps.DeleteFunc(s.Servers, func(id string, _ asked) bool {
		_, live := seen[id]
		_, gone := s.Gone[id]
		return !live && !gone
	})
}

// actions reads what Nova tells of one server: the last action first.
func actions(id string, answer model.Value) []bus.Act {
	table := touches()
	var acts []bus.Act
	for _, row := range answer.At("instanceActions").Items() {
		name := row.At("action").Str()
		t, known := table[name]
		at := decode.Time(strings.TrimSuffix(row.At("start_time").Str(), "Z"), "2006-01-02T15:04:05")
		user := httpclient.Printable(row.At("user_id").Str())
		// What nobody asked for Nova did by itself.
		if !known || at.IsZero() || user == "" || t.deed == model.Edited && len(acts) >= maxOfServer || len(acts) >= 2*maxOfServer {
			continue
		}
		acts = append(acts, bus.Act{
			Ref: model.Ref{Kind: normalize.Server, ID: id}, Deed: t.deed, Fields: strings.Fields(t.fields), At: at, UserID: user,
			Request: httpclient.Printable(row.At("request_id").Str()), Via: viaActions, Evidence: "action " + name, Doubtful: !row.At("message").IsNull(),
		})
	}
	return acts
}

// acts returns what is remembered of all servers.
func (s *serverLog) acts() []bus.Act {
	var all []bus.Act
	for _, server := range s.Servers {
		all = append(all, server.Acts...)
	}
	return all
}
