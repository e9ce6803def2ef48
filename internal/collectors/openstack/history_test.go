package openstack

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/openstack/bus"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

// A script is a cloud with fixed answers by service and path, and 404 for all other requests.
type script struct {
	answers map[string]string
	// codes are the status codes of errors.
	codes map[string]int

	mu       sync.Mutex
	requests []string
}

func (s *script) Object(_ context.Context, service, path string, _ url.Values) (model.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := service + " " + path
	s.requests = append(s.requests, at)
	if text, ok := s.answers[at]; ok {
		return decode.JSON([]byte(text))
	}
	code := s.codes[at]
	if code == 0 {
		code = http.StatusNotFound
	}
	return model.Value{}, &httpclient.Status{Code: code}
}

// takeRequests returns the requests since the last call, sorted.
func (s *script) takeRequests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	slices.Sort(requests)
	return requests
}

func noon() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) }

// historyIn returns a history with a cache directory.
func historyIn(dir string, actions int) *history {
	config := Defaults()
	config.Actions = actions
	return newHistory(config, collectors.Env{Name: "cloud", CacheDir: dir, Log: slog.New(slog.DiscardHandler)})
}

// aged returns a server that was created so many hours before noon.
func aged(id string, hours int) normalize.Object {
	at := noon().Add(-time.Duration(hours) * time.Hour)
	return normalize.Object{ID: id, User: "u-" + id, Created: at, Updated: at, Value: model.MapOf(model.Field{Name: "name", Value: model.StringOf(id)})}
}

func estateOf(kind string, objects ...normalize.Object) *normalize.Estate {
	return &normalize.Estate{Project: "p", User: "u-me", Objects: map[string][]normalize.Object{kind: objects}}
}

// logOf returns Nova's action log of a server, the last action first, by user bob.
func logOf(actions ...string) string {
	rows := make([]string, len(actions))
	for i, action := range actions {
		rows[i] = fmt.Sprintf(`{"action": %q, "user_id": "u-bob", "request_id": "req-%d", "start_time": "2026-11-22T11:%02d:00.000000", "message": null}`, action, i, 59-i)
	}
	return `{"instanceActions": [` + strings.Join(rows, ", ") + `]}`
}

func line(t model.AuditEvent) string {
	action := map[model.Action]string{model.Created: "made", model.Edited: "changed", model.Deleted: "deleted"}[t.Action]
	return fmt.Sprintf("%s %s %s by %s, %s: %s (%s)", action, t.ID, strings.Join(t.Fields, "+"), t.Actor.Name, t.Actor.Confidence, t.Actor.Via, t.Actor.Evidence)
}

func lines(events []model.AuditEvent) []string {
	var all []string
	for _, t := range events {
		all = append(all, line(t))
	}
	return all
}

