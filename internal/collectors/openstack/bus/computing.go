package bus

import (
	"cmp"
	"strings"

	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// computing reads Nova's notices, versioned and not, without the "compute." that
// some of the latter begin with.
// https://docs.openstack.org/nova/latest/reference/notifications.html
func computing() map[string]reader {
	readers := map[string]reader{"instance.update": renamed}
	add := func(kind string, ids []string, deed model.Action, fields string, events ...string) {
		for _, event := range events {
			readers[event] = single(kind, ids, deed, fields)
		}
	}
	instance := func(deed model.Action, fields, events string) {
		for event := range strings.FieldsSeq(events) {
			add(normalize.Server, []string{"uuid", "instance_id"}, deed, fields, "instance."+event)
		}
	}
	instance(model.Created, "", "create.end")
	instance(model.Deleted, "", "delete.end")
	instance(model.Edited, "vm_state", `soft_delete.end restore.end power_off.end power_on.end pause.end unpause.end
		suspend suspend.end resume resume.end shelve.end shelve_offload.end unshelve.end rescue.end unrescue.end
		resize.confirm.end resize_confirm.end`)
	actions := ServerActions()
	instance(model.Edited, actions["resize"], "resize.end finish_resize.end resize_finish.end resize.revert.end resize_revert.end")
	instance(model.Edited, actions["rebuild"], "rebuild.end")
	instance(model.Edited, "interfaces", "interface_attach.end interface_detach.end")
	instance(model.Edited, "volumes", "volume.attach volume.detach volume_attach.end volume_detach.end volume_swap.end")
	instance(model.Edited, "locked", "lock unlock")
	add(normalize.Flavor, []string{"flavorid"}, model.Created, "", "flavor.create")
	add(normalize.Flavor, []string{"flavorid"}, model.Edited, "", "flavor.update")
	add(normalize.Flavor, []string{"flavorid"}, model.Deleted, "", "flavor.delete")
	add(normalize.ServerGroup, []string{"uuid", "server_group_id"}, model.Created, "", "server_group.create", "servergroup.create")
	add(normalize.ServerGroup, []string{"uuid", "server_group_id"}, model.Deleted, "", "server_group.delete", "servergroup.delete")
	add(normalize.Keypair, []string{"name", "key_name"}, model.Created, "", "keypair.create.end", "keypair.import.end")
	add(normalize.Keypair, []string{"name", "key_name"}, model.Deleted, "", "keypair.delete.end")
	return readers
}

// ServerActions returns the fields of a server that actions touch, by the names
// that Nova's log of them has.
// https://github.com/openstack/nova/blob/master/nova/compute/instance_actions.py
func ServerActions() map[string]string {
	const size = "flavor flavor_name vm_state"
	fields := map[string]string{
		"rebuild": "description image image_name key_name metadata name vm_state",
		"resize":  size, "revertResize": size, "lock": "locked", "unlock": "locked",
	}
	for name := range strings.FieldsSeq("start stop pause unpause suspend resume shelve shelveOffload unshelve rescue unrescue restore confirmResize resetState") {
		fields[name] = "vm_state"
	}
	return fields
}

// single returns what reads of one object that one thing was done to it. Its id
// stands in the first of the given fields that there is.
func single(kind string, ids []string, deed model.Action, fields string) reader {
	return func(n *notice) []Act {
		a := Act{Ref: model.Ref{Kind: kind}, Deed: deed, Fields: strings.Fields(fields)}
		for _, name := range ids {
			a.ID = cmp.Or(a.ID, n.payload.At(name).Str())
		}
		if kind == normalize.Keypair {
			a.Owner = httpclient.Printable(n.payload.At("user_id").Str())
		}
		return []Act{a}
	}
}

// renamed reads what an update says by itself: most of them tell that a server is
// busy. That its metadata was changed looks like that, so that only the audit
// middleware tells who did it.
func renamed(n *notice) []Act {
	states := n.payload
	if data, ok := n.payload.At("state_update").Get("nova_object.data"); ok {
		states = data
	}
	a := Act{Ref: model.Ref{Kind: normalize.Server, ID: cmp.Or(n.payload.At("uuid").Str(), n.payload.At("instance_id").Str())}}
	if n.payload.At("old_display_name").Str() != "" {
		a.Fields = append(a.Fields, "name")
	}
	was, is := states.At("old_state").Str(), states.At("state").Str()
	if was != is && was != "building" && is != "building" {
		a.Fields = append(a.Fields, "vm_state")
	}
	if len(a.Fields) == 0 {
		return nil
	}
	return []Act{a}
}

// storing reads Cinder's notices. Glance's name no user, and tell nothing.
func storing() map[string]reader {
	volume := func(deed model.Action, fields string) reader {
		return single(normalize.Volume, []string{"volume_id"}, deed, fields)
	}
	return map[string]reader{
		"volume.create.end": volume(model.Created, ""),
		"volume.delete.end": volume(model.Deleted, ""),
		"volume.update.end": volume(model.Edited, ""),
		"volume.resize.end": volume(model.Edited, "size"),
		"volume.retype":     volume(model.Edited, "type volume_type"),
		"volume.attach.end": volume(model.Edited, "attachments"),
		"volume.detach.end": volume(model.Edited, "attachments"),
	}
}
