package normalize_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// A notation draws one of the notations that Proxmox VE may use for the same value.
type notation func(*rapid.T) model.Value

func oneOf(values ...model.Value) notation {
	return func(t *rapid.T) model.Value { return rapid.SampledFrom(values).Draw(t, "notation") }
}

func flag(set bool) notation {
	words, n := []string{"0", "no", "off", "false", "No"}, int64(0)
	if set {
		words, n = []string{"1", "yes", "on", "true", "On"}, 1
	}
	values := []model.Value{model.BoolOf(set), model.IntOf(n)}
	for _, word := range words {
		values = append(values, model.StringOf(word))
	}
	return oneOf(values...)
}

func number(n int) notation {
	text := fmt.Sprint(n)
	return oneOf(model.IntOf(int64(n)), model.StringOf(text), model.StringOf(text+".0"))
}

func text(s string) notation { return oneOf(model.StringOf(s)) }

func address(s string) notation {
	return oneOf(model.StringOf(strings.ToUpper(s)), model.StringOf(strings.ToLower(s)))
}

// bytes draws a notation of a size in GiB.
func bytes(gib int) notation {
	return oneOf(model.StringOf(fmt.Sprintf("%dG", gib)), model.StringOf(fmt.Sprintf("%dM", gib<<10)),
		model.StringOf(fmt.Sprintf("%dK", gib<<20)), model.StringOf(fmt.Sprint(gib<<30)))
}

// set draws a notation of a list without order: any order, any separator, or a list.
func set(elements []string, separators ...string) notation {
	return func(t *rapid.T) model.Value {
		shuffled := rapid.Permutation(elements).Draw(t, "order")
		if rapid.Bool().Draw(t, "list") {
			items := make([]model.Value, len(shuffled))
			for i, e := range shuffled {
				items[i] = model.StringOf(e)
			}
			return model.ListOf(items...)
		}
		return model.StringOf(strings.Join(shuffled, rapid.SampledFrom(separators).Draw(t, "separator")))
	}
}

// A part is a part of a property string. nameless reports whether its name may be omitted.
type part struct {
	name     string
	value    notation
	nameless bool
}

// properties draws a notation of a property string: any order, with or without the default
// name, or a map.
func properties(parts ...part) notation {
	return func(t *rapid.T) model.Value {
		asMap := rapid.Bool().Draw(t, "map")
		var written []string
		var fields []model.Field
		for _, p := range rapid.Permutation(parts).Draw(t, "parts") {
			v := p.value(t)
			fields = append(fields, model.Field{Name: p.name, Value: v})
			if v.Kind() == model.List {
				v, asMap = model.StringOf(joined(v)), false
			}
			if p.nameless && rapid.Bool().Draw(t, "nameless") {
				written = append(written, v.Text())
			} else {
				written = append(written, p.name+"="+v.Text())
			}
		}
		if asMap {
			return model.MapOf(fields...)
		}
		return model.StringOf(strings.Join(written, ","))
	}
}

func joined(list model.Value) string {
	texts := make([]string, len(list.Items()))
	for i, item := range list.Items() {
		texts[i] = item.Text()
	}
	return strings.Join(texts, ";")
}

// nic draws a notation of a network device: the model as the name of the MAC address, or as a
// part of its own.
func nic(mac, nicModel string, rest ...part) notation {
	short := properties(append([]part{{name: nicModel, value: address(mac)}}, rest...)...)
	long := properties(append([]part{{name: "macaddr", value: address(mac)}, {name: "model", value: text(nicModel), nameless: true}}, rest...)...)
	return func(t *rapid.T) model.Value {
		if rapid.Bool().Draw(t, "short") {
			return short(t)
		}
		return long(t)
	}
}

