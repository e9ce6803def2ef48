package bus

import (
	"cmp"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
	"github.com/driftd/driftd/internal/printable"
)

// novaDecoders decodes Nova's notifications, versioned and unversioned, without the prefix
// "compute." of some of the latter.
// https://docs.openstack.org/nova/latest/reference/notifications.html
func novaDecoders() map[string]decodeFunc {
	decoders := map[string]decodeFunc{"instance.update": serverUpdate}
	add := func(kind string, ids []string, action model.Action, fields string, events ...string) {
		for _, event := range events {
			decoders[event] = singleObject(kind, ids, action, fields)
		}
	}
	instance := func(action model.Action, fields, events string) {
		for event := range strings.FieldsSeq(events) {
			add(normalize.Server, []string{"uuid", "instance_id"}, action, fields, "instance."+event)
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
	return decoders
}

// ServerActions maps the actions in Nova's instance action log to the fields of a server that they
// change, separated by spaces.
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

// singleObject returns a decoder for the change of one object. Its id is the first of the
// fields ids that is set.
func singleObject(kind string, ids []string, action model.Action, fields string) decodeFunc {
	return func(n *notification) []Event {
		a := Event{Ref: model.Ref{Kind: kind}, Action: action, Fields: strings.Fields(fields)}
		for _, name := range ids {
			a.ID = cmp.Or(a.ID, n.payload.At(name).Str())
		}
		if kind == normalize.Keypair {
			a.Owner = printable.Text(n.payload.At("user_id").Str())
		}
		return []Event{a}
	}
}

// serverUpdate decodes an instance update. Most of them only report a task state. A change of
// metadata has the same form, so only the audit middleware names its author.
func serverUpdate(n *notification) []Event {
	states := n.payload
	if data, ok := n.payload.At("state_update").Get("nova_object.data"); ok {
		states = data
	}
	a := Event{Ref: model.Ref{Kind: normalize.Server, ID: cmp.Or(n.payload.At("uuid").Str(), n.payload.At("instance_id").Str())}}
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
	return []Event{a}
}

// cinderDecoders decodes Cinder's notifications. Glance's name no user, so they are not
// decoded.
func cinderDecoders() map[string]decodeFunc {
	volume := func(action model.Action, fields string) decodeFunc {
		return singleObject(normalize.Volume, []string{"volume_id"}, action, fields)
	}
	return map[string]decodeFunc{
		"volume.create.end": volume(model.Created, ""),
		"volume.delete.end": volume(model.Deleted, ""),
		"volume.update.end": volume(model.Edited, ""),
		"volume.resize.end": volume(model.Edited, "size"),
		"volume.retype":     volume(model.Edited, "type volume_type"),
		"volume.attach.end": volume(model.Edited, "attachments"),
		"volume.detach.end": volume(model.Edited, "attachments"),
	}
}
