package normalize_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

func TestGuest(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ rows, value, running, reason string }{
		"nothing waits":     {`[{"key": "cores", "value": 2}, {"key": "digest", "value": "ab"}]`, `{"cores":2,"template":false}`, `{}`, "the usual case"},
		"template":          {`[{"key": "template", "value": 1}]`, `{"template":true}`, `{}`, "always set"},
		"changed":           {`[{"key": "memory", "value": "1024", "pending": "2048"}]`, `{"memory":2048,"template":false}`, `{"memory":1024}`, "the configured value is the value"},
		"added":             {`[{"key": "vcpus", "pending": 3}]`, `{"template":false,"vcpus":3}`, `{"vcpus":null}`, "not set until the restart"},
		"deleted":           {`[{"key": "vga", "value": "qxl", "delete": 1}]`, `{"template":false}`, `{"vga":{"type":"qxl"}}`, "in effect until the restart"},
		"forced":            {`[{"key": "net1", "value": "virtio=BC:24:11:00:00:01", "delete": "2"}]`, `{"template":false}`, `{"net1":{"macaddr":"BC:24:11:00:00:01","model":"virtio"}}`, "2 is a deletion by force"},
		"not deleted":       {`[{"key": "cores", "value": 2, "delete": "0"}]`, `{"cores":2,"template":false}`, `{}`, "0 is none"},
		"respelled":         {`[{"key": "cpu", "value": "host", "pending": "cputype=host"}]`, `{"cpu":{"cputype":"host"},"template":false}`, `{}`, "another notation"},
		"back to default":   {`[{"key": "sockets", "value": 1, "delete": 1}]`, `{"template":false}`, `{}`, "1 is the default"},
		"spelled out":       {`[{"key": "bios", "pending": "seabios"}]`, `{"bios":"seabios","template":false}`, `{}`, "the default was in effect"},
		"empty row":         {`[{}, {"value": 3}, 7, null]`, `{"template":false}`, `{}`, "no key"},
		"several at a time": {`[{"key": "net0", "value": "virtio=BC:24:11:00:00:01,tag=5", "pending": "virtio=BC:24:11:00:00:01,tag=6"}, {"key": "cores", "value": 2, "pending": 4}]`, `{"cores":4,"net0":{"macaddr":"BC:24:11:00:00:01","model":"virtio","tag":6},"template":false}`, `{"cores":2,"net0":{"macaddr":"BC:24:11:00:00:01","model":"virtio","tag":5}}`, "sorted by name"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			value, running := newNormalizer().Guest(normalize.QEMU, parse(t, tt.rows).Items())
			if diff := cmp.Diff([2]string{tt.value, tt.running}, [2]string{shown(value), shown(model.MapOf(running...))}); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestWaiting(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ configured, inEffect, want, reason string }{
		"applied":     {`{"vnet": "v", "tag": 7}`, `{"vnet": "v", "tag": 7}`, `{}`, "nothing to do"},
		"changed":     {`{"vnet": "v", "tag": 8}`, `{"vnet": "v", "tag": 7}`, `{"tag":7}`, "the old value is in effect"},
		"new":         {`{"vnet": "v", "tag": 8, "vlanaware": false}`, `{}`, `{"tag":null,"vnet":null}`, "nothing is in effect"},
		"taken away":  {`{"vnet": "v"}`, `{"vnet": "v", "alias": "lab", "isolate-ports": false}`, `{"alias":"lab"}`, "a removed default is not a change"},
		"both at end": {`{"a": 1}`, `{"b": 2}`, `{"a":null,"b":2}`, "sorted by name"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newNormalizer().Waiting(normalize.SDNVnet, parse(t, tt.configured), parse(t, tt.inEffect))
			if diff := cmp.Diff(tt.want, shown(model.MapOf(got...))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}
