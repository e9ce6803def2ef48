package proxmox

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
	"github.com/driftd/driftd/internal/reconcile"
)

// A grant is a permission (an entry of the access control list), or the membership of a guest or a storage in a pool.
// Proxmox VE compares no digest of either.
type grant struct {
	// list is the path that has it, and is reports whether a row there is the grant.
	list string
	is   func(row model.Value) bool
	// writes is the path that adds it, with form.
	writes string
	form   url.Values
	// holder is who gets a permission, and pool the pool of a membership; "" for the other one.
	holder, pool string
}

// isGrant reports whether a kind is one of grants.
func isGrant(kind string) bool { return kind == normalize.ACL || kind == normalize.PoolMember }

// grantOf returns the grant with a key; ok is false if the key has another form.
func grantOf(key model.Key) (g grant, ok bool) {
	if key.Kind == normalize.ACL {
		parts := strings.Split(key.ID, "?")
		if len(parts) != 3 {
			return grant{}, false
		}
		path, holder, role := parts[0], parts[1], parts[2]
		return grant{list: "/access/acl", writes: "/access/acl", holder: holder,
			is: func(row model.Value) bool {
				return row.At("path").Text() == path && row.At("ugid").Text() == holder && row.At("roleid").Text() == role
			},
			form: url.Values{"path": {path}, "roles": {role}, holders(holder): {holder}}}, true
	}
	parts := strings.Split(key.ID, "/")
	if len(parts) < 3 {
		return grant{}, false
	}
	pool, typ, member := strings.Join(parts[:len(parts)-2], "/"), parts[len(parts)-2], parts[len(parts)-1]
	field := map[string]string{"vm": "vmid", "storage": "storage"}[typ]
	return grant{list: "/pools?poolid=" + url.QueryEscape(pool), writes: "/pools", pool: pool,
		is: func(row model.Value) bool {
			return row.At(field).Text() == member && (row.At("type").Str() == "storage") == (typ == "storage")
		},
		form: url.Values{"poolid": {pool}, map[string]string{"vm": "vms", "storage": "storage"}[typ]: {member}}}, field != ""
}

// holders returns the parameter for who gets a permission: a token, a user or a group.
func holders(holder string) string {
	switch {
	case strings.Contains(holder, "!"):
		return "tokens"
	case strings.Contains(holder, "@"):
		return "users"
	}
	return "groups"
}

// findGrant returns the row of a grant; null if there is none, and the name of the cluster.
func (a *Actuator) findGrant(ctx context.Context, g grant) (row model.Value, cluster string, err error) {
	err = a.with(ctx, a.options.Reading, func(s *pveapi.Session) error {
		if cluster, err = a.quorate(ctx, s); err != nil {
			return err
		}
		rows, err := rowsAt(ctx, s, g.list)
		if err == nil && g.pool != "" {
			rows, err = membersOf(rows, g.pool)
		}
		if err != nil {
			return a.explain(err)
		}
		if at := slices.IndexFunc(rows, g.is); at >= 0 {
			row = rows[at]
		}
		return nil
	})
	return row, cluster, err
}

// membersOf returns the members of a pool in the answer about it.
func membersOf(pools []model.Value, name string) ([]model.Value, error) {
	if len(pools) != 1 || pools[0].At("poolid").Text() != name {
		return nil, &httpclient.Unexpected{Reason: "the answer is about another pool"}
	}
	return pools[0].At("members").Items(), nil
}

// A grantChange is a grant that is planned, and not added, changed or deleted yet.
type grantChange struct {
	actuator *Actuator
	grant    grant
	before   model.Value
	plan     reconcile.Plan
	again    func(context.Context, []reconcile.Covered) error
}

// Deletes implements reconcile.Deleter. It returns true for permissions and pool members.
func (a *Actuator) Deletes(kind string) bool { return isGrant(kind) }

// planGrant plans to add a grant that is missing, to delete one that no declaration declares, or to change whether a permission
// propagates.
func (a *Actuator) planGrant(ctx context.Context, s *reconcile.Subject) (reconcile.Change, error) {
	f := s.Finding
	g, ok := grantOf(f.Key)
	own := a.options.Writing.Name()
	missing, unmanaged := f.Verdict == model.Missing, f.Verdict == model.Unmanaged
	switch {
	case !ok:
		return nil, refuse(guardKind, "%s: driftd does not know how it is written", f.Key.ID)
	case isOf(own, g.holder):
		return nil, refuse(guardKind, "it is a permission of the account that driftd writes with")
	case unmanaged && isOf(a.options.Reading.Name(), g.holder):
		return nil, refuse(guardKind, "it is a permission of the account that driftd reads with")
	case !missing && !unmanaged && (len(f.Changes) != 1 || f.Changes[0].Path != "propagate"):
		return nil, refuse(guardKind, "driftd adds a permission, and changes whether it propagates, and nothing else of it")
	}
	before, cluster, err := a.findGrant(ctx, g)
	if err != nil {
		return nil, err
	}
	if before.IsNull() != missing {
		return nil, refuse(guardStillSo, "it is there now, or not any more: look again")
	}
	c := &grantChange{a, g, before, reconcile.Plan{System: cluster, Creates: missing, Deletes: unmanaged, Endpoint: a.options.Reading.URL, Identity: own, Person: personAccess}, s.Again}
	switch {
	case unmanaged:
		g.form.Set("delete", "1")
		if f.Kind == normalize.ACL {
			c.plan.Changes = []reconcile.FieldChange{{Path: "propagate", Old: propagates(before)}}
		}
	case f.Kind == normalize.ACL:
		change, err := propagation(s, before)
		if err != nil {
			return nil, err
		}
		g.form.Set("propagate", partText(*change.New))
		c.plan.Changes = append(c.plan.Changes, change)
	}
	return c, nil
}