func TestEffectsOfActions(t *testing.T) {
	t.Parallel()
	const id = "web"
	tests := map[string]struct {
		answer string
		want   []string
	}{
		"the last first": {logOf("stop", "resize", "create"), []string{
			"made web  by u-bob, exact: os-instance-actions (action create)",
			"changed web flavor+flavor_name+vm_state by u-bob, exact: os-instance-actions (action resize)",
			"changed web vm_state by u-bob, exact: os-instance-actions (action stop)"}},
		"nothing that driftd reads": {logOf("reboot", "changePassword", "something new"), nil},
		"an action that failed": {`{"instanceActions": [{"action": "rebuild", "user_id": "u-bob", "start_time": "2026-11-22T11:00:00.000000", "message": "Error"}]}`,
			[]string{"changed web description+image+image_name+key_name+metadata+name+vm_state by u-bob, likely: os-instance-actions (action rebuild)"}},
		"by Nova itself":  {`{"instanceActions": [{"action": "shelveOffload", "user_id": null, "start_time": "2026-11-22T11:00:00.000000"}]}`, nil},
		"without a time":  {`{"instanceActions": [{"action": "stop", "user_id": "u-bob", "start_time": "yesterday"}]}`, nil},
		"of another form": {`{"instanceActions": {"action": "stop"}}`, nil},
		"more than is kept": {logOf(append(slices.Repeat([]string{"lock"}, maxOfServer+9), "create")...), append(
			[]string{"made web  by u-bob, exact: os-instance-actions (action create)"},
			slices.Repeat([]string{"changed web locked by u-bob, exact: os-instance-actions (action lock)"}, maxOfServer)...)},
	}
	for reason, test := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			v, err := decode.JSON([]byte(test.answer))
			if err != nil {
				t.Fatal(err)
			}
			got := lines(historyIn("", 1).auditEvents(t.Context(), &script{codes: map[string]int{"identity users/u-bob": http.StatusBadGateway}}, bus.Merge(actions(id, v)), ""))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("traces (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScanReadsActionsOfChangedServers(t *testing.T) {
	t.Parallel()
	at := func(ids ...string) []string {
		var paths []string
		for _, id := range ids {
			paths = append(paths, "compute servers/"+id+"/os-instance-actions")
		}
		return append(paths, "compute servers/detail")
	}
	dir := t.TempDir()
	api := &script{answers: map[string]string{"compute servers/detail": `{"servers": []}`}}
	for _, id := range []string{"a", "b", "c", "d"} {
		api.answers["compute servers/"+id+"/os-instance-actions"] = logOf("create")
		api.answers["identity users/u-"+id] = `{}`
	}
	api.answers["identity users/u-bob"] = `{"user": {"id": "u-bob", "name": "bob"}}`
	h := historyIn(dir, 2)
	a, b, c, d := aged("a", 1), aged("b", 2), aged("c", 3), aged("d", 4)
	scan := func(h *history, objects ...normalize.Object) []string {
		h.read(t.Context(), api, estateOf(normalize.Server, objects...), noon())
		return slices.DeleteFunc(api.takeRequests(), func(path string) bool { return strings.HasPrefix(path, "identity") })
	}
	steps := []struct {
		reason string
		got    []string
		want   []string
	}{
		{"the newest first", scan(h, a, b, c, d), at("a", "b")},
		{"then the others", scan(h, a, b, c, d), at("c", "d")},
		{"then none", scan(h, a, b, c, d), at()},
		{"the cache is used", scan(historyIn(dir, 2), a, b, c, d), at()},
	}
	d.Value = d.Value.With("locked", model.BoolOf(true))
	e := aged("e", 0)
	steps = append(steps, struct {
		reason string
		got    []string
		want   []string
	}{"one that changed, though Nova does not count it, before one that is new", scan(historyIn(dir, 1), a, b, c, d, e), at("d")})
	for _, step := range steps {
		if diff := cmp.Diff(step.want, step.got); diff != "" {
			t.Errorf("%s: asked (-want +got):\n%s", step.reason, diff)
		}
	}
	plugged := estateOf(normalize.Server, a)
	plugged.Objects[normalize.Port] = []normalize.Object{{ID: "port", Value: model.MapOf(model.Field{Name: "device_id", Value: model.StringOf("a")})}}
	h.read(t.Context(), api, plugged, noon())
	if !slices.Contains(api.takeRequests(), at("a")[0]) {
		t.Error("a server that got an interface was not asked")
	}
}

func TestActionsOfDeletedServers(t *testing.T) {
	t.Parallel()
	api := &script{answers: map[string]string{
		"compute servers/detail": `{"servers": [{"id": "gone", "status": "DELETED", "updated": "2026-11-22T11:00:00Z"},
			{"id": "there", "status": "ACTIVE", "updated": "2026-11-22T11:30:00Z"}, {"id": "purged", "status": "DELETED", "updated": "2026-11-22T10:00:00Z"}]}`,
		"compute servers/gone/os-instance-actions": logOf("delete", "create"),
		"identity users/u-bob":                     `{"user": {"name": "bob"}}`,
	}}
	h := historyIn("", 4)
	got := h.read(t.Context(), api, estateOf(normalize.Server), noon())
	want := []string{"made gone  by bob, exact: os-instance-actions (action create)", "deleted gone  by bob, exact: os-instance-actions (action delete)"}
	if diff := cmp.Diff(want, lines(got.events)); diff != "" {
		t.Errorf("traces (-want +got):\n%s", diff)
	}
	api.takeRequests()
	h.read(t.Context(), api, estateOf(normalize.Server), noon())
	if diff := cmp.Diff([]string{"compute servers/detail"}, api.takeRequests()); diff != "" {
		t.Errorf("a second scan sent requests (-want +got):\n%s", diff)
	}
	h.read(t.Context(), api, estateOf(normalize.Server), noon().Add(goneKept))
	if len(h.servers.Servers) != 0 || len(h.servers.Gone) != 0 {
		t.Errorf("servers are remembered that went long ago: %v", h.servers.Gone)
	}
}

func TestCreators(t *testing.T) {
	t.Parallel()
	e := &normalize.Estate{User: "u-me", Objects: map[string][]normalize.Object{
		normalize.Volume:  {{ID: "v", User: "u-bob", Created: noon()}},
		normalize.Keypair: {{ID: "k", User: "u-me"}},
		normalize.Image:   {{ID: "i", Created: noon()}, {ID: "j", Created: noon().Add(time.Hour)}, {ID: "l"}, {ID: "m", Created: noon().Add(2 * time.Hour)}},
		normalize.Server:  {{ID: "s", User: "u-bob", Created: noon()}},
	}}
	birth := func(user string, at time.Time) bus.Event {
		return bus.Event{Ref: model.Ref{Kind: normalize.Image}, Action: model.Created, Began: at.Add(-time.Second), At: at, UserID: user, User: user, Via: bus.Via, Evidence: "audit.http.response ev"}
	}
	events := []bus.Event{birth("eve", noon()), birth("eve", noon().Add(time.Hour)), birth("mallory", noon().Add(time.Hour)), birth("eve", time.Time{}),
		{Ref: model.Ref{Kind: normalize.Server, ID: "s"}, Action: model.Created, User: "admin", At: noon(), Via: bus.Via, Evidence: "instance.create.end m"},
		{Ref: model.Ref{Kind: normalize.Keypair, ID: "k"}, Action: model.Deleted, User: "eve", Owner: "u-eve", At: noon(), Via: bus.Via, Evidence: "keypair.delete.end m"}}
	h := historyIn("", 0)
	h.remember("u-me", "me")
	h.remember("u-bob", "bob")
	got := lines(h.auditEvents(t.Context(), &script{}, bus.Merge(append(events, creators(e, events)...)), "u-me"))
	want := []string{
		"made i  by eve, likely: OpenStack notification (audit.http.response ev at that time)",
		"made k  by me, likely: OpenStack API (its user_id)",
		"made s  by admin, exact: OpenStack notification (instance.create.end m)",
		"made v  by bob, exact: OpenStack API (its user_id)",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("traces (-want +got):\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	const id = "u-bob"
	tests := map[string]struct {
		answer       string
		code         int
		want, remark string
		// again is the number of further scans.
		requests int
	}{
		"known":       {answer: `{"user": {"name": "bob"}}`, want: "bob", requests: 1},
		"gone":        {want: id, remark: "the user no longer exists in Keystone", requests: 1},
		"forbidden":   {code: http.StatusForbidden, want: id, remark: "give its user the role reader", requests: 2},
		"bad gateway": {code: http.StatusBadGateway, want: id, requests: 2},
		"nameless":    {answer: `{"user": {}}`, want: id, requests: 2},
		"printable":   {answer: `{"user": {"name": "bob\n\u001b[31m"}}`, want: "bob [31m", requests: 1},
	}
	for reason, test := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			api := &script{codes: map[string]int{"identity users/" + id: test.code}}
			if test.answer != "" {
				api.answers = map[string]string{"identity users/" + id: test.answer}
			}
			d := userNames{Names: map[string]string{}}
			for range 2 {
				d.begin()
				if name, remark := d.name(t.Context(), api, id); name != test.want || !strings.Contains(remark, test.remark) || test.remark == "" && remark != "" {
					t.Errorf("%q, %q; want %q, %q", name, remark, test.want, test.remark)
				}
			}
			if got := len(api.takeRequests()); got != test.requests {
				t.Errorf("asked %d times, want %d", got, test.requests)
			}
		})
	}
}

