package pvetest

import (
	"cmp"
	"crypto/sha1" //nolint:gosec // Proxmox VE uses it for its digests.
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// digest returns the digest of the guest's file.
func (g *Guest) digest() string {
	sum := sha1.New() //nolint:gosec // as above
	for _, part := range []Row{g.Config, g.Pending} {
		for _, key := range slices.Sorted(maps.Keys(part)) {
			_, _ = fmt.Fprintf(sum, "%s: %v\n", key, part[key])
		}
		_, _ = fmt.Fprintln(sum)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// accountOf returns the account of a request with an API token; "" for another one.
func accountOf(r *http.Request) string {
	account, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "PVEAPIToken="), "=")
	return account
}

// as returns the cluster with the rights of an account.
func (c *Cluster) as(account string) *Cluster {
	rights, ok := c.Accounts[account]
	if !ok {
		return c
	}
	own := *c
	own.Rights = rights
	return &own
}

// editOf returns what answers a request that changes the configuration of a guest or its firewall; nil for another one.
func (s *Server) editOf(method, at string) func(r *http.Request, at string) (status int, answer Row) {
	parts := strings.Split(at, "/")
	switch {
	case changesFirewall(method, at):
		return s.editFirewall
	case changesObject(method, at):
		return s.editObject
	case method != http.MethodGet && isGuestPath(parts) && len(parts) == 6 && parts[5] == "config":
		return s.editGuest
	case method == http.MethodPut && isGuestPath(parts) && parts[3] == "qemu" && len(parts) == 6 && parts[5] == "resize":
		return s.resizeGuest
	}
	return nil
}

// editGuest answers a PUT or a POST of a guest's configuration: it checks all keys, the lock and the digest first, and
// then sets one key after the other. Of a running machine, those that cannot be hot-plugged wait for a restart, and a
// hot-plug that fails leaves its key waiting.
func (s *Server) editGuest(r *http.Request, at string) (status int, answer Row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.cluster.as(accountOf(r))
	g, problem := c.guestAt(strings.Split(at, "/"))
	if problem == nil {
		problem = c.refuseEdit(g, r.Form)
	}
	if problem != nil {
		return problem.answer()
	}
	return s.edit(g, r.Form, cmp.Or(accountOf(r), "root@pam"))
}

// guestAt returns the guest of a path below /nodes/N.
func (c *Cluster) guestAt(parts []string) (*Guest, *apiError) {
	if i := slices.IndexFunc(c.Nodes, func(n Node) bool { return n.Name == parts[2] }); i >= 0 && c.unreachable(i) {
		return nil, &apiError{statusNodeDown, "No route to host"}
	}
	number, err := strconv.Atoi(parts[4])
	if g := c.guest(number); err == nil && g != nil && g.Node == parts[2] && g.Kind == parts[3] {
		return g, nil
	}
	folder := map[string]string{"qemu": "qemu-server", "lxc": "lxc"}[parts[3]]
	return nil, &apiError{http.StatusInternalServerError, fmt.Sprintf("Configuration file 'nodes/%s/%s/%s.conf' does not exist", parts[2], folder, parts[4])}
}

// refuseEdit returns the error of an edit that changes nothing.
func (c *Cluster) refuseEdit(g *Guest, form url.Values) *apiError {
	for _, key := range editedKeys(form) {
		if privilege := configPrivilege(g.Kind, key); c.Accounts != nil && !c.holds(privilege, fmt.Sprintf("/vms/%d", g.ID)) {
			return forbidden(fmt.Sprintf("(/vms/%d, %s)", g.ID, privilege))
		}
		if form.Has(key) && slices.Contains(deletedKeys(form), key) {
			return &apiError{http.StatusBadRequest, fmt.Sprintf("you can't use '-%s' and -delete %s at the same time", key, key)}
		}
	}
	switch {
	case g.Config["lock"] != nil:
		return &apiError{http.StatusInternalServerError, fmt.Sprintf("VM is locked (%v)", g.Config["lock"])}
	case form.Has("digest") && form.Get("digest") != g.digest() && g.Kind == "qemu":
		return &apiError{http.StatusInternalServerError, "checksum mismatch (file change by other user?)"}
	case form.Has("digest") && form.Get("digest") != g.digest():
		return &apiError{http.StatusInternalServerError, "detected modified configuration - file changed by other user? Try again."}
	case c.NoQuorum:
		return &apiError{http.StatusInternalServerError, fmt.Sprintf("unable to open file '/etc/pve/nodes/%s/qemu-server/%d.conf.tmp.112' - Permission denied", g.Node, g.ID)}
	}
	return nil
}

// edit changes the configuration of a guest.
func (s *Server) edit(g *Guest, form url.Values, user string) (status int, answer Row) {
	failed := Row{}
	var line []string
	if g.Status != "running" {
		g.applyPending()
	}
	for _, key := range editedKeys(form) {
		var value any
		if form.Has(key) {
			value = withMAC(g, key, typed(g.Kind, key, form.Get(key)))
			line = append(line, fmt.Sprintf("-%s %v", key, value))
		} else {
			line = append(line, "-delete "+key)
		}
		why, fails := g.HotplugFails[key]
		if fails {
			failed[key] = why
		}
		g.setKey(key, value, g.Status == "running" && (fails || g.Kind == "qemu" && !hotplugs(key)))
	}
	if g.Kind == "qemu" {
		s.logLine(g.Node, user, s.pid, fmt.Sprintf("update VM %d: %s", g.ID, strings.Join(line, " ")))
	}
	if len(failed) > 0 {
		return http.StatusBadRequest, Row{"data": nil, "message": "Parameter verification failed.\n", "errors": failed}
	}
	return http.StatusOK, Row{"data": nil}
}

// typed returns a value in the type of the API's answers: numbers are numbers, except for a machine's memory. The
// description of a container ends with a line break.
func typed(kind, key, text string) any {
	switch key {
	case "description":
		if kind == "lxc" {
			return strings.TrimSuffix(text, "\n") + "\n"
		}
		return text
	case "name", "hostname", "tags", "cpulimit", "comment", "dport", "sport":
		return text
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && (key != "memory" || kind == "lxc") {
		return n
	}
	return text
}

// setKey sets a key, or deletes it if value is nil. A key that waits keeps its value until the restart.
func (g *Guest) setKey(key string, value any, waits bool) {
	old, has := g.Config[key]
	if !waits && isDisk(key) {
		value = g.moveVolumes(key, value)
	}
	switch {
	case waits && (value == nil && has || value != nil && fmt.Sprint(old) != fmt.Sprint(value)):
		if g.Pending == nil {
			g.Pending = Row{}
		}
		g.Pending[key] = value
		return
	case waits:
	case value == nil:
		delete(g.Config, key)
	default:
		g.Config[key] = value
	}
	delete(g.Pending, key)
}

// editedKeys returns the keys that a form sets or deletes, sorted.
func editedKeys(form url.Values) []string {
	keys := deletedKeys(form)
	for key := range form {
		if !slices.Contains([]string{"delete", "digest", "revert", "skiplock", "force"}, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func deletedKeys(form url.Values) []string {
	return strings.FieldsFunc(form.Get("delete"), func(r rune) bool { return r == ',' || r == ';' || r == ' ' })
}

// hotplugs reports whether a running machine takes a key at once, with the default of the option hotplug.
func hotplugs(key string) bool {
	const live = " name description tags onboot protection startup ciuser cipassword sshkeys ciupgrade citype nameserver searchdomain balloon vcpus tablet net ipconfig scsi cpuunits cpulimit "
	return strings.Contains(live, " "+strings.TrimRight(key, "0123456789")+" ")
}

// configPrivilege returns the privilege that a key of a guest's configuration requires.
func configPrivilege(kind, key string) string {
	lists := []struct{ privilege, keys string }{
		{"VM.Config.CPU", "cores sockets cpu cpulimit cpuunits numa vcpus"},
		{"VM.Config.Memory", "memory swap balloon shares"},
		{"VM.Config.Network", "net ipconfig"},
		{"VM.Config.Disk", "scsi virtio sata ide rootfs mp unused boot"},
		{"VM.Config.Cloudinit", "ciuser cipassword sshkeys ciupgrade citype nameserver searchdomain"},
		{"VM.Config.HWType", "acpi kvm machine scsihw smbios tablet vga hotplug"},
	}
	if kind == "lxc" {
		lists[2].keys, lists[4].keys = "net hostname nameserver searchdomain", ""
	}
	for _, l := range lists {
		if slices.Contains(strings.Fields(l.keys), strings.TrimRight(key, "0123456789")) {
			return l.privilege
		}
	}
	return "VM.Config.Options"
}
