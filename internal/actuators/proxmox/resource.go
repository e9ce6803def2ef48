package proxmox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// A resource is the configuration of a guest, or another object, as it was read.
type resource struct {
	kind string
	// path is the path of the guest in the API, with its node; "" for another object.
	path string
	// object is how it is written.
	object
	// cluster is the name of the cluster, or of the node if it is not part of one.
	cluster string
	// rows are the options in the form of /pending, without the digest of the file.
	rows   []model.Value
	digest string
	// runs reports whether the guest runs, if what was read is its configuration.
	runs bool
	// value are the options with their pending changes, in the form of the collector.
	value model.Value
}

// guestPath returns the path of a guest on a node.
func guestPath(kind, number, node string) string {
	return "/nodes/" + url.PathEscape(node) + "/" + url.PathEscape(kind) + "/" + url.PathEscape(number)
}

// read reads a guest on a node, or another resource, with the account of the source. The error is a *reconcile.Refusal if the node that answers
// has no quorum: its copy of the configuration may be old.
func (a *Actuator) read(ctx context.Context, key model.Key, node string) (g *resource, err error) {
	err = a.with(ctx, a.options.Reading, func(s *pveapi.Session) error {
		g, err = a.readOver(ctx, s, key, node)
		return err
	})
	return g, err
}

func (a *Actuator) readOver(ctx context.Context, s *pveapi.Session, key model.Key, node string) (*resource, error) {
	cluster, err := a.quorate(ctx, s)
	if err != nil {
		return nil, err
	}
	g := &resource{kind: key.Kind, cluster: cluster}
	read := a.readConfig
	if !isGuest(key.Kind) {
		read = a.readObject
	}
	if err := read(ctx, s, g, key, node); isGone(err) || errors.Is(err, errGone) {
		return nil, errGone
	} else if err != nil {
		return nil, a.explain(err)
	}
	g.value = a.valueOf(g.kind, g.rows)
	return g, nil
}

// quorate returns the name of the cluster. The error is a *reconcile.Refusal if the node that answers has no quorum.
func (a *Actuator) quorate(ctx context.Context, s *pveapi.Session) (cluster string, err error) {
	status, err := s.Get(ctx, "/cluster/status")
	if err != nil {
		return "", a.explain(err)
	}
	if why := pveapi.WithoutQuorum(status); why != "" {
		return "", refuse(guardQuorum, "%s", why)
	}
	return clusterName(status), nil
}

// explain adds the next step to the error of a read.
func (a *Actuator) explain(err error) error {
	return a.options.Reading.Explain(err, "grant the account of the source PVEAuditor on /")
}

// readConfig reads the configuration of a guest.
func (a *Actuator) readConfig(ctx context.Context, s *pveapi.Session, g *resource, key model.Key, node string) error {
	g.path = guestPath(strings.TrimPrefix(key.Kind, "proxmox/"), key.ID, node)
	g.object = object{writes: g.path + "/config", guarded: true, owner: "/vms/" + key.ID}
	pending, err := s.Get(ctx, g.path+"/pending")
	if err != nil {
		return err
	}
	current, err := s.Get(ctx, g.path+"/status/current")
	if err != nil {
		return err
	}
	g.runs = current.At("status").Str() != "stopped"
	for _, row := range pending.Items() {
		if row.At("key").Str() == "digest" {
			g.digest = row.At("value").Text()
			continue
		}
		g.rows = append(g.rows, row)
	}
	if g.digest == "" || len(g.rows) == 0 {
		return errNoDigest
	}
	return nil
}

var errNoDigest = &httpclient.Unexpected{Reason: "the answer has no digest"}

// nodeIn returns the node of a guest in a list of guests; "" if it is not in there.
func nodeIn(guests []model.Value, number string) string {
	for _, row := range guests {
		if row.At("vmid").Text() == number {
			return row.At("node").Str()
		}
	}
	return ""
}

// row returns an option in the form of a row of /pending.
func row(option string, value model.Value) model.Value {
	return model.MapOf(model.Field{Name: "key", Value: model.StringOf(option)}, model.Field{Name: "value", Value: value})
}

// find is read for a guest that may have moved to another node since it was written. The error is errGone if it does not
// exist any more.
func (a *Actuator) find(ctx context.Context, key model.Key, node string) (*resource, error) {
	g, err := a.read(ctx, key, node)
	if !errors.Is(err, errGone) || !isGuest(key.Kind) {
		return g, err
	}
	var guests []model.Value
	err = a.with(ctx, a.options.Reading, func(s *pveapi.Session) (err error) {
		guests, err = rowsAt(ctx, s, "/cluster/resources?type=vm")
		return err
	})
	if err != nil {
		return nil, a.explain(err)
	}
	switch now := nodeIn(guests, key.ID); now {
	case "":
		return nil, errGone
	case node: // the list is some seconds old
		return nil, fmt.Errorf("guest %s is not on node %s any more, and its new node is not known yet", key.ID, node)
	default:
		return a.read(ctx, key, now)
	}
}

// errGone is the error of a guest that is not on its node, and of an alias that does not exist.
var errGone = errors.New("it does not exist on its node any more")

func isGone(err error) bool {
	status := httpclient.StatusOf(err)
	return status != nil && status.Code == http.StatusInternalServerError && strings.Contains(status.Message, "does not exist")
}

// valueOf returns options with their pending changes, in the form of the collector.
func (a *Actuator) valueOf(kind string, rows []model.Value) model.Value {
	if isGuest(kind) {
		value, _ := a.normalizer.Guest(kind, rows)
		return value
	}
	fields := make([]model.Field, len(rows))
	for i, row := range rows {
		fields[i] = model.Field{Name: row.At("key").Str(), Value: row.At("value")}
	}
	return a.normalizer.Object(kind, model.MapOf(fields...))
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
func (g *resource) row(option string) (row model.Value, ok bool) {
	i := slices.IndexFunc(g.rows, func(r model.Value) bool { return r.At("key").Str() == option })
	if i < 0 {
		return model.Value{}, false
	}
	return g.rows[i], true
}

// text returns what an option is set to, with its pending change; ok is false if it is not set.
func (g *resource) text(option string) (text string, ok bool) {
	row, ok := g.row(option)
	if !ok || normalize.IsDeleted(row) {
		return "", false
	}
	if next, waits := row.Get("pending"); waits {
		return next.Text(), true
	}
	value, ok := row.Get("value")
	return optionText(value), ok
}

// optionText returns the value of an option as a request has it: some answers have its parts one by one.
func optionText(value model.Value) string {
	if value.Kind() != model.Map {
		return partText(value)
	}
	var parts []string
	for _, f := range value.Fields() {
		parts = append(parts, f.Name+"="+partText(f.Value))
	}
	return strings.Join(parts, ",")
}

// waiting returns the options that wait for a restart, sorted.
func (g *resource) waiting() (options []string) {
	for _, row := range g.rows {
		if _, waits := row.Get("pending"); waits || normalize.IsDeleted(row) {
			options = append(options, row.At("key").Str())
		}
	}
	slices.Sort(options)
	return options
}

// uid identifies the guest among those that have or had its number: the UUID of its firmware, or the MAC address of its
// first network device. It is "" if it has neither.
func (g *resource) uid() string {
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

// check returns why a resource is not written at all.
func (g *resource) check(options []string) error {
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
