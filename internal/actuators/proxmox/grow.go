package proxmox

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/putback"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

const (
	sizePart = "size"
	gibibyte = 1 << 30

	// spacePrivilege is what growing a disk requires on its storage.
	spacePrivilege = "Datastore.AllocateSpace"
)

// isGrowth reports whether a target is the size of a disk of a machine.
func isGrowth(g *resource, t *target) bool {
	return g.kind == normalize.QEMU && t.part == sizePart && isDisk(strings.TrimRight(t.option, "0123456789"))
}

// growth returns the target of a change of a disk's size. Storages round a size up to their own units, such as extents of LVM, so that a
// disk might become larger than declared: only whole GiB are sent.
func growth(s *reconcile.Subject, g *resource, c *model.Change, t target) (target, error) {
	var err error
	if t.Field, err = putback.Find(s, g.value, c); err != nil {
		return t, err
	}
	old, isSize := bytesOf(t.Old)
	wanted, isWanted := bytesOf(t.Wanted)
	disk := normalize.WithOwners(g.value, strings.TrimPrefix(g.owner, "/vms/")).At(t.option)
	file := disk.At("file")
	switch owner := disk.At("owner").Text(); {
	case !isSize || !isWanted:
		return t, refuse(guardKind, "%s: the size that it has or that is declared is no number of bytes", t.Path)
	case wanted < old:
		return t, refuse(guardKind, "%s: the disk is larger than declared, and a disk cannot be made smaller", t.Path)
	case wanted%gibibyte != 0:
		return t, refuse(guardKind, "%s: %d bytes are no whole GiB: the storage may make the disk larger than that", t.Path, wanted)
	case disk.At("media").Text() == "cdrom", disk.At("storage").Text() == "":
		return t, refuse(guardKind, "%s: %s is no volume that can grow", t.Path, file.Text())
	case owner != "":
		return t, refuse(guardScope, "%s: %s is a volume of guest %s", t.Path, file.Text(), owner)
	case !s.Live.At(t.option, "file").Equal(file):
		return t, refuse(guardStillSo, "%s: the guest has another volume there than at the scan: look again", t.Path)
	}
	t.privilege, t.grows = diskPrivilege, strconv.FormatInt(wanted/gibibyte, 10)+"G"
	return t, nil
}

// bytesOf returns a number of bytes; ok is false if a value is none.
func bytesOf(v *model.Value) (bytes int64, ok bool) {
	if v == nil || v.Kind() != model.Number {
		return 0, false
	}
	bytes, err := strconv.ParseInt(v.Text(), 10, 64)
	return bytes, err == nil && bytes > 0
}

// plannedRequests returns the requests of a change. Each disk grows with one, and then one sets the other options.
func (c *change) plannedRequests() (requests []request) {
	after := c.before
	for i := range c.grows {
		e := &c.grows[i]
		was := c.before.value.At(e.option)
		after = after.with(*e)
		requests = append(requests, request{path: c.before.path + "/resize", form: url.Values{"disk": {e.option}, "size": {e.grows}}, task: true,
			text:  fmt.Sprintf("make %s (%s) larger: from %s bytes to %s", e.option, was.At("file").Text(), was.At(sizePart).Text(), e.grows),
			after: c.actuator.valueOf(c.before.kind, after.rows)})
	}
	if len(c.edits) > 0 {
		requests = append(requests, request{path: c.before.writes, form: c.form(), text: "set " + strings.Join(optionsEdited(c.edits), ", ")})
	}
	return requests
}

// checkSpace returns an error if the account that writes may not allocate space on the storage of a disk that grows.
func (c *change) checkSpace(ctx context.Context) error {
	for _, e := range c.grows {
		storage := "/storage/" + c.before.value.At(e.option, "storage").Text()
		if err := c.actuator.checkOwner(ctx, storage, []string{spacePrivilege}); err != nil {
			return err
		}
	}
	return nil
}

// isGrowing returns an error if a plan makes a disk larger, and a task of the account that writes still does.
func (a *Actuator) isGrowing(ctx context.Context, g *resource, p *reconcile.Plan) error {
	if !slices.ContainsFunc(p.Changes, func(c reconcile.FieldChange) bool { return strings.HasSuffix(c.Path, "."+sizePart) }) {
		return nil
	}
	access, number := a.writing(), strings.TrimPrefix(g.owner, "/vms/")
	return a.with(ctx, access, func(s *pveapi.Session) error {
		node := "/nodes/" + url.PathEscape(nodeOf(g.path))
		tasks, err := rowsAt(ctx, s, node+"/tasks?"+url.Values{"source": {"active"}, "typefilter": {"resize"}, "vmid": {number}}.Encode())
		if err != nil {
			return access.Explain(err, "")
		}
		for _, task := range tasks {
			if _, ended := task.Get("endtime"); !ended {
				return fmt.Errorf("a task still changes the size of a disk: %s", task.At("upid").Text())
			}
		}
		return nil
	})
}
