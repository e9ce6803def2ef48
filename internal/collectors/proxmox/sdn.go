package proxmox

import (
	"context"
	"net/url"

	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/model"
)

// staged takes a list of what is configured, and asks for what is applied of
// it: the two differ until somebody applies the configuration.
func staged(kind, id, path string) func(context.Context, *look, model.Value) error {
	return func(ctx context.Context, l *look, data model.Value) error {
		return l.takeStaged(ctx, kind, id, path, data, model.Ref{})
	}
}

func (l *look) takeStaged(ctx context.Context, kind, id, path string, data model.Value, parent model.Ref) error {
	rows, err := named(data, id)
	if err != nil || len(rows) == 0 {
		return err
	}
	applied, err := l.applied(ctx, path, id)
	for _, row := range rows {
		r := l.object(kind, row.Name, row.Value)
		r.Parent = parent
		if err != nil {
			l.miss(r, "what of it is applied could not be read: "+l.config.reason(err))
			continue
		}
		r.Running = l.normalizer.Waiting(Type+"/"+kind, r.Value, l.appliedValue(kind, applied, row.Name))
		l.add(r)
	}
	return nil
}

// applied returns what of a list is in effect, by id.
func (l *look) applied(ctx context.Context, path, id string) (model.Value, error) {
	data, err := l.api.Get(ctx, path+"?running=1")
	if err != nil {
		return model.Value{}, err
	}
	rows, err := named(data, id)
	return model.MapOf(rows...), err
}

// appliedValue is an object as it is in effect, null when it is not.
func (l *look) appliedValue(kind string, applied model.Value, id string) model.Value {
	raw, ok := applied.Get(id)
	if !ok {
		return model.Value{}
	}
	return l.normalizer.Object(kind, raw)
}

// takeVnets takes up virtual networks with their subnets and firewalls.
func takeVnets(ctx context.Context, l *look, data model.Value) error {
	if err := l.takeStaged(ctx, normalize.SDNVnet, "vnet", "/cluster/sdn/vnets", data, model.Ref{}); err != nil {
		return err
	}
	for _, row := range data.Items() {
		name := row.At("vnet").Text()
		path := "/cluster/sdn/vnets/" + url.PathEscape(name)
		subnets, err := l.api.Get(ctx, path+"/subnets")
		if err == nil {
			err = l.takeStaged(ctx, normalize.SDNSubnet, "subnet", path+"/subnets", subnets, ref(normalize.SDNVnet, name))
		}
		if err != nil {
			l.fail(err, "", normalize.SDNSubnet)
		}
		l.readFirewall(ctx, vnetFirewall(name, path), l.api)
	}
	return nil
}
