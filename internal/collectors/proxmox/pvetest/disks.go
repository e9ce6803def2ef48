package pvetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// isDisk reports whether a key is a disk of a machine.
func isDisk(key string) bool {
	return slices.Contains([]string{"scsi", "virtio", "sata", "ide"}, strings.TrimRight(key, "0123456789"))
}

// moveVolumes detaches the volume that a disk has, and attaches that of a new value: the one becomes an unused volume of the guest, and
// the other is none any more. It returns the new value with the size that the volume has, which a request cannot change.
func (g *Guest) moveVolumes(key string, value any) any {
	was, had := volumeOf(g.Config[key])
	volume, has := volumeOf(value)
	if had && was != volume {
		if g.Sizes == nil {
			g.Sizes = map[string]string{}
		}
		g.Sizes[was] = partOf(g.Config[key], "size=")
		n := 0
		for g.Config["unused"+strconv.Itoa(n)] != nil {
			n++
		}
		g.Config["unused"+strconv.Itoa(n)] = was
	}
	if !has {
		return value
	}
	for other, text := range g.Config {
		if strings.HasPrefix(other, "unused") && text == volume {
			delete(g.Config, other)
		}
	}
	size, known := g.Sizes[volume]
	if !known {
		return value
	}
	parts := slices.DeleteFunc(strings.Split(fmt.Sprint(value), ","), func(part string) bool { return strings.HasPrefix(part, "size=") })
	return strings.Join(append(parts, size), ",")
}

// volumeOf returns the volume of a disk; ok is false if it has none that is kept.
func volumeOf(value any) (volume string, ok bool) {
	text, ok := value.(string)
	volume, _, _ = strings.Cut(text, ",")
	return volume, ok && strings.Contains(volume, ":") && !strings.Contains(text, "media=cdrom")
}

// partOf returns the part of an option that has a prefix.
func partOf(value any, prefix string) string {
	for part := range strings.SplitSeq(fmt.Sprint(value), ",") {
		if strings.HasPrefix(part, prefix) {
			return part
		}
	}
	return ""
}
