package pvetest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/lazyregexp"
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
	return withSize(value, size)
}

// withSize returns a disk with another size, as in an option ("size=8G").
func withSize(disk any, size string) string {
	parts := slices.DeleteFunc(strings.Split(fmt.Sprint(disk), ","), func(part string) bool { return strings.HasPrefix(part, "size=") })
	return strings.Join(append(parts, size), ",")
}

// volumeOf returns the volume of a disk; ok is false if it has none that is kept.
func volumeOf(value any) (volume string, ok bool) {
	text, ok := value.(string)
	volume, _, _ = strings.Cut(text, ",")
	return volume, ok && strings.Contains(volume, ":") && !strings.Contains(text, "media=cdrom")
}

// Resize changes the size of a disk with a task.
func (s *Server) Resize(id int, disk, size, user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.cluster.Guest(id)
	g.Config[disk] = withSize(g.Config[disk], "size="+size)
	pid := s.taskOf(g.Node, "resize", strconv.Itoa(id), user)
	if g.Kind == "qemu" {
		s.logResize(g, disk, size, user, pid)
	}
}

func (s *Server) logResize(g *Guest, disk, size, user string, pid int) {
	s.logLine(g.Node, user, pid, fmt.Sprintf("update VM %d: resize --disk %s --size %s", g.ID, disk, size))
}

// resizeGuest answers a request that changes the size of a disk. It starts a task, which compares the digest and looks at the lock, the
// disk, the privilege on the storage and the size.
func (s *Server) resizeGuest(r *http.Request, at string) (status int, answer Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts, user := strings.Split(at, "/"), cmp.Or(accountOf(r), "root@pam")
	c := s.cluster.as(accountOf(r))
	g, problem := c.guestAt(parts)
	disk, size := r.Form.Get("disk"), r.Form.Get("size")
	switch vm := "/vms/" + parts[4]; {
	case problem != nil:
	case c.Accounts != nil && !c.holds("VM.Config.Disk", vm):
		problem = forbidden("(" + vm + ", VM.Config.Disk)")
	case !isDisk(disk) || !diskSize().MatchString(size):
		problem = &apiError{http.StatusBadRequest, "Parameter verification failed."}
	}
	if problem != nil {
		return problem.answer()
	}
	id := g.ID
	upid := s.startTask(g.Node, "resize", parts[4], user, func(pid int) string {
		g := s.cluster.guest(id)
		if g == nil || g.Node != parts[2] {
			return fmt.Sprintf("Configuration file 'nodes/%s/qemu-server/%d.conf' does not exist", parts[2], id)
		}
		if why := s.cluster.as(accountOf(r)).refuseResize(g, disk, size, r.Form.Get("digest")); why != "" {
			return why
		}
		s.logResize(g, disk, size, user, pid)
		if why, fails := g.ResizeFails[disk]; fails {
			return why
		}
		g.Config[disk] = withSize(g.Config[disk], "size="+sizeText(bytesOf(size)))
		return "OK"
	})
	return http.StatusOK, Row{"data": upid}
}

// refuseResize returns the exit status of a task that changes no size; "" for one that does.
func (c *Cluster) refuseResize(g *Guest, disk, size, digest string) string {
	storage, _, _ := strings.Cut(fmt.Sprint(g.Config[disk]), ":")
	switch {
	case digest != "" && digest != g.digest():
		return "checksum mismatch (file change by other user?)"
	case g.Config["lock"] != nil:
		return fmt.Sprintf("VM is locked (%v)", g.Config["lock"])
	case g.Config[disk] == nil:
		return fmt.Sprintf("disk '%s' does not exist", disk)
	case c.Accounts != nil && !c.holds("Datastore.AllocateSpace", "/storage/"+storage):
		return "Permission check failed (/storage/" + storage + ", Datastore.AllocateSpace)"
	case bytesOf(size) < bytesOf(strings.TrimPrefix(partOf(g.Config[disk], "size="), "size=")):
		return "shrinking disks is not supported"
	}
	return ""
}

// diskSize matches the absolute sizes that a request may have.
var diskSize = lazyregexp.New(`^\d+[KMGT]?$`)

// bytesOf returns the number of bytes of an absolute size; 0 for a text that is none.
func bytesOf(size string) int64 {
	digits := strings.TrimRight(size, "KMGT")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	if unit := size[len(digits):]; unit != "" {
		n <<= 10 * (1 + strings.Index("KMGT", unit))
	}
	return n
}

// sizeText returns a number of bytes in the largest unit without a remainder.
func sizeText(n int64) string {
	units := []string{"", "K", "M", "G", "T"}
	for len(units) > 1 && n != 0 && n%1024 == 0 {
		n, units = n/1024, units[1:]
	}
	return strconv.FormatInt(n, 10) + units[0]
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
