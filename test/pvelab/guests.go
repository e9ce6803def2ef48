package pvelab

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
)

// guestRoutes are the routes that write guests.
func (l *Lab) guestRoutes() []route {
	const guest = "/nodes/{node}/{kind}/{id}"
	return []route{
		on(http.MethodGet, "/nodes/{node}/tasks/{upid}/status", func(r request) (any, error) {
			if status := l.TaskStatus(r.path.Get("upid")); status != nil {
				return status, nil
			}
			return pvetest.Row{"status": "stopped", "exitstatus": "OK"}, nil // a task of the lab
		}),
		on(http.MethodGet, "/nodes/{node}/tasks/{upid}/log", func(request) (any, error) { return []pvetest.Row{}, nil }),
		on(http.MethodGet, "/nodes/{node}/storage/{storage}/content/{volume}", func(request) (any, error) {
			return pvetest.Row{"format": "raw", "size": 8 << 30, "used": 8 << 30, "path": "/dev/pve/volume"}, nil
		}),
		on(http.MethodPost, "/nodes/{node}/(?P<kind>qemu|lxc)", l.createGuest),
		on(http.MethodGet, guest+"/status/current", l.onGuest(func(g *pvetest.Guest) any {
			return pvetest.Row{"vmid": g.ID, "status": g.Status, "name": g.Config["name"]}
		})),
		on(http.MethodPut, "/nodes/{node}/lxc/{id}/resize", l.resizeGuest),
		on(http.MethodPost, guest+"/status/{action}", l.startGuest),
		on(http.MethodDelete, "/nodes/{node}/(?P<kind>qemu|lxc)/{id}", l.destroyGuest),
	}
}

// onGuest returns a handler for guests that exist on this node.
func (l *Lab) onGuest(say func(*pvetest.Guest) any) func(request) (any, error) {
	return func(r request) (data any, err error) {
		err = fmt.Errorf("Configuration file 'nodes/%s/qemu-server/%s.conf' does not exist", r.path.Get("node"), r.path.Get("id")) //nolint:staticcheck // The API's own words.
		l.Edit(func(c *pvetest.Cluster) {
			for i := range c.Guests {
				if g := &c.Guests[i]; strconv.Itoa(g.ID) == r.path.Get("id") && g.Node == r.path.Get("node") && g.Kind == r.path.Get("kind") {
					data, err = say(g), nil
				}
			}
		})
		return data, err
	}
}

func (l *Lab) createGuest(r request) (any, error) {
	id, err := strconv.Atoi(r.form.Get("vmid"))
	if err != nil {
		return nil, fmt.Errorf("vmid: %w", err)
	}
	g := pvetest.Guest{ID: id, Kind: r.path.Get("kind"), Node: r.path.Get("node"), Pool: r.form.Get("pool"), Status: "stopped",
		Config: guestRow(r.path.Get("kind"), row(r.form, "vmid", "pool", "start", "force", "unique", "ostemplate", "password", "ssh-public-keys", "storage"))}
	if storage := r.form.Get("storage"); g.Kind == "lxc" && g.Config["rootfs"] == nil {
		g.Config["rootfs"] = storage + ":4"
	}
	allocate(g.ID, g.Config)
	g.Addresses = addresses(&g)
	l.Create(g, r.user)
	if r.form.Get("start") == "1" {
		l.SetStatus(id, "running", r.user)
	}
	return upid(g.Node, "create", strconv.Itoa(id), r.user), nil
}

// guestRow returns a row with the types of the kind of guest.
func guestRow(kind string, config pvetest.Row) pvetest.Row {
	if kind == "qemu" {
		return config
	}
	if text, ok := config["memory"].(string); ok {
		config["memory"] = typed("", text)
	}
	if text, ok := config["description"].(string); ok {
		config["description"] = strings.TrimSuffix(text, "\n") + "\n"
	}
	return config
}

