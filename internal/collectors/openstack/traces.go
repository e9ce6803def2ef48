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
	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
	"github.com/driftd/driftd/internal/model"
)

// maxListening is how long a look listens to the notification bus.
const maxListening = 20 * time.Second

// A history is what is known of who did what, kept between looks. It is safe for
// concurrent use.
type history struct {
	config Config
	env    collectors.Env
	// bus is nil where the settings speak of none.
	bus *bus.Bus
	// file is where what was asked is kept; "" when nowhere.
	file string

	mu      sync.Mutex
	servers serverLog
	names   directory
}

// told is what a history says at one moment.
type told struct {
	// traces are sorted by kind, id and time.
	traces []model.AuditEvent
	// unsigned says of a kind why nobody may be known to have changed an object.
	unsigned func(kind string) string
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

// know notes the name of a user, as a token tells it.
func (h *history) know(id, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.names.know(id, name)
}

// read brings the history up to date and returns what it says of an estate. What
// cannot be read costs names, and no more.
func (h *history) read(ctx context.Context, api asker, e *normalize.Estate, taken time.Time) told {
	h.mu.Lock()
	defer h.mu.Unlock()
	var heard *bus.State
	var acts []bus.Act
	if h.bus != nil {
		state := h.listen(ctx, taken)
		heard, acts = &state, h.bus.Acts(taken)
		// Where a service tells the id alone, another one told the name.
		for i := range acts {
			h.names.know(acts[i].UserID, acts[i].User)
		}
	}
	h.servers.read(ctx, api, h.config, e, taken)
	acts = append(acts, h.servers.acts()...)
	h.names.begin()
	traces := h.traces(ctx, api, bus.Merge(append(acts, makers(e, acts)...)), e.User)
	if err := h.save(); err != nil {
		h.env.Log.LogAttrs(ctx, slog.LevelWarn, "history of servers not kept", slog.Any("err", err))
	}
	silence := silence{actions: h.config.Actions, keep: h.config.Notifications.Keep, fault: h.servers.fault, heard: heard}
	return told{traces: traces, unsigned: silence.of}
}

func (h *history) listen(ctx context.Context, taken time.Time) bus.State {
	ctx, cancel := context.WithTimeout(ctx, maxListening)
	defer cancel()
	return h.bus.Drain(ctx, taken)
}

// makers tells who made the objects of which no log tells it: whom their rows
// name, or else who made one of that kind at that time.
func makers(e *normalize.Estate, acts []bus.Act) []bus.Act {
	made, births := map[model.Ref]bool{}, map[string][]*bus.Act{}
	for i := range acts {
		switch a := &acts[i]; {
		case a.ID == "":
			births[a.Kind] = append(births[a.Kind], a)
		case a.Deed == model.Created:
			made[a.Ref] = true
		}
	}
	var all []bus.Act
	for kind, objects := range e.Objects {
		for i := range objects {
			o := &objects[i]
			ref := model.Ref{Kind: kind, ID: o.ID}
			if made[ref] {
				continue
			}
			if o.User != "" {
				all = append(all, bus.Act{Ref: ref, Deed: model.Created, At: o.Created, UserID: o.User, Owner: ownerOf(kind, o),
					Via: "OpenStack API", Evidence: "its user_id", Doubtful: kind == normalize.Keypair})
			} else if by, ok := maker(o, births[kind]); ok {
				by.Ref, by.Doubtful, by.Evidence = ref, true, by.Evidence+" at that time"
				all = append(all, by)
			}
		}
	}
	return all
}

// apart is how far the clocks of two services may be apart, and what the whole
// seconds leave out in which they count.
const apart = 2 * time.Second

// maker returns what made an object: what made one of its kind when it came to be,
// where that was one user's doing alone.
func maker(o *normalize.Object, births []*bus.Act) (bus.Act, bool) {
	var found *bus.Act
	for _, a := range births {
		if o.Created.Before(a.Began.Add(-apart)) || o.Created.After(a.At.Add(apart)) {
			continue
		}
		if found != nil && found.UserID != a.UserID {
			return bus.Act{}, false
		}
		found = a
	}
	if found == nil || o.Created.IsZero() {
		return bus.Act{}, false
	}
	return *found, true
}

// ownerOf is whose an object is that is unique for one user only.
func ownerOf(kind string, o *normalize.Object) string {
	if kind == normalize.Keypair {
		return o.User
	}
	return ""
}

// traces puts acts into the model's words. A keypair of another user is not the
// one of that name that was read.
func (h *history) traces(ctx context.Context, api asker, acts []bus.Act, me string) []model.AuditEvent {
	traces := make([]model.AuditEvent, 0, len(acts))
	for i := range acts {
		a := &acts[i]
		if a.ID == "" || a.Owner != "" && a.Owner != me {
			continue
		}
		traces = append(traces, model.AuditEvent{Ref: a.Ref, Action: a.Deed, Fields: a.Fields, Actor: h.actor(ctx, api, a)})
	}
	return traces
}

// actor says who did it.
func (h *history) actor(ctx context.Context, api asker, a *bus.Act) model.Actor {
	name, remark := a.User, ""
	if name == "" {
		name, remark = h.names.name(ctx, api, a.UserID)
	}
	who := model.Actor{Name: name, At: a.At, Via: a.Via, Evidence: a.Evidence, Confidence: model.Exact, Request: cmp.Or(a.Origin, a.Request)}
	if a.Vague() {
		who.Confidence = model.Likely
	}
	if remark != "" {
		who.Evidence += " (" + remark + ")"
	}
	return who
}

// load reads what an earlier driftd kept. What cannot be read is forgotten.
func (h *history) load() {
	h.servers, h.names = serverLog{}, directory{}
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
		h.servers.Servers = map[string]asked{}
	}
	if h.servers.Gone == nil {
		h.servers.Gone = map[string]time.Time{}
	}
}

// keptHistory is what the file holds.
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

// pathTo joins names to a path.
func pathTo(names ...string) string {
	escaped := make([]string, len(names))
	for i, name := range names {
		escaped[i] = url.PathEscape(name)
	}
	return strings.Join(escaped, "/")
}
