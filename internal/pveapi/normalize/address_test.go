package normalize_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	const mac = `"hardware-address": "bc:24:11:00:07:01"`
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf(`{"ip-address": "10.9.%d.%d", "prefix": 16}`, i/250, i%250))
	}
	tests := map[string]struct{ answer, want, reason string }{
		"agent": {`{"result": [{"name": "eth0", ` + mac + `, "ip-addresses": [
			{"ip-address": "10.0.0.5", "ip-address-type": "ipv4", "prefix": 24}, {"ip-address": "fe80::1", "ip-address-type": "ipv6", "prefix": 64}]}]}`,
			`["10.0.0.5/24"]`, "the usual case; a link-local address is ignored"},
		"container": {`[{"name": "eth0", "hwaddr": "BC:24:11:00:07:01", "inet": "10.0.0.6/24", "inet6": "2001:DB8:0::6/64"}]`,
			`["10.0.0.6/24","2001:db8::6/64"]`, "an older version, an address in another spelling"},
		"both forms":        {`[{` + mac + `, "hwaddr": "x", "inet": "10.0.0.6/24", "ip-addresses": [{"ip-address": "10.0.0.6", "ip-address-type": "inet", "prefix": "24"}]}]`, `["10.0.0.6/24"]`, "once"},
		"two cards":         {`{"result": [{` + mac + `, "ip-addresses": [{"ip-address": "10.0.0.9", "prefix": 24}]}, {"hardware-address": "BC:24:11:00:07:02", "ip-addresses": [{"ip-address": "10.0.0.10", "prefix": 24}]}]}`, `["10.0.0.10/24","10.0.0.9/24"]`, "sorted"},
		"on a VLAN":         {`{"result": [{"name": "eth0.7", ` + mac + `, "ip-addresses": [{"ip-address": "10.7.0.9", "prefix": 24}]}]}`, `["10.7.0.9/24"]`, "it has its card's MAC address"},
		"docker":            {`{"result": [{"name": "docker0", "hardware-address": "02:42:5a:00:00:01", "ip-addresses": [{"ip-address": "172.17.0.1", "prefix": 16}]}]}`, `[]`, "created by the guest"},
		"no hardware":       {`{"result": [{"name": "tun0", "ip-addresses": [{"ip-address": "10.8.0.1", "prefix": 24}]}]}`, `[]`, "a tunnel"},
		"not for others":    {`[{` + mac + `, "ip-addresses": [{"ip-address": "127.0.0.1", "prefix": 8}, {"ip-address": "169.254.9.9", "prefix": 16}, {"ip-address": "::", "prefix": 0}, {"ip-address": "224.0.0.1", "prefix": 4}]}]`, `[]`, "loopback, link-local, none, multicast"},
		"zone":              {`[{` + mac + `, "ip-addresses": [{"ip-address": "2001:db8::7%eth0", "prefix": 64}]}]`, `["2001:db8::7/64"]`, "a zone is dropped"},
		"mapped":            {`[{` + mac + `, "ip-addresses": [{"ip-address": "::ffff:10.0.0.5", "prefix": 24}]}]`, `["10.0.0.5/24"]`, "one spelling"},
		"no length":         {`[{` + mac + `, "ip-addresses": [{"ip-address": "10.0.0.5"}, {"ip-address": "2001:db8::7", "prefix": 999}]}]`, `["10.0.0.5/32","2001:db8::7/128"]`, "a network of its own"},
		"no addresses":      {`[{` + mac + `}]`, `[]`, "a card that is down"},
		"no interfaces":     {`[]`, `[]`, "an empty answer"},
		"hostile":           {`[7, null, [], {"hardware-address": ["x"]}, {` + mac + `, "ip-addresses": [3, {"ip-address": "; rm -rf /"}, {"ip-address": {}}]}]`, `[]`, "invalid addresses are ignored"},
		"agent fails":       {`{"result": {"error": {"class": "GenericError", "desc": "no"}}}`, ``, "no answer"},
		"null":              {`null`, ``, "no answer"},
		"without a wrapper": {`{"data": []}`, ``, "no answer"},
		"hundreds":          {`[{` + mac + `, "ip-addresses": [` + strings.Join(many, ",") + `]}]`, "256", "bounded"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := normalize.Addresses(parse(t, tt.answer), []string{"BC:24:11:00:07:01", "BC:24:11:00:07:02"})
			text := ""
			if ok {
				text = shown(got)
			}
			if tt.want == "256" && ok {
				text = fmt.Sprint(len(got.Items()))
			}
			if diff := cmp.Diff(tt.want, text); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestAddressesAreVolatile(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{normalize.QEMU, normalize.LXC} {
		if s := normalize.Kinds()[kind].Schema.Field("agent_addresses"); s == nil || !s.Volatile {
			t.Errorf("%s: the schema is %+v", kind, s)
		}
	}
}

func FuzzAddresses(f *testing.F) {
	for _, seed := range []string{
		`{"result": [{"hardware-address": "bc:24:11:00:07:01", "ip-addresses": [{"ip-address": "10.0.0.5", "prefix": 24}, {"ip-address": "::1%x", "prefix": "64"}]}]}`,
		`[{"hwaddr": "BC:24:11:00:07:01", "inet": "10.0.0.6/24,10.0.0.7/x", "inet6": "fe80::/10 1::/0"}]`, `{"result": null}`, `[[{}]]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var raw model.Value
		if raw.UnmarshalJSON([]byte(text)) != nil {
			return
		}
		list, ok := normalize.Addresses(raw, []string{"BC:24:11:00:07:01"})
		texts := make([]string, len(list.Items()))
		for i, item := range list.Items() {
			texts[i] = item.Str()
			if p, err := netip.ParsePrefix(texts[i]); err != nil || p.String() != texts[i] || p.Addr().IsLoopback() {
				t.Errorf("%q is not a canonical address", texts[i])
			}
		}
		if ok == list.IsNull() || !slices.IsSorted(texts) || len(slices.Compact(texts)) != len(list.Items()) {
			t.Errorf("%t, %s", ok, list)
		}
	})
}