func TestMaxNames(t *testing.T) {
	t.Parallel()
	api := &script{}
	d := userNames{Names: map[string]string{}}
	d.begin()
	for i := range 3 * maxNames {
		d.name(t.Context(), api, fmt.Sprint("u-", i))
	}
	if got := len(api.takeRequests()); got != maxNames {
		t.Errorf("asked %d times, want %d", got, maxNames)
	}
	for i := range 2 * maxKnown {
		d.remember(fmt.Sprint("u-", i), "bob")
	}
	if len(d.Names) > maxKnown {
		t.Errorf("%d names known, want %d at most", len(d.Names), maxKnown)
	}
}

func TestHistoryForgetsADamagedFile(t *testing.T) {
	t.Parallel()
	for reason, text := range map[string]string{"cut off": `{"Servers": {"a": {"Seen": "x"`, "of another kind": `[1]`, "nothing": `{}`, "null": `{"Servers": null, "Names": null}`} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "history.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			api := &script{answers: map[string]string{"compute servers/detail": `{"servers": []}`, "compute servers/a/os-instance-actions": logOf("create"), "identity users/u-bob": `{"user": {"name": "bob"}}`}}
			got := historyIn(dir, 1).read(t.Context(), api, estateOf(normalize.Server, aged("a", 1)), noon())
			if len(got.events) != 1 || got.events[0].Actor.Name != "bob" {
				t.Errorf("traces %v, want one by bob", lines(got.events))
			}
			if again := historyIn(dir, 1); again.names.Names["u-bob"] != "bob" || len(again.servers.Servers) != 1 {
				t.Errorf("not kept: %+v", again.servers)
			}
		})
	}
}

