package normalize_test

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// TestWithOwners checks which disks have volumes of other guests.
func TestWithOwners(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, kind, disk, owner string }{
		{"its own", normalize.QEMU, "local-lvm:vm-509-disk-0,size=8G", ""},
		{"its own, in a folder", normalize.QEMU, "local:509/vm-509-disk-0.qcow2", ""},
		{"its own, linked to a template", normalize.QEMU, "local-lvm:base-490-disk-0/vm-509-disk-0", ""},
		{"its own, linked to a template in a folder", normalize.QEMU, "local:490/base-490-disk-0.qcow2/509/vm-509-disk-0.qcow2", ""},
		{"its own, as a template", normalize.QEMU, "local-lvm:base-509-disk-0", ""},
		{"another's, in a folder", normalize.QEMU, "local:501/vm-501-disk-0.qcow2,size=1G", "501"},
		{"another's", normalize.QEMU, "local-lvm:vm-501-disk-0", "501"},
		{"another's, linked to a template", normalize.QEMU, "local-lvm:base-490-disk-0/vm-501-disk-0", "501"},
		{"another's cloud-init", normalize.QEMU, "local-lvm:vm-501-cloudinit,media=cdrom", "501"},
		{"a template's own disk", normalize.QEMU, "local-lvm:base-490-disk-0", "490"},
		{"a container's", normalize.LXC, "local-lvm:subvol-501-disk-0,mp=/data", "501"},
		{"a container's template", normalize.LXC, "local-zfs:basevol-501-disk-0,mp=/data", "501"},
		{"an image with such a name", normalize.QEMU, "local:iso/vm-501-disk-0.iso,media=cdrom", ""},
		{"an imported image", normalize.QEMU, "local:import/vm-501-disk-0.qcow2", ""},
		{"a name of another form", normalize.QEMU, "san:lun-7", ""},
		{"a name without a number", normalize.QEMU, "san:vm-x-disk-0", ""},
		{"a number alone", normalize.QEMU, "san:vm-501", ""},
		{"a device of the node", normalize.QEMU, "/dev/disk/by-id/vm-501-disk-0", ""},
		{"a directory of the node", normalize.LXC, "/mnt/vm-501-disk-0,mp=/data", ""},
		{"nothing", normalize.QEMU, "none,media=cdrom", ""},
	} {
		key := map[string]string{normalize.QEMU: "scsi2", normalize.LXC: "mp1"}[tc.kind]
		row := model.MapOf(model.Field{Name: "key", Value: model.StringOf(key)}, model.Field{Name: "value", Value: model.StringOf(tc.disk)})
		value, _ := normalize.New(model.NewSealer([]byte("k"))).Guest(tc.kind, []model.Value{row})
		value = normalize.WithOwners(value, "509")
		if got := value.At(key, "owner").Text(); got != tc.owner {
			t.Errorf("%s: %s belongs to %q, want %q", tc.reason, tc.disk, got, tc.owner)
		}
		if listed := len(value.At("foreign_volumes").Items()) > 0; listed != (tc.owner != "") {
			t.Errorf("%s: foreign volumes are %s", tc.reason, value.At("foreign_volumes"))
		}
	}
}

// TestForeignVolumesAreSevere checks the severity of a disk that is a volume of another guest.
func TestForeignVolumesAreSevere(t *testing.T) {
	t.Parallel()
	disk := model.MapOf(model.Field{Name: "scsi2", Value: model.MapOf(model.Field{Name: "volume", Value: model.StringOf("vm-501-disk-0")})})
	for _, tc := range []struct {
		reason  string
		value   model.Value
		verdict model.Verdict
		paths   []string
		want    model.Severity
	}{
		{"hot-plugged by hand", normalize.WithOwners(disk, "509"), model.Undeclared, []string{"scsi2"}, model.High},
		{"replaced", normalize.WithOwners(disk, "509"), model.Changed, []string{"scsi2.volume"}, model.High},
		{"pending", normalize.WithOwners(disk, "509"), model.PendingRestart, []string{"scsi2"}, model.High},
		{"of an unmanaged guest", normalize.WithOwners(disk, "509"), model.Unmanaged, nil, model.High},
		{"another disk", normalize.WithOwners(disk, "509"), model.Undeclared, []string{"scsi20"}, model.Medium},
		{"its own", normalize.WithOwners(disk, "501"), model.Undeclared, []string{"scsi2"}, model.Medium},
		{"a guest with its own disks", normalize.WithOwners(disk, "501"), model.Unmanaged, nil, model.Low},
	} {
		if got := rated(normalize.Kinds()[normalize.QEMU], tc.value, tc.verdict, tc.paths...); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}
