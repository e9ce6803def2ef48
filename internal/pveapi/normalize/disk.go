package normalize

import (
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// disk is a drive of a virtual machine, or a mount point of a container, with the options of
// the table.
func disk(options table.Fields) table.Form {
	volume := table.Join(
		text().Of("file storage volume"), text().Derived().Of("format"), size().Derived().Of("size"), off().Of("cloudinit"),
		text().Volatile().Of(owner))
	return properties("file", table.Join(volume, options), splitVolume)
}

// drive returns the options of a virtual machine's disk.
func drive() table.Fields {
	options := table.Join(
		word("io_uring").Of("aio"), on().Of("backup detect_zeroes replicate"), word("none").Of("cache"), word("ignore").Of("discard"),
		off().Of("iothread ro scsiblock shared snapshot ssd"), word("disk").Of("media"), number().Of("queues cyls heads secs"),
		text().Of("rerror werror serial model product vendor wwn trans"))
	for _, limit := range []string{"bps", "iops", "mbps"} {
		for _, direction := range []string{"", "_rd", "_wr"} {
			rate := limit + direction
			options = table.Join(options, number().Of(rate+" "+rate+"_max "+rate+"_length "+rate+"_max_length"))
		}
	}
	return options
}

// mount returns the options of a container's mount point.
func mount() table.Fields {
	return table.Join(text().Of("mp"), flag().Of("acl"), off().Of("backup keepattrs quota ro shared"), set().Of("mountoptions"), on().Of("replicate"))
}

// splitVolume adds parts that are derived from a disk's volume id: the storage, the volume in
// it, the format of its file, and whether it has cloud-init data. The volume id may also be
// named "volume".
func splitVolume(parts []model.Field) []model.Field {
	parts = renamed("volume", "file")(parts)
	if !has(parts, "file") {
		return parts
	}
	storage, volume := volumeOf(textOf(parts, "file"))
	if storage != "" {
		parts = put(put(parts, "storage", storage), "volume", volume)
	}
	base, format := volumeFormat(volume)
	switch {
	case base == "cloudinit" || strings.HasSuffix(base, "-cloudinit"):
		parts = put(parts, "cloudinit", "1")
	case textOf(parts, "media") == "cdrom":
		return parts
	}
	if !has(parts, "format") {
		parts = put(parts, "format", format)
	}
	return parts
}

// volumeOf splits a volume id. The storage of a path is "".
func volumeOf(id string) (storage, volume string) {
	storage, volume, ok := strings.Cut(id, ":")
	if !ok || strings.HasPrefix(id, "/") {
		return "", id
	}
	return storage, volume
}

// volumeFormat returns a volume's name without folders and suffix, and the format by the
// suffix.
func volumeFormat(volume string) (base, format string) {
	base = path.Base(volume)
	for _, format := range []string{"qcow2", "vmdk", "subvol", "raw", "qcow", "qed", "cow", "cloop"} {
		if name, ok := strings.CutSuffix(base, "."+format); ok {
			return name, format
		}
	}
	return base, "raw"
}

// put sets the named part.
func put(parts []model.Field, name, value string) []model.Field {
	if i := at(parts, name); i >= 0 {
		parts[i].Value = model.StringOf(value)
		return parts
	}
	return append(parts, textPart(name, value))
}

// The fields that WithOwners adds: the owner of a disk, and the list of the disks that have
// one.
const (
	owner          = "owner"
	foreignVolumes = "foreign_volumes"
)

// WithOwners returns a guest's value in which each disk whose volume belongs to another guest
// has that guest's id as its "owner", and "foreign_volumes" lists these disks.
func WithOwners(guest model.Value, id string) model.Value {
	var foreign []model.Value
	for _, f := range guest.Fields() {
		volume := f.Value.At("volume").Str()
		other := ownerOf(volume)
		if other == "" || other == id {
			continue
		}
		guest = guest.With(f.Name, f.Value.With(owner, model.StringOf(other)))
		foreign = append(foreign, model.StringOf(f.Name+" "+f.Value.At("storage").Text()+":"+volume))
	}
	if len(foreign) == 0 {
		return guest
	}
	return guest.With(foreignVolumes, model.ListOf(foreign...))
}

// ownerOf returns the id of the guest that owns a volume, by the names that PVE::Storage
// assigns: vm-501-disk-0, 501/vm-501-disk-0.qcow2, base-500-disk-0/vm-501-disk-0. It returns
// "" for any other name, and for a volume in another folder ("iso/…").
func ownerOf(volume string) string {
	dir, name := path.Split(volume)
	for part := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if part != "" && strings.Trim(part, "0123456789") != "" && numberOf(part) == "" {
			return ""
		}
	}
	return numberOf(name)
}

// numberOf returns the id of the guest in the name of a volume, or "".
func numberOf(name string) string {
	prefix, rest, _ := strings.Cut(name, "-")
	number, _, more := strings.Cut(rest, "-")
	if !slices.Contains([]string{"vm", "base", "subvol", "basevol"}, prefix) || !more || number == "" || strings.Trim(number, "0123456789") != "" {
		return ""
	}
	return number
}
