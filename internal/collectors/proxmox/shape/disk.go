package shape

import (
	"path"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// disk is a drive of a virtual machine, or a mount point of a container, with
// the options of the table.
func disk(options fields) form {
	volume := fields{
		"file": text(), "storage": text(), "volume": text(), "format": text().derived(),
		"size": size().derived(), "cloudinit": off(),
	}
	return properties("file", volume.and(options), splitVolume)
}

// drive are the options of a virtual machine's disks.
func drive() fields {
	options := fields{
		"aio": word("io_uring"), "backup": on(), "cache": word("none"), "detect_zeroes": on(), "discard": word("ignore"),
		"iothread": off(), "media": word("disk"), "replicate": on(), "ro": off(), "scsiblock": off(), "shared": off(),
		"snapshot": off(), "ssd": off(), "queues": number(), "rerror": text(), "werror": text(), "serial": text(),
		"model": text(), "product": text(), "vendor": text(), "wwn": text(), "trans": text(),
		"cyls": number(), "heads": number(), "secs": number(),
	}
	for _, limit := range []string{"bps", "iops", "mbps"} {
		for _, direction := range []string{"", "_rd", "_wr"} {
			for _, burst := range []string{"", "_max", "_length", "_max_length"} {
				options[limit+direction+burst] = number()
			}
		}
	}
	return options
}

// mount are the options of a container's file systems.
func mount() fields {
	return fields{
		"mp": text(), "acl": flag(), "backup": off(), "keepattrs": off(), "mountoptions": set(), "quota": off(),
		"replicate": on(), "ro": off(), "shared": off(),
	}
}

// splitVolume adds to a disk's parts what its volume's id says: the storage,
// the volume there, the format of its file, and whether it holds the data of
// cloud-init. A volume's id may come as "volume", too.
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

// volumeOf splits a volume's id; the storage of a path is "".
func volumeOf(id string) (storage, volume string) {
	storage, volume, ok := strings.Cut(id, ":")
	if !ok || strings.HasPrefix(id, "/") {
		return "", id
	}
	return storage, volume
}

// volumeFormat returns a volume's name without folders and suffix, and the
// format that the suffix tells.
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
