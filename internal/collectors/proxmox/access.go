package proxmox

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// readRights asks what the account may do, and who may do what.
func (l *look) readRights(ctx context.Context) {
	permissions, err := l.api.Get(ctx, "/access/permissions")
	if err == nil && permissions.Kind() != model.Map {
		err = &httpclient.Unexpected{Reason: "the answer is no object"}
	}
	l.unsure = err
	rules, err := l.api.Get(ctx, "/access/acl")
	rows, malformed := rowsOf(rules)
	if err = cmp.Or(err, malformed); err != nil {
		l.fail(err, "", normalize.ACL)
		l.ruleFault = l.config.reason(err)
	}
	l.rights, l.rules = newRights(permissions, rules), rows
	for _, row := range rows {
		l.addRule(row)
	}
}

// addRule takes up a row of the access rules.
func (l *look) addRule(row model.Value) {
	id := row.At("path").Text() + "?" + row.At("ugid").Text() + "?" + row.At("roleid").Text()
	l.add(l.object(normalize.ACL, id, row))
}

// rulesOn returns the access rules that name a user or a group.
func (l *look) rulesOn(typ, name string) model.Value {
	found := []model.Value{}
	for _, row := range l.rules {
		if row.At("type").Str() == typ && row.At("ugid").Text() == name {
			found = append(found, l.normalizer.Object(normalize.ACL, row).Without("type", "ugid"))
		}
	}
	slices.SortFunc(found, func(a, b model.Value) int {
		return cmp.Or(cmp.Compare(a.At("path").Text(), b.At("path").Text()), cmp.Compare(a.At("roleid").Text(), b.At("roleid").Text()))
	})
	return model.ListOf(found...)
}

// addHolder takes up a user or a group with the access rules that name it, if all of
// them are known; typ is what those call it.
func (l *look) addHolder(kind, typ, id string, raw model.Value) {
	r := l.object(kind, id, raw)
	if l.hidden(foreignField{kind, "acl", normalize.ACL}) == "" {
		r.Value = r.Value.With("acl", l.rulesOn(typ, id))
	}
	l.add(r)
}

func takeGroups(_ context.Context, l *look, data model.Value) error {
	rows, err := named(data, "groupid")
	for _, row := range rows {
		l.addHolder(normalize.Group, "group", row.Name, row.Value)
	}
	return err
}

func takeUsers(_ context.Context, l *look, data model.Value) error {
	rows, err := named(data, "userid")
	for _, row := range rows {
		l.addHolder(normalize.User, "user", row.Name, row.Value.Without("tokens"))
		tokens, err := namedOrNone(row.Value.At("tokens"), "tokenid")
		if err != nil {
			return err
		}
		for _, token := range tokens {
			r := l.object(normalize.Token, row.Name+"!"+token.Name, token.Value)
			r.Parent = ref(normalize.User, row.Name)
			l.add(r)
		}
	}
	return err
}

// namedOrNone takes null for an empty list.
func namedOrNone(data model.Value, key string) ([]model.Field, error) {
	if data.IsNull() {
		return nil, nil
	}
	return named(data, key)
}

// takePools takes up pools and the storages in them. Guests name their pool
// themselves.
func takePools(ctx context.Context, l *look, data model.Value) error {
	rows, err := named(data, "poolid")
	for _, row := range rows {
		l.add(l.object(normalize.Pool, row.Name, row.Value))
		if !l.wanted(normalize.PoolMember) {
			continue
		}
		members, err := l.poolMembers(ctx, row.Name)
		if err != nil {
			l.fail(err, "", normalize.PoolMember)
		}
		for _, m := range members {
			if id := m.At("storage").Text(); m.At("type").Str() == "storage" && id != "" {
				l.addMember(row.Name, "storage", id)
			}
		}
	}
	return err
}

// poolMembers returns what is in a pool. A nested pool's name does not fit in
// the path; the query that takes it is as old as they are.
func (l *look) poolMembers(ctx context.Context, pool string) ([]model.Value, error) {
	if !strings.Contains(pool, "/") {
		data, err := l.api.Get(ctx, "/pools/"+url.PathEscape(pool))
		if err != nil {
			return nil, err
		}
		return rowsOf(data.At("members"))
	}
	data, err := l.api.Get(ctx, "/pools/?poolid="+url.QueryEscape(pool))
	if err != nil {
		return nil, err
	}
	found, err := named(data, "poolid")
	if err != nil || len(found) != 1 {
		return nil, cmp.Or[error](err, &httpclient.Unexpected{Reason: "the answer speaks of another pool"})
	}
	return rowsOf(found[0].Value.At("members"))
}

// addMember takes up that something is in a pool; typ is vm or storage.
func (l *look) addMember(pool, typ, member string) {
	l.add(model.Resource{
		Key:    l.key(normalize.PoolMember, pool+"/"+typ+"/"+member),
		Name:   member,
		Parent: ref(normalize.Pool, pool),
		Value: model.MapOf(
			model.Field{Name: "member", Value: model.StringOf(member)},
			model.Field{Name: "pool", Value: model.StringOf(pool)},
			model.Field{Name: "type", Value: model.StringOf(typ)}),
	})
}