// machine draws the configuration of a virtual machine, as notations of its keys.
func machine(t *rapid.T) map[string]notation {
	small := rapid.IntRange(1, 4094)
	some := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][a-z0-9-]{0,6}`), 1, 5, rapid.ID[string])
	mac := rapid.StringMatching(`BC:24:11(:[0-9A-F]{2}){3}`)
	memory := number(small.Draw(t, "memory"))
	return map[string]notation{
		"cores": number(small.Draw(t, "cores")), "onboot": flag(rapid.Bool().Draw(t, "onboot")), "memory": memory,
		"balloon": number(0), "tags": set(some.Draw(t, "tags"), ";", ",", " ", "; "),
		"description": oneOf(model.StringOf("a note"), model.StringOf("a note\n")),
		"net3": nic(mac.Draw(t, "mac"), rapid.SampledFrom([]string{"virtio", "e1000", "vmxnet3", "rtl8139"}).Draw(t, "model"),
			part{name: "bridge", value: text("vmbr9")}, part{name: "tag", value: number(small.Draw(t, "tag"))},
			part{name: "firewall", value: flag(rapid.Bool().Draw(t, "firewall"))},
			part{name: "trunks", value: set([]string{"20", "100", "3"}, ";")}),
		"scsi1": properties(part{name: "file", value: text("fast:vm-700-disk-1.qcow2"), nameless: true},
			part{name: "size", value: bytes(small.Draw(t, "size"))}, part{name: "ssd", value: flag(rapid.Bool().Draw(t, "ssd"))}),
		"agent": properties(part{name: "enabled", value: flag(true), nameless: true}, part{name: "type", value: text("isa")}),
		"cpu":   properties(part{name: "cputype", value: text("host"), nameless: true}, part{name: "flags", value: set([]string{"+aes", "-pcid"}, ";")}),
		"boot":  text("order=scsi1;net3"),
	}
}

// rows returns keys as the rows of /pending, in random order. A pending value is another
// notation of the same value.
func rows(t *rapid.T, keys map[string]notation) []model.Value {
	var all []model.Value
	for key, value := range keys {
		fields := []model.Field{{Name: "key", Value: model.StringOf(key)}, {Name: "value", Value: value(t)}}
		if rapid.Bool().Draw(t, "pending") {
			fields = append(fields, model.Field{Name: "pending", Value: value(t)})
		}
		all = append(all, model.MapOf(fields...))
	}
	return rapid.Permutation(all).Draw(t, "rows")
}

func TestNotationIsIgnored(t *testing.T) {
	t.Parallel()
	normalizer := newNormalizer()
	rapid.Check(t, func(t *rapid.T) {
		keys := machine(t)
		a, waitingA := normalizer.Guest(normalize.QEMU, rows(t, keys))
		b, waitingB := normalizer.Guest(normalize.QEMU, rows(t, keys))
		if !a.Equal(b) {
			t.Fatalf("two notations of one machine:\n%s\n%s", shown(a), shown(b))
		}
		if len(waitingA)+len(waitingB) > 0 {
			t.Fatalf("another notation counts as pending: %v %v", waitingA, waitingB)
		}
	})
}

// TestEditsAreDetected changes one key of a machine, and the notation of all other keys.
func TestEditsAreDetected(t *testing.T) {
	t.Parallel()
	normalizer := newNormalizer()
	others := map[string]notation{
		"cores": number(5000), "onboot": text("maybe"), "memory": number(5000), "balloon": number(1), "tags": text("another-tag"),
		"description": text("another"), "net3": text("virtio=BC:24:11:00:00:00"), "scsi1": text("slow:vm-700-disk-1"), "agent": text("0"),
		"cpu": text("host,flags=+aes"), "boot": text("order=net3;scsi1"),
	}
	rapid.Check(t, func(t *rapid.T) {
		keys := machine(t)
		before, _ := normalizer.Guest(normalize.QEMU, rows(t, keys))
		key := rapid.SampledFrom([]string{"cores", "onboot", "memory", "balloon", "tags", "description", "net3", "scsi1", "agent", "cpu", "boot"}).Draw(t, "key")
		keys[key] = others[key]
		after, _ := normalizer.Guest(normalize.QEMU, rows(t, keys))
		if before.At(key).Equal(after.At(key)) || !before.Without(key).Equal(after.Without(key)) {
			t.Fatalf("an edit of %s alone:\n%s\n%s", key, shown(before), shown(after))
		}
	})
}

// asRows returns the fields of a canonical value as rows.
func asRows(v model.Value) []model.Value {
	rows := make([]model.Value, 0, len(v.Fields()))
	for _, f := range v.Fields() {
		rows = append(rows, model.MapOf(model.Field{Name: "key", Value: model.StringOf(f.Name)}, model.Field{Name: "value", Value: f.Value}))
	}
	return rows
}

func TestGuestIsIdempotent(t *testing.T) {
	t.Parallel()
	normalizer := newNormalizer()
	rapid.Check(t, func(t *rapid.T) {
		once, _ := normalizer.Guest(normalize.QEMU, rows(t, machine(t)))
		if twice, _ := normalizer.Guest(normalize.QEMU, asRows(once)); !twice.Equal(once) {
			t.Fatalf("normalized again:\n%s\n%s", shown(once), shown(twice))
		}
	})
}
