package kubernetes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestReadPageOrder checks that small, large and undecodable items of one page are all read,
// in their order.
func TestReadPageOrder(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(`{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"1"},"items":[`)
	var want, broken []string
	for i := range 500 {
		name := fmt.Sprintf("web-%03d", i)
		note := "small"
		if i%100 == 7 {
			note = strings.Repeat("x", maxBatch+1)
		}
		if i > 0 {
			text.WriteByte(',')
		}
		if i%50 == 3 {
			broken = append(broken, "shop/"+name)
			fmt.Fprintf(&text, `{"metadata":{"name":%q,"namespace":"shop"},"spec":{"a":1,"a":2},"status":%q}`, name, note)
			continue
		}
		want = append(want, "shop/"+name)
		fmt.Fprintf(&text, `{"metadata":{"name":%q,"namespace":"shop","annotations":{"note":%q}},"spec":{"replicas":2}}`, name, note)
	}
	text.WriteString(`]}`)
	r := &reader{config: Defaults(), source: "prod", sealer: testSealer(), now: time.Now}
	a := api{kind: deployment, object: "Deployment", group: "apps", version: "v1", resource: "deployments", namespaced: true}
	var p page
	if err := r.readPage(strings.NewReader(text.String()), a, &p); err != nil {
		t.Fatal(err)
	}
	var got, unread []string
	for i := range p.resources {
		got = append(got, p.resources[i].ID)
	}
	for _, u := range p.unreadable {
		unread = append(unread, u.id())
	}
	if !slices.Equal(got, want) {
		t.Errorf("resources %v, want %v", got, want)
	}
	if !slices.Equal(unread, broken) {
		t.Errorf("undecodable %v, want %v", unread, broken)
	}
}
