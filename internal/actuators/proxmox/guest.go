package proxmox

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// A guest is a guest as it was read.
type guest struct {
	kind, id string
	// path is its path in the API, with its node.
	path string
	// cluster is the name of the cluster, or of the node if it is not part of one.
	cluster string
	// rows are those of /pending, without the digest of the file.
	rows   []model.Value
	digest string
	// runs reports whether it runs.
	runs bool
	// value is its configuration with its pending changes, in the form of the collector.
	value model.Value
}

// guestPath returns the path of a guest on a node.
func guestPath(key model.Key, node string) string {
	return "/nodes/" + url.PathEscape(node) + "/" + strings.TrimPrefix(key.Kind, "proxmox/") + "/" + url.PathEscape(key.ID)
}

// read reads a guest on a node with the account of the source. The error is a *reconcile.Refusal if the node that answers
// has no quorum: its copy of the configuration may be old.
func (a *Actuator) read(ctx context.Context, key model.Key, node string) (g *guest, err error) {
	err = a.with(ctx, a.options.Reading, func(s *pveapi.Session) error {
		g, err = a.readOver(ctx, s, key, node)
		return err
	})
	return g, err
}

func (a *Actuator) readOver(ctx context.Context, s *pveapi.Session, key model.Key, node string) (*guest, error) {
	explain := func(err error) error {
		return a.options.Reading.Explain(err, "grant the account of the source PVEAuditor on /")
	}
	status, err := s.Get(ctx, "/cluster/status")
	if err != nil {
		return nil, explain(err)
	}
	if why := pveapi.WithoutQuorum(status); why != "" {
		return nil, refuse(guardQuorum, "%s", why)
	}
	g := &guest{kind: key.Kind, id: key.ID, path: guestPath(key, node), cluster: clusterName(status)}
	pending, err := s.Get(ctx, g.path+"/pending")
	if isGone(err) {
		return nil, errGone
	}
	if err != nil {
		return nil, explain(err)
	}
	current, err := s.Get(ctx, g.path+"/status/current")
	if err != nil {
		return nil, explain(err)
	}
	for _, row := range pending.Items() {
		if row.At("key").Str() == "digest" {
			g.digest = row.At("value").Text()
			continue
		}
		g.rows = append(g.rows, row)
	}
	if g.digest == "" || len(g.rows) == 0 {
		return nil, explain(&httpclient.Unexpected{Reason: "the configuration of the guest has no digest"})
	}
	g.runs = current.At("status").Str() != "stopped"
	g.value = a.valueOf(g.kind, g.rows)
	return g, nil
}

// find is read for a guest that may have moved to another node since it was written. The error is errGone if it does not
// exist any more.
func (a *Actuator) find(ctx context.Context, key model.Key, node string) (*guest, error) {
	g, err := a.read(ctx, key, node)
	if !errors.Is(err, errGone) {
		return g, err
	}
	var guests model.Value
	err = a.with(ctx, a.options.Reading, func(s *pveapi.Session) (err error) {
		guests, err = s.Get(ctx, "/cluster/resources?type=vm")
		return err
	})
	if err != nil {
		return nil, a.options.Reading.Explain(err, "grant the account of the source PVEAuditor on /")
	}
	for _, row := range guests.Items() {
		if row.At("vmid").Text() == key.ID && row.At("node").Str() != node {
			return a.read(ctx, key, row.At("node").Str())
		}
	}
	return nil, errGone
}

// errGone is the error of a guest that is not on its node.
var errGone = errors.New("the guest is not on its node any more")

func isGone(err error) bool {
	status := httpclient.StatusOf(err)
	return status != nil && status.Code == http.StatusInternalServerError && strings.Contains(status.Message, "does not exist")
}

// valueOf returns the configuration with its pending changes, in the form of the collector.
func (a *Actuator) valueOf(kind string, rows []model.Value) model.Value {
	value, _ := a.normalizer.Guest(kind, rows)
	return value
}

func clusterName(status model.Value) string {
	name := ""
	for _, row := range status.Items() {
		switch {
		case row.At("type").Text() == "cluster":
			return row.At("name").Text()
		case pveapi.Truth(row.At("local")):
			name = row.At("name").Text()
		}
	}
	return name
}

// row returns the row of an option.
func (g *guest) row(option string) (row model.Value, ok bool) {
	i := slices.IndexFunc(g.rows, func(r model.Value) bool { return r.At("key").Str() == option })
	if i < 0 {
		return model.Value{}, false
	}
	return g.rows[i], true
}

// text returns what an option is set to, with its pending change; ok is false if it is not set.
func (g *guest) text(option string) (text string, ok bool) {
	row, ok := g.row(option)
	if !ok || isDeleted(row) {
		return "", false
	}
	if next, waits := row.Get("pending"); waits {
		return next.Text(), true
	}
	value, ok := row.Get("value")
	return value.Text(), ok
}

func isDeleted(row model.Value) bool {
	mark := row.At("delete")
	return !mark.IsEmpty() && mark.Text() != "0"
}

// waiting returns the options that wait for a restart, sorted.
func (g *guest) waiting() (options []string) {
	for _, row := range g.rows {
		if _, waits := row.Get("pending"); waits || isDeleted(row) {
			options = append(options, row.At("key").Str())
		}
	}
	slices.Sort(options)
	return options
}

// uid identifies the guest among those that have or had its number: the UUID of its firmware, or the MAC address of its
// first network device. It is "" if it has neither.
func (g *guest) uid() string {
	if uuid := g.value.At("smbios1", "uuid").Str(); uuid != "" {
		return uuid
	}
	for _, f := range g.value.Fields() {
		if strings.HasPrefix(f.Name, "net") && f.Value.Kind() == model.Map {
			if mac := f.Value.At("hwaddr").Str() + f.Value.At("macaddr").Str(); mac != "" {
				return mac
			}
		}
	}
	return ""
}

// check returns why a guest is not written at all.
func (g *guest) check(options []string) error {
	if lock, ok := g.row("lock"); ok {
		return refuse(guardStillSo, "the guest is locked (%s): wait until that is over, and look again", lock.At("value").Text())
	}
	if g.value.At("template").Text() == "true" {
		return refuse(guardKind, "the guest is a template")
	}
	others := slices.DeleteFunc(g.waiting(), func(option string) bool { return slices.Contains(options, option) })
	if len(others) > 0 {
		return refuse(guardScope, "other changes of the guest wait for a restart, and may take effect with the write: %s: ask who made them, or revert them (pvesh set %s/config --revert %s)",
			strings.Join(others, ", "), g.path, strings.Join(others, ","))
	}
	return nil
}

// isGuest reports whether a kind is one of guests.
func isGuest(kind string) bool { return kind == normalize.QEMU || kind == normalize.LXC }
