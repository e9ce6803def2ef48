package proxmox

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// Plan implements reconcile.Actuator. The guards are evaluated in this order: kind, quorum, still-so, scope, rights. Those
// about the volumes of disks come last.
func (a *Actuator) Plan(ctx context.Context, s reconcile.Subject) (reconcile.Change, error) {
	f := s.Finding
	switch {
	case !isWritten(f.Key):
		return nil, refuse(guardKind, "driftd does not put it back: `driftd suggest` shows what to do")
	case a.isOwnAccount(f.Key):
		return nil, refuse(guardKind, "it is the account that driftd writes with")
	case isGrant(f.Kind):
		return a.planGrant(ctx, &s)
	case f.Verdict == model.Missing:
		return nil, refuse(guardKind, "driftd creates nothing in Proxmox VE but permissions and members of pools")
	}
	if isList(f.Kind) {
		return a.planList(ctx, &s)
	}
	g, err := a.read(ctx, f.Key, f.Place)
	if errors.Is(err, errGone) {
		return nil, refuse(guardStillSo, "%v: look again", errGone)
	}
	if err != nil {
		return nil, err
	}
	targets, err := targetsOf(&s, g)
	if err != nil {
		return nil, err
	}
	edits, err := a.edits(&s, g, targets)
	if err != nil {
		return nil, err
	}
	c := &change{actuator: a, key: f.Key, before: g}
	c.plan = reconcile.Plan{UID: g.uid(), System: g.system(), Endpoint: a.options.Reading.URL, Identity: a.options.Writing.Name(), Person: g.person}
	c.use(edits)
	var privileges []string
	for i := range targets {
		t := &targets[i]
		if t.privilege != "" {
			privileges = append(privileges, t.privilege)
		}
		c.plan.Changes = append(c.plan.Changes, reconcile.FieldChange{Path: t.Path, Old: t.Old, New: t.Wanted})
	}
	slices.SortFunc(c.plan.Changes, func(a, b reconcile.FieldChange) int { return strings.Compare(a.Path, b.Path) })
	if err := c.check(ctx, privileges); err != nil {
		return nil, err
	}
	return c, nil
}

// use plans the requests for some edits.
func (c *change) use(edits []edit) {
	var persons []string
	for _, e := range edits {
		if e.grows != "" {
			c.grows = append(c.grows, e)
			continue
		}
		if c.edits = append(c.edits, e); e.attaches != "" {
			c.attaches = append(c.attaches, e.attaches)
		}
	}
	if len(c.attaches) > 0 {
		persons = append(persons, personDisk)
	}
	if len(c.grows) > 0 {
		persons = append(persons, personSize)
	}
	if len(persons) > 0 {
		c.plan.Person = strings.Join(persons, ", and ")
	}
	c.plan.AfterRestart = later(c.before, optionsEdited(c.edits))
	c.requests = c.plannedRequests()
	if len(c.grows) == 0 {
		return
	}
	for i := range c.requests {
		c.plan.Requests = append(c.plan.Requests, c.requests[i].text)
	}
}

// check returns why what is planned may not be done; nil if it may.
func (c *change) check(ctx context.Context, privileges []string) error {
	// A change of the disk that waits for a restart has the size of now: the disk does not grow meanwhile.
	growing := optionsEdited(c.grows)
	edited := slices.DeleteFunc(optionsEdited(c.edits), func(option string) bool { return slices.Contains(growing, option) })
	if err := c.before.check(edited); err != nil {
		return err
	}
	if err := c.actuator.checkOwner(ctx, c.before.owner, privileges); err != nil {
		return err
	}
	if err := c.checkSpace(ctx); err != nil {
		return err
	}
	if err := c.before.checkUnused(c.attaches); err != nil {
		return err
	}
	return c.actuator.checkUsers(ctx, c.attaches)
}

func optionsEdited(edits []edit) []string {
	options := make([]string, len(edits))
	for i, e := range edits {
		options[i] = e.option
	}
	return options
}

// isWritten reports whether driftd writes to resources like one: guests, their firewalls, the parts of the cluster's
// firewall that have names, grants, and the objects of objectOf.
func isWritten(key model.Key) bool {
	switch scope, _, _ := strings.Cut(key.ID, "/"); key.Kind {
	case normalize.QEMU, normalize.LXC, normalize.FirewallGroup, normalize.ACL, normalize.PoolMember:
		return true
	case normalize.FirewallOptions, normalize.FirewallRules:
		return scope == "qemu" || scope == "lxc"
	case normalize.FirewallAlias, normalize.FirewallIPSet:
		return scope == "qemu" || scope == "lxc" || scope == "cluster"
	}
	_, ok := objectOf(key)
	return ok
}

// system identifies the cluster, and the place of a guest in it.
func (g *resource) system() string {
	if !isGuest(g.kind) {
		return g.cluster
	}
	return g.cluster + g.path
}

// nodeOf returns the node in the text of a system; "" if it has none.
func nodeOf(system string) string {
	_, rest, _ := strings.Cut(system, "/nodes/")
	node, _, _ := strings.Cut(rest, "/")
	return node
}

// checkOwner compares the privileges of the account that writes with those that it needs on an object.
func (a *Actuator) checkOwner(ctx context.Context, owner string, privileges []string) error {
	if len(privileges) == 0 {
		return nil
	}
	held, err := a.permissions(ctx, owner)
	if err != nil {
		return err
	}
	var lacking []string
	for _, privilege := range privileges {
		if !held[privilege] && !slices.Contains(lacking, privilege) {
			lacking = append(lacking, privilege)
		}
	}
	if len(lacking) > 0 {
		return refuse(guardRights, "%s lacks %s on %s: give it a role with that", a.options.Writing.Name(), strings.Join(lacking, " and "), owner)
	}
	return nil
}

// firewallPrivilege returns the privilege that a change of an object's firewall requires.
func firewallPrivilege(owner string) string {
	if owner == onCluster {
		return sysModify
	}
	return "VM.Config.Network"
}

const sysModify = "Sys.Modify"