func TestErrorsOnlyHideAuthors(t *testing.T) {
	t.Parallel()
	api := &script{codes: map[string]int{"compute servers/a/os-instance-actions": http.StatusForbidden, "compute servers/detail": http.StatusForbidden, "identity users/u-a": http.StatusForbidden}}
	h := historyIn("", 2)
	got := h.read(t.Context(), api, estateOf(normalize.Server, aged("a", 1)), noon())
	if len(got.events) != 1 || got.events[0].Actor.Name != "u-a" || !strings.Contains(got.events[0].Actor.Evidence, "role reader") {
		t.Errorf("events %v, want the id of the creator", lines(got.events))
	}
	if why := got.writerUnknown(normalize.Server); !strings.Contains(why, "could not be read") || !strings.Contains(why, "role reader") {
		t.Errorf("writerUnknown %q, want the reason and the next step", why)
	}
	api.takeRequests()
	if got := historyIn("", 0).read(t.Context(), api, estateOf(normalize.Server, aged("a", 1)), noon()); len(api.takeRequests()) != 1 || !strings.Contains(got.writerUnknown(normalize.Server), "actions is 0") {
		t.Errorf("unsigned %q, want one that names the setting, and no server asked", got.writerUnknown(normalize.Server))
	}
}

func TestUnknownWriter(t *testing.T) {
	t.Parallel()
	keep := 90 * 24 * time.Hour
	tests := map[string]struct {
		unknownWriter
		kind string
		want []string
	}{
		"Neutron without a bus":      {unknownWriter{actions: 20}, normalize.SecurityGroupRule, []string{"Neutron keeps no record of who did what", "set notifications", "docs/openstack.md"}},
		"Nova without a bus":         {unknownWriter{actions: 20}, normalize.Server, []string{"a scan reads for 20 servers (actions)", "metadata", "audit middleware to Nova"}},
		"Glance without a bus":       {unknownWriter{}, normalize.Image, []string{"Glance keeps no record", "audit middleware to Glance"}},
		"a bus that is down":         {unknownWriter{busState: &bus.State{Fault: "the notification bus at x could not be read"}}, normalize.Network, []string{"Neutron keeps no record", "the notification bus at x could not be read"}},
		"no exchange":                {unknownWriter{busState: &bus.State{Absent: []string{"neutron"}}}, normalize.Network, []string{"no exchange neutron", "notifications.exchanges"}},
		"another's exchange":         {unknownWriter{busState: &bus.State{Absent: []string{"cinder"}, Since: noon()}, keep: keep}, normalize.Network, []string{"since 2026-11-22 12:00 UTC", "older than that or than 90 days (notifications.keep)", "Neutron sends no notifications"}},
		"a bus, and no server asked": {unknownWriter{actions: 1, busState: &bus.State{Since: noon()}, keep: keep, fault: "no answer"}, normalize.Server, []string{"(no answer); the notifications since"}},
		"a bus for servers":          {unknownWriter{actions: 1, busState: &bus.State{Since: noon()}, keep: keep}, normalize.Server, []string{"since 2026-11-22 12:00 UTC", "audit middleware"}},
	}
	for reason, test := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			got := test.of(test.kind)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q, want %q in it", got, want)
				}
			}
		})
	}
	for _, k := range normalize.Kinds() {
		if (unknownWriter{actions: 1}).of(k.Name) == "" {
			t.Errorf("no reason for %s", k.Name)
		}
	}
}

func TestEachSourceHasItsOwnQueue(t *testing.T) {
	t.Parallel()
	n := Defaults().Notifications
	if one, two := n.queue("shop"), n.queue("lab"); one != "driftd-shop" || two != "driftd-lab" {
		t.Errorf("queues %s and %s", one, two)
	}
	n.Queue = "mine"
	if got := n.queue("shop"); got != "mine" {
		t.Errorf("queue %s", got)
	}
}

func TestHistoryOfABusThatIsDown(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "bus-url")
	if err := os.WriteFile(file, []byte("amqp://driftd:hunter2@127.0.0.1:1/"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := Defaults()
	config.Notifications.URLFile = file
	h := newHistory(config, collectors.Env{Name: "cloud", Log: slog.New(slog.DiscardHandler)})
	got := h.read(t.Context(), &script{}, estateOf(normalize.Network, normalize.Object{ID: "n"}), noon())
	if why := got.writerUnknown(normalize.Network); !strings.Contains(why, "nothing listens there") || strings.Contains(why, "hunter2") {
		t.Errorf("unsigned %q, want why the bus could not be read", why)
	}
}
