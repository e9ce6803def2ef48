package state

import (
	"errors"
	"fmt"

	"github.com/driftd/driftd/internal/model"
)

// A resource holds the values that all its instances share. Instances that precede these values in
// the document wait in pending.
type resource struct {
	module, mode, typ, name, provider string
	pending                           []object
	begun                             bool
}

// An object is an instance before the values of its resource are added.
type object struct {
	Instance
	status   string
	provider string
	key      model.Value
	flat     model.Value
	marks    *marks
}

func (d *document) resource() error {
	var r resource
	err := d.record(map[string]func() error{
		"module":    func() error { return d.module(&r) },
		"mode":      set(&r.mode, d.string),
		"type":      set(&r.typ, d.string),
		"name":      set(&r.name, d.string),
		"provider":  set(&r.provider, d.string),
		"instances": func() error { return d.instances(&r) },
	})
	for _, o := range r.pending {
		if err == nil {
			err = d.emit(&r, o)
		}
	}
	return err
}

// module reads the module. Terraform writes it before the instances.
func (d *document) module(r *resource) (err error) {
	if r.begun {
		return errors.New("the module follows the instances; write the state again, such as with `terraform apply -refresh-only`")
	}
	r.module, err = d.string()
	return err
}

// instances emits each instance as soon as it is read. It first reads all of them if the fields of
// the resource are sorted by name, or if instances have their own providers.
func (d *document) instances(r *resource) error {
	r.begun = r.mode != "" && r.typ != "" && r.name != "" && r.provider != ""
	return d.array(func() error {
		o, err := d.object()
		switch {
		case err != nil:
			return err
		case !r.begun:
			r.pending = append(r.pending, o)
			return nil
		}
		return d.emit(r, o)
	})
}

// object reads an instance. It skips the private data of the provider ("private").
func (d *document) object() (object, error) {
	var o object
	err := d.record(map[string]func() error{
		"index_key":            set(&o.key, d.value),
		"status":               set(&o.status, d.string),
		"deposed":              set(&o.Deposed, d.string),
		"provider":             set(&o.provider, d.string),
		"attributes":           set(&o.Attributes, d.value),
		"attributes_flat":      set(&o.flat, d.value),
		"sensitive_attributes": set(&o.marks, d.marks),
	})
	if err != nil {
		return o, err
	}
	if o.Flat = o.Attributes.IsNull() && !o.flat.IsNull(); o.Flat {
		if o.Attributes, err = unflatten(o.flat); err != nil {
			return o, err
		}
	}
	switch o.Attributes.Kind() {
	case model.Null:
		o.Attributes = model.MapOf()
	case model.Map:
		o.Attributes = o.marks.seal(d.options.Sealer, o.Attributes)
	default:
		return o, errors.New("the attributes of an instance are not an object")
	}
	return o, nil
}

// emit passes an instance to the caller of Read.
func (d *document) emit(r *resource, o object) error {
	if err := d.ctx.Err(); err != nil {
		return d.stop(err)
	}
	i, err := r.instance(o)
	if err != nil {
		return err
	}
	id := i.Address + "\x00" + i.Deposed
	if d.seen[id] {
		return fmt.Errorf("%s is in the state twice", i.Address)
	}
	d.seen[id] = true
	return d.stop(d.each(i))
}

// instance adds the values of the resource to o.
func (r *resource) instance(o object) (Instance, error) {
	i := o.Instance
	i.Module, i.Type, i.Name = r.module, r.typ, r.name
	i.Data = r.mode == "data"
	switch {
	case r.mode != "data" && r.mode != "managed":
		return i, fmt.Errorf("a resource's mode is %q, want managed or data", r.mode)
	case i.Type == "" || i.Name == "":
		return i, errors.New("a resource has no type or no name")
	case o.status != "" && o.status != "tainted":
		return i, fmt.Errorf("an instance's status is %q, want tainted or none", o.status)
	}
	err := i.locate(r, o)
	return i, err
}

// locate sets the address and the provider.
func (i *Instance) locate(r *resource, o object) (err error) {
	if !o.key.IsNull() {
		if i.Key, err = parseKey(o.key); err != nil {
			return fmt.Errorf("read index_key: %w", err)
		}
	}
	i.Address = i.Type + "." + i.Name + i.Key
	if i.Data {
		i.Address = "data." + i.Address
	}
	if i.Module != "" {
		i.Address = i.Module + "." + i.Address
	}
	address := r.provider
	if o.provider != "" {
		address = o.provider
	}
	if i.Provider, err = parseProvider(address); err != nil {
		return fmt.Errorf("read the provider of %s: %w", i.Address, err)
	}
	return nil
}
