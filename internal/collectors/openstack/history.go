package openstack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/atomicfile"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/openstack/bus"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

// maxListening is the timeout of reading the notification bus in one scan.
const maxListening = 20 * time.Second

// A history keeps the known changes and their users between scans. It is safe for concurrent
// use.
type history struct {
	config Config
	env    collectors.Env
	// bus is nil if none is configured.
	bus *bus.Bus
	// file is the path of the cache; "" for only in memory.
	file string

	mu      sync.Mutex
	servers serverLog
	names   userNames
}

// An auditLog is the content of a history at one time.
type auditLog struct {
	// events are sorted by kind, id and time.
	events []model.AuditEvent
	// writerUnknown returns why the author of a change of the kind may be unknown.
	writerUnknown func(kind string) string
}

func newHistory(config Config, env collectors.Env) *history {
	h := &history{config: config, env: env}
	if env.CacheDir != "" {
		h.file = filepath.Join(env.CacheDir, "history.json")
	}
	if n := config.Notifications; n.URLFile != "" {
		h.bus = bus.New(bus.Options{
			URLFile: n.URLFile, CAFile: n.CAFile, Cleartext: n.Cleartext, Queue: n.queue(env.Name), Exchanges: n.Exchanges, Topic: n.Topic,
			Keep: n.Keep, CacheDir: env.CacheDir, Log: env.Log,
		})
	}
	h.load()
	return h
}

// remember stores the name of a user from a token.
func (h *history) remember(id, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.names.remember(id, name)
}

// read updates the history and returns the events of an estate. It logs errors or adds them to the
// reasons, since only the authors of changes are missing because of them.
func (h *history) read(ctx context.Context, api requester, e *normalize.Estate, taken time.Time) auditLog {
	h.mu.Lock()
	defer h.mu.Unlock()
	var busState *bus.State
	var events []bus.Event
	if h.bus != nil {
		state := h.drainBus(ctx, taken)
		busState, events = &state, h.bus.Events(taken)
		// Some services send only the id of a user, and others the name, too.
		for i := range events {
			h.names.remember(events[i].UserID, events[i].User)
		}
	}
	h.servers.read(ctx, api, h.config, e, taken)
	events = append(events, h.servers.events()...)
	h.names.begin()
	auditEvents := h.auditEvents(ctx, api, bus.Merge(append(events, creators(e, events)...)), e.User)
	if err := h.save(); err != nil {
		h.env.Log.LogAttrs(ctx, slog.LevelWarn, "history of servers not kept", slog.Any("err", err))
	}
	unknownWriter := unknownWriter{actions: h.config.Actions, keep: h.config.Notifications.Keep, fault: h.servers.fault, busState: busState}
	return auditLog{events: auditEvents, writerUnknown: unknownWriter.of}
}

func (h *history) drainBus(ctx context.Context, taken time.Time) bus.State {
	ctx, cancel := context.WithTimeout(ctx, maxListening)
	defer cancel()
	return h.bus.Drain(ctx, taken)
}

// creators returns the creation events of the objects that no log contains. The creator is the user
// in the row of the object, or the only user who created an object of the kind at that time.
func creators(e *normalize.Estate, events []bus.Event) []bus.Event {
	made, creations := map[model.Ref]bool{}, map[string][]*bus.Event{}
	for i := range events {
		switch a := &events[i]; {
		case a.ID == "":
			creations[a.Kind] = append(creations[a.Kind], a)
		case a.Action == model.Created:
			made[a.Ref] = true
		}
	}
	var all []bus.Event
	for kind, objects := range e.Objects {
		for i := range objects {
			o := &objects[i]
			ref := model.Ref{Kind: kind, ID: o.ID}
			if made[ref] {
				continue
			}
			if o.User != "" {
				all = append(all, bus.Event{Ref: ref, Action: model.Created, At: o.Created, UserID: o.User, Owner: ownerOf(kind, o),
					Via: "OpenStack API", Evidence: "its user_id", Doubtful: kind == normalize.Keypair})
			} else if by, ok := creator(o, creations[kind]); ok {
				by.Ref, by.Doubtful, by.Evidence = ref, true, by.Evidence+" at that time"
				all = append(all, by)
			}
		}
	}
	return all
}

