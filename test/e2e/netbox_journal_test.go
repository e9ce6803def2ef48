//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/test/netboxlab"
)

const netboxJournalConfig = `
notify:
  url: https://driftd.example.org
  receivers:
    - {name: journal, type: netbox, rate: {messages: 0}, settings: {url: "%s", token_file: journal-token, sources: [netbox]}}
  routes:
    - {receivers: [journal]}
`

// journal returns the journal entries of NetBox, the oldest first, each as "<kind> <type>/<id> <first line>".
func (d *desk) journal() []string {
	d.t.Helper()
	page, err := d.netbox.Do("reader", http.MethodGet, "extras/journal-entries/?ordering=id", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	rows, _ := page["results"].([]any)
	var entries []string
	for _, row := range rows {
		e, _ := row.(netboxlab.Object)
		kind, _ := e["kind"].(netboxlab.Object)
		first, _, _ := strings.Cut(fmt.Sprint(e["comments"]), "\n")
		entries = append(entries, fmt.Sprintf("%v %v/%v %s", kind["value"], e["assigned_object_type"], e["assigned_object_id"], first))
	}
	return entries
}

// journaled waits until the journal has the entries.
func (d *hookDesk) journaled(reason string, want ...string) {
	d.t.Helper()
	d.daemon.eventually(startTimeout, reason, func() error {
		if got := d.journal(); !slices.Equal(got, want) {
			return fmt.Errorf("the journal has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		return nil
	})
}

// TestNetBoxJournal has a daemon write journal entries into NetBox, with a token that may do nothing else: one when a
// finding opens and one when it ends, and none twice when the answer to one is lost.
func TestNetBoxJournal(t *testing.T) {
	t.Parallel()
	const vm = "virtualization.virtualmachine"
	d := newHookDesk(t, func(d *desk) string {
		d.netbox.Grant("journal", netboxlab.Permission{Models: []string{"extras.journalentry"}, Actions: []string{"view", "add"}})
		d.write("journal-token", netboxlab.Token("journal"))
		return fmt.Sprintf(netboxJournalConfig, d.url)
	})
	d.event("nothing has changed", vm, []int{1})
	d.journaled("nothing to write")

	memory := fmt.Sprintf("changed netbox_virtual_machine.app: memory_mb 1024 -> 8192 by mara (object-change %d)", d.by("mara", "PATCH", machines+"/1", netboxlab.Object{"memory": 8192}))
	d.event("an edit", vm, []int{1}, memory)
	const opened = "warning virtualization.virtualmachine/1 driftd: changed: virtualmachine 1 (app)"
	d.journaled("the entry of an edit", opened)
	d.event("the same edit again", vm, []int{1}, memory)

	d.by("mara", "PATCH", machines+"/1", netboxlab.Object{"memory": 1024})
	d.event("the edit is undone", vm, []int{1})
	const closed = "success virtualization.virtualmachine/1 driftd: resolved: changed: virtualmachine 1 (app)"
	d.journaled("the entry of the end", opened, closed)

	d.netbox.Break(netboxlab.Fault{Path: "/api/extras/journal-entries/", Truncate: true})
	again := fmt.Sprintf("changed netbox_virtual_machine.db: memory_mb 1024 -> 4096 by mara (object-change %d)", d.by("mara", "PATCH", machines+"/2", netboxlab.Object{"memory": 4096}))
	d.event("an edit of another machine", vm, []int{2}, again)
	const reopened, reclosed = "warning virtualization.virtualmachine/2 driftd: changed: virtualmachine 2 (db)", "success virtualization.virtualmachine/2 driftd: resolved: changed: virtualmachine 2 (db)"
	d.journaled("the entry arrived, its answer did not", opened, closed, reopened)
	d.netbox.Break()
	d.by("mara", "PATCH", machines+"/2", netboxlab.Object{"memory": 1024})
	d.event("that edit is undone", vm, []int{2})
	d.journaled("the answer was lost, and the entry is there once", opened, closed, reopened, reclosed)
}
