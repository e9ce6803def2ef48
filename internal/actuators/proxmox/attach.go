package proxmox

import (
	"context"
	"slices"
	"strings"

	"github.com/sourcegraph/conc/pool"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/putback"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// attachedPart are the parts of a disk that a request which attaches it may have. No other part may select, make or import a volume.
const attachedPart = diskPart + " iops_rd iops_rd_max iops_wr iops_wr_max mbps_rd mbps_rd_max mbps_wr mbps_wr_max queues serial size "

// A leaf is a field of a disk that was detached, with the value that it is to have, in the form of the source.
type leaf struct {
	path   string
	wanted model.Value
}

// isDetached reports whether a change is of a disk that a machine is declared to have, and does not have.
func isDetached(g *resource, c *model.Change, option string) bool {
	return g.kind == normalize.QEMU && isDisk(strings.TrimRight(option, "0123456789")) && !g.has(option) && c.Live == nil && c.Declared != nil && !c.Secret
}

// leavesOf returns the fields of a change of a disk that was detached: all fields of the disk, or one.
func leavesOf(s *reconcile.Subject, g *resource, c *model.Change, option string) (leaves []leaf, err error) {
	fields := []model.Change{{Live: c.Declared}}
	if c.Declared.Kind() == model.Map {
		fields = diff.Fields(nil, model.MapOf(), *c.Declared)
	}
	for _, f := range fields {
		path, at := c.Path, putback.PathOf(c)
		if f.Path != "" {
			path, at = path+"."+f.Path, at+"."+f.Path
			if s.Lens != nil {
				at = s.Lens.LivePath(g.value, path)
			}
		}
		wanted, known := *f.Live, true
		if s.Lens != nil {
			wanted, known = s.Lens.LiveValue(g.value, path, wanted)
		}
		switch {
		case at == option, !known && isNone(wanted): // its name, and blocks that it does not have
		case known:
			leaves = append(leaves, leaf{at, wanted})
		default:
			return nil, refuse(guardKind, "%s: the live value does not follow from the declared one alone", path)
		}
	}
	return leaves, nil
}

// isNone reports whether a value is a list or a map without elements.
func isNone(v model.Value) bool {
	return len(v.Items())+len(v.Fields()) == 0 && (v.Kind() == model.List || v.Kind() == model.Map)
}

// attachment returns the edit that attaches the volume of a detached disk again. Proxmox VE keeps such a volume as an unused one of the
// guest. The declaration must name the volume and its storage: which of several volumes a disk was does not follow from anything else.
func (a *Actuator) attachment(g *resource, t *target) (edit, error) {
	if _, waits := g.row(t.option); waits {
		return edit{}, refuse(guardStillSo, "%s: that it is detached waits for a restart: revert it (pvesh set %s/config --revert %s)", t.Path, g.path, t.option)
	}
	for _, volume := range g.unused() {
		e, ok := a.attached(g, t, volume)
		if !ok || usedIn(g.rows, []string{volume}) != "" {
			continue
		}
		storage, name, _ := strings.Cut(volume, ":")
		_, anyName := a.attached(g, t, storage+":other-"+name)
		_, anyStorage := a.attached(g, t, "other-"+storage+":"+name)
		if anyName || anyStorage {
			return edit{}, refuse(guardKind, "%s: the declaration does not name the volume and its storage: attach the right one by hand (qm set)", t.Path)
		}
		return e, nil
	}
	return edit{}, refuse(guardKind, "%s: it would be as declared with none of the unused volumes of the guest: driftd makes no volume", t.Path)
}

// unused returns the volumes that a guest has and does not use.
func (g *resource) unused() (volumes []string) {
	for _, row := range g.rows {
		option := row.At("key").Str()
		if volume, set := g.text(option); set && isUnused(option) {
			volumes = append(volumes, volume)
		}
	}
	return volumes
}

func isUnused(option string) bool { return strings.TrimRight(option, "0123456789") == "unused" }

// checkUnused returns an error if a guest has unused volumes other than those that are attached. A disk that was moved leaves its old
// volume behind: the name in the declaration may be the one of old data then.
func (g *resource) checkUnused(attaches []string) error {
	others := slices.DeleteFunc(g.unused(), func(volume string) bool { return slices.Contains(attaches, volume) })
	if len(attaches) == 0 || len(others) == 0 {
		return nil
	}
	return refuse(guardKind, "the guest has other unused volumes, which may have newer data: %s: attach the right one by hand (qm set)", strings.Join(others, ", "))
}

// attached returns the edit that attaches a volume; ok is false if the disk would not be as declared.
func (a *Actuator) attached(g *resource, t *target, volume string) (e edit, ok bool) {
	e = edit{option: t.option, text: volume, attaches: volume}
	live := a.valueOf(g.kind, g.with(e).rows)
	for _, l := range t.leaves {
		part := strings.TrimPrefix(l.path, t.option+".")
		if strings.Contains(attachedPart, " "+part+" ") && !a.hasLeaf(g.kind, live, l) {
			e.text += "," + part + "=" + partText(l.wanted)
		}
	}
	live = a.valueOf(g.kind, g.with(e).rows)
	return e, a.hasLeaves(g.kind, live, t) && a.onlyAt(g, live, t.option)
}

// hasLeaves reports whether a disk is as declared.
func (a *Actuator) hasLeaves(kind string, live model.Value, t *target) bool {
	return !slices.ContainsFunc(t.leaves, func(l leaf) bool { return !a.hasLeaf(kind, live, l) })
}

func (a *Actuator) hasLeaf(kind string, live model.Value, l leaf) bool {
	v, _ := jsonpatch.Find(live, l.path)
	return putback.EqualAt(a.kinds[kind].Schema, l.path, v, &l.wanted)
}

// readers is how many guests are read at once.
const readers = 8

// checkUsers returns an error if a guest uses one of some volumes as a disk. Proxmox VE lets a machine have the volume of another one, and
// two that write to one volume destroy what is on it.
func (a *Actuator) checkUsers(ctx context.Context, volumes []string) error {
	if len(volumes) == 0 {
		return nil
	}
	access := a.options.Reading
	return a.with(ctx, access, func(s *pveapi.Session) error {
		held, err := s.Get(ctx, "/access/permissions?path=/vms")
		if err != nil {
			return a.explain(err)
		}
		if !pveapi.Truth(held.At("/vms", "VM.Audit")) { // 0 if it does not propagate
			return refuse(guardRights, "%s may not see all guests, one of which may have the volume: grant it PVEAuditor on /vms", access.Name())
		}
		guests, err := rowsAt(ctx, s, "/cluster/resources?type=vm")
		if err != nil {
			return a.explain(err)
		}
		all := pool.New().WithMaxGoroutines(readers).WithContext(ctx).WithCancelOnError().WithFirstError()
		for _, guest := range guests {
			all.Go(func(ctx context.Context) error { return a.checkUser(ctx, s, guest, volumes) })
		}
		return all.Wait()
	})
}

// checkUser returns an error if a guest uses one of some volumes as a disk, or if that is not known.
func (a *Actuator) checkUser(ctx context.Context, s *pveapi.Session, guest model.Value, volumes []string) error {
	number := guest.At("vmid").Text()
	rows, err := rowsAt(ctx, s, guestPath(guest.At("type").Str(), number, guest.At("node").Str())+"/pending")
	switch {
	case isGone(err):
		return refuse(guardStillSo, "guest %s moved to another node or was deleted while driftd looked for the volume: look again", number)
	case err != nil:
		return a.explain(err)
	case !slices.ContainsFunc(rows, func(row model.Value) bool { return row.At("key").Str() == "digest" }):
		return a.explain(errNoDigest)
	}
	if volume := usedIn(rows, volumes); volume != "" {
		return refuse(guardScope, "guest %s has the volume %s as a disk: two guests that write to one volume destroy it", number, volume)
	}
	return nil
}

// usedIn returns which of some volumes a guest has as a disk, now or after its next start; "" if it has none.
func usedIn(rows []model.Value, volumes []string) string {
	for _, row := range rows {
		if isUnused(row.At("key").Str()) {
			continue
		}
		for _, value := range []model.Value{row.At("value"), row.At("pending")} {
			for part := range strings.SplitSeq(optionText(value), ",") {
				volume := strings.TrimPrefix(strings.TrimPrefix(part, "file="), "volume=")
				if slices.Contains(volumes, volume) {
					return volume
				}
			}
		}
	}
	return ""
}