// clockSkew is the maximum difference between the clocks of two services, including the
// rounding of times to seconds.
const clockSkew = 2 * time.Second

// creator returns the event that created an object, which is an event of its kind at the time of
// its creation. It returns false if several users created one at that time.
func creator(o *normalize.Object, creations []*bus.Event) (bus.Event, bool) {
	var found *bus.Event
	for _, a := range creations {
		if o.Created.Before(a.Began.Add(-clockSkew)) || o.Created.After(a.At.Add(clockSkew)) {
			continue
		}
		if found != nil && found.UserID != a.UserID {
			return bus.Event{}, false
		}
		found = a
	}
	if found == nil || o.Created.IsZero() {
		return bus.Event{}, false
	}
	return *found, true
}

// ownerOf returns the user of an object whose id is unique per user only; "" for other objects.
func ownerOf(kind string, o *normalize.Object) string {
	if kind == normalize.Keypair {
		return o.User
	}
	return ""
}

// auditEvents converts events. It omits those of another user's keypair, which may have the
// name of one that was read.
func (h *history) auditEvents(ctx context.Context, api requester, events []bus.Event, me string) []model.AuditEvent {
	all := make([]model.AuditEvent, 0, len(events))
	for i := range events {
		a := &events[i]
		if a.ID == "" || a.Owner != "" && a.Owner != me {
			continue
		}
		all = append(all, model.AuditEvent{Ref: a.Ref, Action: a.Action, Fields: a.Fields, Actor: h.actor(ctx, api, a)})
	}
	return all
}

// actor returns the actor of an event.
func (h *history) actor(ctx context.Context, api requester, a *bus.Event) model.Actor {
	name, remark := a.User, ""
	if name == "" {
		name, remark = h.names.name(ctx, api, a.UserID)
	}
	who := model.Actor{Name: name, At: a.At, Via: a.Via, Evidence: a.Evidence, Confidence: model.Exact, Request: cmp.Or(a.Origin, a.Request)}
	if a.Uncertain() {
		who.Confidence = model.Likely
	}
	if remark != "" {
		who.Evidence += " (" + remark + ")"
	}
	return who
}

// load reads the cache. An unreadable file is ignored.
func (h *history) load() {
	h.servers, h.names = serverLog{}, userNames{}
	text, err := os.ReadFile(h.file)
	if err == nil {
		var kept keptHistory
		if json.Unmarshal(text, &kept) == nil {
			h.servers, h.names.Names = kept.serverLog, kept.Names
		}
	}
	if h.names.Names == nil {
		h.names.Names = map[string]string{}
	}
	if h.servers.Servers == nil {
		h.servers.Servers = map[string]serverRecord{}
	}
	if h.servers.Gone == nil {
		h.servers.Gone = map[string]time.Time{}
	}
}

// keptHistory is the content of the file.
type keptHistory struct {
	serverLog
	Names map[string]string
}

func (h *history) save() error {
	if h.file == "" {
		return nil
	}
	text, err := json.Marshal(keptHistory{h.servers, h.names.Names})
	if err != nil {
		return fmt.Errorf("keep history: %w", err)
	}
	if err := atomicfile.Write(h.file, text); err != nil {
		return fmt.Errorf("keep history: %w", err)
	}
	return nil
}

// pathTo returns the escaped parts joined to a path.
func pathTo(names ...string) string {
	escaped := make([]string, len(names))
	for i, name := range names {
		escaped[i] = url.PathEscape(name)
	}
	return strings.Join(escaped, "/")
}