// addresses returns the initial addresses of a guest. A machine with an agent, or a container,
// has those of its settings, or else a DHCP address of its first network device, which is
// derived from its number.
func addresses(g *pvetest.Guest) map[string][]string {
	agent := regexp.MustCompile(`^(enabled=)?1\b`).MatchString(fmt.Sprint(g.Config["agent"]))
	if g.Kind == "qemu" && !agent {
		return nil
	}
	static := regexp.MustCompile(`\bip6?=([0-9a-fA-F.:]+/\d+)`)
	found := map[string][]string{}
	for key := range g.Config {
		number, isNet := strings.CutPrefix(key, map[string]string{"qemu": "ipconfig", "lxc": "net"}[g.Kind])
		if _, err := strconv.Atoi(number); !isNet || err != nil {
			continue
		}
		for _, m := range static.FindAllStringSubmatch(fmt.Sprint(g.Config[key]), -1) {
			found["net"+number] = append(found["net"+number], m[1])
		}
	}
	if len(found) == 0 {
		found["net0"] = []string{fmt.Sprintf("192.0.2.%d/24", g.ID%250+1)}
	}
	return found
}

// allocate replaces sizes by names of volumes: local:8,ssd=1 becomes
// local:vm-300-disk-0,ssd=1,size=8G.
func allocate(id int, config pvetest.Row) {
	volume := regexp.MustCompile(`^(file=|volume=)?([\w-]+):(cloudinit|[\d.]+)(,.*)?$`)
	number := 0
	for _, key := range slices.Sorted(maps.Keys(config)) {
		text, _ := config[key].(string)
		m := volume.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		name, size := fmt.Sprintf("vm-%d-disk-%d", id, number), ",size="+m[3]+"G"
		if m[3] == "cloudinit" {
			name, size = fmt.Sprintf("vm-%d-cloudinit", id), ""
		} else {
			number++
		}
		options := regexp.MustCompile(`,(import-from|format|size)=[^,]*`).ReplaceAllString(m[4], "")
		config[key] = m[2] + ":" + name + options + size
	}
}

// edits reports whether a request changes the configuration of a guest, and returns its id.
func edits(r *http.Request, at string) (id int, ok bool) {
	match := regexp.MustCompile(`^/nodes/[^/]+/(?:qemu|lxc)/(\d+)/config$`).FindStringSubmatch(at)
	if match == nil || r.Method == http.MethodGet {
		return 0, false
	}
	id, err := strconv.Atoi(match[1])
	return id, err == nil
}

// edit passes an edit of a guest on, with the names of new volumes in the place of their sizes.
func (l *Lab) edit(w http.ResponseWriter, r *http.Request, id int) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	volumes := pvetest.Row{}
	for key := range r.Form {
		volumes[key] = r.Form.Get(key)
	}
	allocate(id, volumes)
	for key, value := range volumes {
		r.Form.Set(key, fmt.Sprint(value))
	}
	l.Server.ServeHTTP(w, r)
	l.Edit(func(c *pvetest.Cluster) {
		if g := c.Guest(id); g.Addresses == nil {
			g.Addresses = addresses(g)
		}
	})
}

func (l *Lab) resizeGuest(r request) (any, error) {
	id, err := strconv.Atoi(r.path.Get("id"))
	if err != nil {
		return nil, fmt.Errorf("id: %w", err)
	}
	l.Resize(id, r.form.Get("disk"), r.form.Get("size"), r.user)
	return upid(r.path.Get("node"), "resize", r.path.Get("id"), r.user), nil
}

func (l *Lab) startGuest(r request) (any, error) {
	id, err := strconv.Atoi(r.path.Get("id"))
	if err != nil {
		return nil, fmt.Errorf("id: %w", err)
	}
	switch action := r.path.Get("action"); {
	case strings.HasPrefix(action, "re"):
		l.Restart(id, r.user)
	case strings.HasPrefix(action, "start"):
		l.SetStatus(id, "running", r.user)
	default:
		l.SetStatus(id, "stopped", r.user)
	}
	return upid(r.path.Get("node"), "qm"+r.path.Get("action"), r.path.Get("id"), r.user), nil
}

func (l *Lab) destroyGuest(r request) (any, error) {
	id, err := strconv.Atoi(r.path.Get("id"))
	if err != nil {
		return nil, fmt.Errorf("id: %w", err)
	}
	l.Destroy(id, r.user)
	return upid(r.path.Get("node"), "destroy", r.path.Get("id"), r.user), nil
}