// isOf reports whether a permission of a holder is one of an account: its own, or the one of the user of a token.
func isOf(account, holder string) bool {
	user, _, _ := strings.Cut(account, "!")
	return holder == account || holder == user
}

// propagates returns whether a permission propagates.
func propagates(row model.Value) *model.Value {
	v := model.BoolOf(pveapi.Truth(row.At("propagate")))
	return &v
}

// propagation returns the change of whether a permission propagates. A declaration without the field is refused.
func propagation(s *reconcile.Subject, before model.Value) (reconcile.FieldChange, error) {
	declared, _ := jsonpatch.Find(s.Written, "propagate")
	if declared == nil || declared.Kind() != model.Bool {
		return reconcile.FieldChange{}, refuse(guardKind, "the declaration does not have whether the permission propagates: apply it instead")
	}
	c := reconcile.FieldChange{Path: "propagate", New: declared}
	if !before.IsNull() {
		if c.Old = propagates(before); c.Old.Equal(*declared) {
			return c, refuse(guardStillSo, "it is as declared: look again")
		}
	}
	return c, nil
}

// Plan implements reconcile.Change.
func (c *grantChange) Plan() reconcile.Plan { return c.plan }

// Rehearse implements reconcile.Change. It does nothing, because Proxmox VE has no dry run.
func (c *grantChange) Rehearse(context.Context) error { return nil }

// Write implements reconcile.Change. It reads the grant again immediately before, because Proxmox VE
// compares no digest. Before a deletion, it also reads the source again, and verifies that the grant is
// still not declared.
func (c *grantChange) Write(ctx context.Context) (reconcile.Receipt, error) {
	a := c.actuator
	if c.plan.Deletes {
		if err := c.again(ctx, nil); err != nil {
			return reconcile.Receipt{}, err
		}
	}
	now, _, err := a.findGrant(ctx, c.grant)
	if err != nil {
		return reconcile.Receipt{}, unsent(err)
	}
	if !now.Equal(c.before) {
		return reconcile.Receipt{}, refuse(guardStillSo, "it was changed since it was read: look again")
	}
	var failed error
	connected := a.with(ctx, a.writing(), func(s *pveapi.Session) error {
		_, failed = s.Write(ctx, http.MethodPut, c.grant.writes, c.grant.form)
		return nil
	})
	if connected != nil {
		return reconcile.Receipt{}, &reconcile.NotWrittenError{Err: connected}
	}
	receipt := reconcile.Receipt{Status: max(http.StatusOK, httpclient.Code(failed)), At: a.options.Now()}
	switch {
	case failed == nil:
		return receipt, nil
	case !isAnswer(failed):
		return receipt, a.writing().Explain(failed, "")
	}
	// All that Proxmox VE itself answers to such a request, it answers before it writes.
	return receipt, &reconcile.NotWrittenError{Err: a.explainWrite(failed)}
}

// inspectGrant implements Inspect for a grant.
func (a *Actuator) inspectGrant(ctx context.Context, key model.Key, p *reconcile.Plan) (reconcile.Inspection, error) {
	g, ok := grantOf(key)
	if !ok {
		return "", fmt.Errorf("%s is no grant", key.ID)
	}
	row, cluster, err := a.findGrant(ctx, g)
	switch {
	case err != nil:
		return asGone(err)
	case cluster != p.System:
		return "", a.otherCluster(cluster)
	case row.IsNull() && p.Creates:
		return reconcile.AsBefore, nil
	case row.IsNull() && p.Deletes:
		return reconcile.AsWanted, nil
	case row.IsNull():
		return reconcile.AsOther, nil
	}
	same := func(v *model.Value) bool { return model.SameValue(propagates(row), v) }
	switch {
	case !p.Deletes && (len(p.Changes) == 0 || same(p.Changes[0].New)):
		return reconcile.AsWanted, nil
	case !p.Creates && (len(p.Changes) == 0 || same(p.Changes[0].Old)):
		return reconcile.AsBefore, nil
	}
	return reconcile.AsOther, nil
}
