package proxmox

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// readRights reads the account's permissions and the access control list.
func (sc *scan) readRights(ctx context.Context) {
	permissions, err := sc.api.Get(ctx, "/access/permissions")
	if err == nil && permissions.Kind() != model.Map {
		err = &httpclient.Unexpected{Reason: "the answer is not an object"}
	}
	sc.rightsErr = err
	rules, err := sc.api.Get(ctx, "/access/acl")
	rows, malformed := rowsOf(rules)
	if err = cmp.Or(err, malformed); err != nil {
		sc.fail(err, "", normalize.ACL)
		sc.aclError = sc.config.reason(err)
	}
	sc.rules, sc.aclRows = rules, rows
	sc.rights = newRights(permissions, rules)
	sc.rightsAfter = sc.rights
	for _, row := range rows {
		sc.addACLRow(row)
	}
}

// checkRights reads the permissions and the access control list again after the lists. If the account lost a privilege
// meanwhile, lists may lack objects that exist.
func (sc *scan) checkRights(ctx context.Context) {
	if sc.rightsErr != nil {
		return
	}
	rules := sc.rules
	permissions, err := sc.api.Get(ctx, "/access/permissions")
	if err == nil && sc.aclError == "" {
		rules, err = sc.api.Get(ctx, "/access/acl")
	}
	if err != nil {
		sc.rightsUnsure = "the permissions of " + sc.config.account() + " may have changed during the scan: " + sc.config.reason(err)
	}
	sc.rightsAfter = newRights(permissions, rules)
}

// addACLRow adds a row of the access control list.
func (sc *scan) addACLRow(row model.Value) {
	id := row.At("path").Text() + "?" + row.At("ugid").Text() + "?" + row.At("roleid").Text()
	sc.add(sc.object(normalize.ACL, id, row))
}

// aclOf returns the rows of the access control list for a user or a group, sorted.
func (sc *scan) aclOf(typ, name string) model.Value {
	found := []model.Value{}
	for _, row := range sc.aclRows {
		if row.At("type").Str() == typ && row.At("ugid").Text() == name {
			found = append(found, sc.normalizer.Object(normalize.ACL, row).Without("type", "ugid"))
		}
	}
	slices.SortFunc(found, func(a, b model.Value) int {
		return cmp.Or(cmp.Compare(a.At("path").Text(), b.At("path").Text()), cmp.Compare(a.At("roleid").Text(), b.At("roleid").Text()))
	})
	return model.ListOf(found...)
}

// addWithACL adds a user or a group with its rows of the access control list, if all of them
// are known. typ is its type in these rows.
func (sc *scan) addWithACL(kind, typ, id string, raw model.Value) {
	r := sc.object(kind, id, raw)
	if sc.hiddenFieldReason(foreignField{kind, "acl", normalize.ACL}) == "" {
		r.Value = r.Value.With("acl", sc.aclOf(typ, id))
	}
	sc.add(r)
}

func addGroups(_ context.Context, sc *scan, data model.Value) error {
	rows, err := rowsByKey(data, "groupid")
	for _, row := range rows {
		sc.addWithACL(normalize.Group, "group", row.Name, row.Value)
	}
	return err
}

func addUsers(_ context.Context, sc *scan, data model.Value) error {
	rows, err := rowsByKey(data, "userid")
	for _, row := range rows {
		sc.addWithACL(normalize.User, "user", row.Name, row.Value.Without("tokens"))
		tokens, err := rowsByKeyOrNone(row.Value.At("tokens"), "tokenid")
		if err != nil {
			return err
		}
		for _, token := range tokens {
			r := sc.object(normalize.Token, row.Name+"!"+token.Name, token.Value)
			r.Parent = ref(normalize.User, row.Name)
			sc.add(r)
		}
	}
	return err
}

// rowsByKeyOrNone is rowsByKey for a list that may be null.
func rowsByKeyOrNone(data model.Value, key string) ([]model.Field, error) {
	if data.IsNull() {
		return nil, nil
	}
	return rowsByKey(data, key)
}

// addPools adds the pools and their storages. The pools of guests are read with the guests.
func addPools(ctx context.Context, sc *scan, data model.Value) error {
	rows, err := rowsByKey(data, "poolid")
	for _, row := range rows {
		sc.add(sc.object(normalize.Pool, row.Name, row.Value))
		if !sc.isIncluded(normalize.PoolMember) {
			continue
		}
		members, err := sc.poolMembers(ctx, row.Name)
		if err != nil {
			sc.fail(err, "", normalize.PoolMember)
		}
		for _, m := range members {
			if id := m.At("storage").Text(); m.At("type").Str() == "storage" && id != "" {
				sc.addMember(row.Name, "storage", id)
			}
		}
	}
	return err
}

// poolMembers returns the members of a pool. The name of a nested pool contains a slash and cannot
// be part of the path. All versions with nested pools accept it in the query.
func (sc *scan) poolMembers(ctx context.Context, pool string) ([]model.Value, error) {
	if !strings.Contains(pool, "/") {
		data, err := sc.api.Get(ctx, "/pools/"+url.PathEscape(pool))
		if err != nil {
			return nil, err
		}
		return rowsOf(data.At("members"))
	}
	data, err := sc.api.Get(ctx, "/pools/?poolid="+url.QueryEscape(pool))
	if err != nil {
		return nil, err
	}
	found, err := rowsByKey(data, "poolid")
	if err != nil || len(found) != 1 {
		return nil, cmp.Or[error](err, &httpclient.Unexpected{Reason: "the answer is about another pool"})
	}
	return rowsOf(found[0].Value.At("members"))
}

// addMember adds a member of a pool. typ is "vm" or "storage".
func (sc *scan) addMember(pool, typ, member string) {
	sc.add(model.Resource{
		Key:    sc.key(normalize.PoolMember, pool+"/"+typ+"/"+member),
		Name:   member,
		Parent: ref(normalize.Pool, pool),
		Value: model.MapOf(
			model.Field{Name: "member", Value: model.StringOf(member)},
			model.Field{Name: "pool", Value: model.StringOf(pool)},
			model.Field{Name: "type", Value: model.StringOf(typ)}),
	})
}
