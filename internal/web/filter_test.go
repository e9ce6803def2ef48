package web

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/store"
)

// ids returns the IDs of the findings on a page.
func ids(page string) []string {
	list := []string{}
	for _, m := range regexp.MustCompile(`<tr id="f-([0-9a-f]+)"`).FindAllStringSubmatch(page, -1) {
		list = append(list, m[1])
	}
	return list
}

func TestFilter(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	for name, tc := range map[string]struct {
		reason, query string
		want          []string
	}{
		"all": {"worst first; what one request did is one line", "",
			[]string{"c0ff11c7", "f17e0a11", "c0f19a9e", "5ec7e700", "5e1f0a11", "d15b07ed", "c40d0000", "4e57a470", "ba5eba11"}},
		"severity":       {"one severity", "severity=critical", []string{"c0ff11c7", "f17e0a11"}},
		"severities":     {"either of two", "severity=low&severity=info", []string{"4e57a470", "ba5eba11"}},
		"both":           {"facets narrow each other", "severity=critical&source=pve", []string{"f17e0a11"}},
		"verdict":        {"one verdict", "verdict=missing", []string{"5e1f0a11"}},
		"owner":          {"who answers for it", "owner=team-shop", []string{"c0ff11c7"}},
		"no owner":       {"findings without an owner", "owner=(nobody)&source=pve", []string{"f17e0a11", "4e57a470"}},
		"words":          {"all words must fit, anywhere, in any case", "q=CAROL+firewall", []string{"f17e0a11"}},
		"word missing":   {"one that fits is not enough", "q=carol+nginx", []string{}},
		"value":          {"a value is looked for", "q=1.5.0-hotfix", []string{"c0ff11c7"}},
		"second field":   {"so is one of a field that the list does not show", "q=spec.replicas+bob", []string{"c0ff11c7"}},
		"label":          {"and a label", "q=tier=front", []string{"c0ff11c7"}},
		"secret":         {"no secret can be guessed by looking for it", "q=hunter5", []string{}},
		"hidden":         {"what rules hide", "state=hidden", []string{"41dde400"}},
		"accepted":       {"what somebody accepted", "state=accepted", []string{"acce97ed"}},
		"unchecked":      {"what could not be compared", "state=unchecked", []string{"0ff11e00"}},
		"verdict unseen": {"its verdict means its state", "verdict=unchecked", []string{"0ff11e00"}},
		"resolved":       {"what is over", "state=resolved", []string{"01d00000"}},
		"alike":          {"all that one request did", "like=c40d0002", []string{"c40d0000", "c40d0001", "c40d0002", "c40d0003", "c40d0004", "c40d0005"}},
		"alike alone":    {"a finding like no other", "like=c0ff11c7", []string{"c0ff11c7"}},
		"resource":       {"a whole key", "resource=pve/proxmox/qemu/104", []string{"4e57a470"}},
		"end of a key":   {"or its last parts", "resource=qemu/104", []string{"f17e0a11", "4e57a470"}},
		"part of an id":  {"but no part of one", "resource=04", []string{}},
		"claim":          {"the address of a claim in a dispute", "resource=infra/api.yaml:3", []string{"d15b07ed"}},
		"resources":      {"either of two", "resource=proxmox/qemu/104&resource=kubernetes/Service/shop/web", []string{"5e1f0a11", "4e57a470"}},
		"resource and":   {"narrowed by a facet", "resource=qemu/104&severity=critical", []string{"f17e0a11"}},
		"unknown":        {"an unknown value fits nothing", "severity=terrible", []string{}},
		"unknown state":  {"an unknown state is the open one", "state=terrible&severity=low", []string{"4e57a470"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, ids(h.page(t, "/?"+tc.query))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestNoDigestIsFound searches for the digest of a secret that is a value, in the path of a set's
// item, and in a reason.
func TestNoDigestIsFound(t *testing.T) {
	t.Parallel()
	const digest = "hmac:0123456789abcdef"
	secret := model.DigestOf(digest)
	f := finding("d16e5700", model.Changed, model.High, "Deployment.apps/shop/api")
	f.Reason = "the item " + digest + " is new"
	f.Changes = []model.Change{{Path: "spec.args[" + digest + "]", Live: &secret}}
	r := newRow(&f, phrase.Clock{Now: now()})
	for word, want := range map[string]bool{"spec.args": true, "is new": true, "0123456789": false} {
		if strings.Contains(r.text(), word) != want {
			t.Errorf("looking for %q finds %v, want %v:\n%s", word, !want, want, r.text())
		}
	}
}

// TestFacetsCount verifies that each facet value has the number of findings that choosing it would
// show.
func TestFacetsCount(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	body := h.page(t, "/?severity=critical")
	for _, want := range []string{`value="critical" checked><i class="shape" aria-hidden="true"></i>critical <b>2</b>`,
		`value="medium"><i class="shape" aria-hidden="true"></i>medium <b>7</b>`, `<option value="pve">pve (1)</option>`, `<option value="conflict">conflict (1)</option>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not hold %s", want)
		}
	}
}

func TestPaging(t *testing.T) {
	t.Parallel()
	s := emptyStore(t)
	var all []model.Finding
	for i := range 250 {
		all = append(all, finding(fmt.Sprintf("%08x", i), model.Changed, model.High, fmt.Sprintf("Deployment.apps/shop/web-%03d", i)))
	}
	save(t, s, store.Record{Run: run(), Findings: all})
	h := newHouse(t, s, nil)
	seen := map[string]bool{}
	next := "/?q=web"
	for range 5 {
		page := h.page(t, next)
		for _, id := range ids(page) {
			if seen[id] {
				t.Errorf("%s is on two pages", id)
			}
			seen[id] = true
		}
		link := regexp.MustCompile(`<a href="(\?[^"]*)" rel="next">`).FindStringSubmatch(page)
		if link == nil {
			break
		}
		next = "/" + strings.ReplaceAll(link[1], "&amp;", "&")
	}
	if len(seen) != 250 {
		t.Errorf("%d findings on all pages, want 250", len(seen))
	}
	if got := len(ids(h.page(t, "/?page=99"))); got != 50 {
		t.Errorf("a page beyond the last shows %d findings, want those of the last", got)
	}
	if got := len(ids(h.page(t, "/?page=-1"))); got != 100 {
		t.Errorf("a page before the first shows %d findings, want those of the first", got)
	}
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	for name, tc := range map[string]struct {
		reason, query string
		want          []string
	}{
		"resolved": {"what is over", "what=resolved", []string{"resolved 01d00000"}},
		"changed":  {"what shows something else than before", "what=changed", []string{"changed c0ff11c7"}},
		"search":   {"words fit what stands there", "q=ingress", []string{"resolved 01d00000", "opened 01d00000"}},
		"recent":   {"only since then", "since=10m&q=ingress", []string{"resolved 01d00000"}},
		"source":   {"facets work as in the list", "source=pve", []string{"opened f17e0a11", "opened 4e57a470"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := []string{}
			for _, m := range regexp.MustCompile(`<li class="event ([a-z]+) [\s\S]*?/findings/([0-9a-f]+)"`).FindAllStringSubmatch(h.page(t, "/timeline?"+tc.query), -1) {
				got = append(got, m[1]+" "+m[2])
			}
			want, gotten := map[string]bool{}, map[string]bool{}
			for _, s := range tc.want {
				want[s] = true
			}
			for _, s := range got {
				gotten[s] = true
			}
			if diff := cmp.Diff(want, gotten); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReadFilterIsBounded(t *testing.T) {
	t.Parallel()
	many := []string{strings.Repeat("x", 5000)}
	for i := range 1000 {
		many = append(many, fmt.Sprint(i))
	}
	f := readFilter(url.Values{"q": {strings.Repeat("ä", 5000)}, "severity": {strings.Repeat("x", 5000)}, "resource": many})
	if len(f.Query) > maxQuery || len(f.chosen[bySeverity]) != 0 || len(f.Resources) != maxResources || f.Resources[0] != "0" {
		t.Errorf("a filter of %d bytes, %d severities, %d resources", len(f.Query), len(f.chosen[bySeverity]), len(f.Resources))
	}
}

// TestCustomLinksOfNetBox checks that the addresses of the custom links in docs/netbox.md lead to the
// findings on an object, and on what it declares.
func TestCustomLinksOfNetBox(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/netbox.md")
	if err != nil {
		t.Fatal(err)
	}
	s := emptyStore(t)
	var all []model.Finding
	add := func(id, source, kind, object, address string) {
		f := finding(id, model.Changed, model.High, "x/x/x")
		f.Key, f.Address = model.Key{Source: source, Kind: kind, ID: object}, address
		all = append(all, f)
	}
	add("000000a1", "prod", "netbox/virtualization.virtualmachine", "6", "netbox_virtual_machine.web")
	add("000000a2", "prod", "netbox/virtualization.virtualmachine", "60", "netbox_virtual_machine.db")
	add("000000a3", "pve", "proxmox/qemu", "106", "virtual-machines/6")
	add("000000a4", "prod", "netbox/dcim.device", "6", "netbox_device.pdu")
	add("000000a5", "prod", "netbox/ipam.prefix", "6", "netbox_prefix.lan")
	save(t, s, store.Record{Run: run(), Findings: all})
	h := newHouse(t, s, nil)
	want := map[string][]string{"virtualization.virtualmachine": {"000000a1", "000000a3"}, "dcim.device": {"000000a4"}, "ipam.prefix": {"000000a5"}}
	got := map[string][]string{}
	for _, link := range regexp.MustCompile("(?m)^\\| `([a-z.]+)` \\| `https://driftd\\.example\\.org(/\\?[^`]*)`").FindAllStringSubmatch(string(page), -1) {
		got[link[1]] = ids(h.page(t, strings.ReplaceAll(link[2], "{{ object.pk }}", "6")))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings by model (-want +got):\n%s", diff)
	}
}

// TestResourcesStayInTheForm checks that another filter keeps the resources, and that their names are only
// text.
func TestResourcesStayInTheForm(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	body := h.page(t, "/?resource="+url.QueryEscape(`"><script>x</script>`)+"&resource=qemu/104")
	for _, want := range []string{`<input type="hidden" name="resource" value="qemu/104">`, `or <code><bdi>qemu/104</bdi></code>.`, `<a id="clear" href="/">`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(body, "<script>x") {
		t.Error("the page has a script of the address")
	}
}

func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	for range maxRequests {
		h.requests <- struct{}{}
	}
	answer := h.ask(t, access.Viewer, http.MethodGet, "/", nil)
	if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
		t.Errorf("%s with everything busy", answer.Status)
	}
}

// TestSeparateRequestSlots verifies that visitors with and without permissions cannot block each
// other.
func TestSeparateRequestSlots(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	for range maxStrangers {
		h.strangers <- struct{}{}
	}
	for role, want := range map[access.Role]int{access.Nobody: http.StatusServiceUnavailable, access.Viewer: http.StatusOK} {
		for _, target := range []string{"/login", "/"} {
			if answer := h.ask(t, role, http.MethodGet, target, nil); answer.StatusCode != want {
				t.Errorf("%s for %s: %s while strangers send slowly, want %d", target, role, answer.Status, want)
			}
		}
	}
}
