package normalize_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

func FuzzProperties(f *testing.F) {
	for _, seed := range []string{"", "1,type=isa", "virtio=BC:24:11:00:00:01,bridge=vmbr9", "a,b", "=,=", "a=1,a=2", ",,x=,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts, ok := normalize.Properties(text, "main")
		if !ok {
			return
		}
		written := make([]string, len(parts))
		for i, p := range parts {
			written[i] = p.Name + "=" + p.Value.Text()
		}
		again, ok := normalize.Properties(strings.Join(written, ","), "main")
		same := func(a, b model.Field) bool { return a.Name == b.Name && a.Value.Equal(b.Value) }
		if !ok || !slices.EqualFunc(parts, again, same) {
			t.Errorf("%q has the parts %v, and written out %v", text, parts, again)
		}
	})
}

func FuzzSize(f *testing.F) {
	for _, seed := range []string{"32G", "1.5T", "528K", "", ".", "99999999999999999999", "9223372036854775807", "0.0000001G"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if bytes, ok := normalize.Size(text); ok && bytes < 0 {
			t.Errorf("%q is %d bytes", text, bytes)
		}
	})
}

// FuzzGuest checks that normalization of arbitrary rows is idempotent.
func FuzzGuest(f *testing.F) {
	for _, seed := range []string{
		`[{"key": "net0", "value": "virtio=BC:24:11:00:00:01,macaddr=x,trunks=1;;2"}]`,
		`[{"key": "scsi0", "value": "a:b-cloudinit.raw,media=cdrom", "pending": {"file": ["x"]}}]`,
		`[{"key": "smbios1", "value": "base64=1,serial=%%%"}, {"key": "sshkeys", "value": "%zz\n"}]`,
		`[{"key": "boot", "value": "order="}, {"key": "memory", "delete": 1}, {"key": "cipassword", "value": ["**"]}]`,
		`[{"key": "numa7", "value": 7}, {"key": "net99999999999999999999", "value": null}, {}, [], 1]`,
	} {
		f.Add(seed)
	}
	normalizer := newNormalizer()
	f.Fuzz(func(t *testing.T, text string) {
		var raw model.Value
		if raw.UnmarshalJSON([]byte(text)) != nil {
			return
		}
		for _, kind := range []string{normalize.QEMU, normalize.LXC} {
			once, _ := normalizer.Guest(kind, raw.Items())
			if twice, waiting := normalizer.Guest(kind, asRows(once)); !twice.Equal(once) || len(waiting) > 0 {
				t.Errorf("%s normalized again:\n%s\n%s\nwaiting %v", kind, shown(once), shown(twice), waiting)
			}
		}
	})
}

// FuzzObject checks that normalization of an arbitrary object is idempotent for every kind.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{
		`{"map": ["node=a,node=b", {}], "nodes": "a:x,a:1,:", "dhcp-range": 3, "rules": [[]], "acl": {"path": 1}}`,
		`{"data": "1 2 3\n#", "dns1": ["x"], "cidr": "x", "netmask": 1, "privs": {"a": 1}, "prune-backups": "keep-last"}`,
		`{"http_proxy": "%", "keys": ["x"], "token": null, "env": "=\u0000a", "lxc": [[1], ["a", "b"]]}`,
	} {
		f.Add(seed)
	}
	normalizer := newNormalizer()
	kinds := normalize.Kinds()
	f.Fuzz(func(t *testing.T, text string) {
		var raw model.Value
		if raw.UnmarshalJSON([]byte(text)) != nil {
			return
		}
		for kind := range kinds {
			once := normalizer.Object(kind, raw)
			if twice := normalizer.Object(kind, once); !twice.Equal(once) {
				t.Errorf("%s normalized again:\n%s\n%s", kind, shown(once), shown(twice))
			}
		}
	})
}
