package trigger_test

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/trigger"
)

// Bodies of webhooks of NetBox 4.6 and 4.2, cut short.
const (
	machineEvent = `{"event": "updated", "timestamp": "2026-11-20T06:27:52.067081+00:00", "object_type": "virtualization.virtualmachine", "username": "mara",
		"request_id": "e42f51ef-1be3-4297-ba42-aa3e2d1a4a5b", "data": {"id": 6, "name": "app-01"}, "snapshots": {"prechange": {"id": 7}, "postchange": {"id": 7}}}`
	prefixEvent = `{"event": "deleted", "timestamp": "2026-11-20 06:27:52", "model": "prefix", "username": "mara", "request_id": "5b", "data": {"id": 12}}`
)

func netbox(name string, sources, declarations []string) trigger.Trigger {
	return trigger.Trigger{Name: name, Type: "netbox", Secret: secret("secret"), Sources: sources, Declarations: declarations, MinInterval: 10 * time.Second}
}

func event(t *testing.T, q *trigger.Queue, name, body string) {
	t.Helper()
	mac := hmac.New(sha512.New, []byte("secret"))
	mac.Write([]byte(body))
	if err := q.Accept(name, header("X-Hook-Signature", hex.EncodeToString(mac.Sum(nil))), strings.NewReader(body)); err != nil {
		t.Errorf("%.80s: %v", body, err)
	}
}

// TestObjects checks what scans read after events that name objects.
func TestObjects(t *testing.T) {
	t.Parallel()
	inventory := []trigger.Trigger{netbox("netbox", []string{"inventory"}, []string{"infra"})}
	const both = "1s [] [infra] map[inventory:[{prefix 12} {virtualization.virtualmachine 6}]]"
	tests := map[string]struct {
		triggers []trigger.Trigger
		bodies   []string
		want     []string
	}{
		"a burst":          {inventory, []string{machineEvent, prefixEvent, machineEvent + " "}, []string{both}},
		"no object":        {inventory, []string{machineEvent, `{"object_type": "ipam.prefix", "data": {}}`, prefixEvent}, []string{"1s [inventory] [infra]"}},
		"no JSON":          {inventory, []string{"no JSON"}, []string{"1s [inventory] [infra]"}},
		"an id of letters": {inventory, []string{`{"object_type": "ipam.prefix", "data": {"id": "12; drop"}}`}, []string{"1s [inventory] [infra]"}},
		"a long name":      {inventory, []string{fmt.Sprintf(`{"object_type": %q, "data": {"id": 1}}`, strings.Repeat("x", 300))}, []string{"1s [inventory] [infra]"}},
		"a large event":    {inventory, []string{machineEvent + strings.Repeat(" ", 1<<20)}, []string{"1s [inventory] [infra]"}},
		"no source":        {[]trigger.Trigger{netbox("netbox", nil, []string{"infra"})}, []string{machineEvent}, []string{"1s [] [infra]"}},
		"everything":       {[]trigger.Trigger{netbox("netbox", nil, nil)}, []string{machineEvent}, []string{"1s [] []"}},
		"many objects":     {inventory, many(101), []string{"1s [inventory] [infra]"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &recorder{takes: time.Second}
			run(t, w, slices.Concat(tt.triggers, []trigger.Trigger{github("first", 0, []string{"first"}, nil)}), func(q *trigger.Queue) {
				if err := push(q, "first"); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Second / 2)
				for _, body := range tt.bodies { // while a scan runs
					event(t, q, "netbox", body)
				}
				time.Sleep(time.Second)
			})
			w.scans = w.scans[1:]
			if diff := cmp.Diff(tt.want, w.scans); diff != "" {
				t.Errorf("scans (-want +got):\n%s", diff)
			}
		})
	}
}

func many(n int) []string {
	bodies := make([]string, n)
	for i := range bodies {
		bodies[i] = fmt.Sprintf(`{"model": "prefix", "data": {"id": %d}}`, i+1)
	}
	return bodies
}

// TestObjectsOfSeveralTriggers checks that a scan reads a source in full if one of its triggers
// requires that, and that a scan does not repeat the objects of the scan before.
func TestObjectsOfSeveralTriggers(t *testing.T) {
	t.Parallel()
	w := &recorder{takes: time.Second}
	run(t, w, []trigger.Trigger{netbox("a", []string{"inventory", "lab"}, nil), github("push", 0, []string{"lab"}, nil)}, func(q *trigger.Queue) {
		if err := push(q, "push"); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second / 2)
		event(t, q, "a", machineEvent) // while a scan runs
		if err := push(q, "push"); err != nil {
			t.Error(err)
		}
		time.Sleep(15 * time.Second)
		event(t, q, "a", prefixEvent)
		time.Sleep(time.Second)
	})
	want := []string{
		"0s [lab] []",
		"1s [lab] [] map[inventory:[{virtualization.virtualmachine 6}]]",
		"15.5s [] [] map[inventory:[{prefix 12}] lab:[{prefix 12}]]",
	}
	if diff := cmp.Diff(want, w.scans); diff != "" {
		t.Errorf("scans (-want +got):\n%s", diff)
	}
}

// FuzzEvent checks that every signed event is accepted, with any body.
func FuzzEvent(f *testing.F) {
	for _, body := range []string{machineEvent, prefixEvent, "", "null", `{"data": null}`, `{"object_type": 7}`, `{"data": {"id": 1e400}}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		q := trigger.NewQueue(trigger.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		q.Configure([]trigger.Trigger{netbox("netbox", []string{"inventory"}, nil)})
		event(t, q, "netbox", body)
	})
}
