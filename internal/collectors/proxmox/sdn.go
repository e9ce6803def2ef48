package proxmox

import (
	"context"
	"net/url"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// staged adds the configured objects of a list with the differences of the applied
// configuration, which stays in effect until the pending one is applied.
func staged(kind, id, path string) func(context.Context, *scan, model.Value) error {
	return func(ctx context.Context, sc *scan, data model.Value) error {
		return sc.addStaged(ctx, kind, id, path, data, model.Ref{})
	}
}

func (sc *scan) addStaged(ctx context.Context, kind, id, path string, data model.Value, parent model.Ref) error {
	rows, err := rowsByKey(data, id)
	if err != nil || len(rows) == 0 {
		return err
	}
	applied, err := sc.appliedRows(ctx, path, id)
	for _, row := range rows {
		r := sc.object(kind, row.Name, row.Value)
		r.Parent = parent
		if err != nil {
			sc.addUnread(r, "the applied configuration could not be read: "+sc.config.reason(err))
			continue
		}
		r.Running = sc.normalizer.Waiting(kind, r.Value, sc.appliedValue(kind, applied, row.Name))
		sc.add(r)
	}
	return nil
}

// appliedRows returns the applied objects of a list, by id.
func (sc *scan) appliedRows(ctx context.Context, path, id string) (model.Value, error) {
	data, err := sc.api.Get(ctx, path+"?running=1")
	if err != nil {
		return model.Value{}, err
	}
	rows, err := rowsByKey(data, id)
	return model.MapOf(rows...), err
}

// appliedValue returns the applied value of an object, or null.
func (sc *scan) appliedValue(kind string, applied model.Value, id string) model.Value {
	raw, ok := applied.Get(id)
	if !ok {
		return model.Value{}
	}
	return sc.normalizer.Object(kind, raw)
}

// addVnets adds the virtual networks with their subnets and firewalls.
func addVnets(ctx context.Context, sc *scan, data model.Value) error {
	if err := sc.addStaged(ctx, normalize.SDNVnet, "vnet", "/cluster/sdn/vnets", data, model.Ref{}); err != nil {
		return err
	}
	for _, row := range data.Items() {
		name := row.At("vnet").Text()
		path := "/cluster/sdn/vnets/" + url.PathEscape(name)
		subnets, err := sc.api.Get(ctx, path+"/subnets")
		if err == nil {
			err = sc.addStaged(ctx, normalize.SDNSubnet, "subnet", path+"/subnets", subnets, ref(normalize.SDNVnet, name))
		}
		if err != nil {
			sc.fail(err, "", normalize.SDNSubnet)
		}
		sc.readFirewall(ctx, vnetFirewall(name, path), sc.api)
	}
	return nil
}
