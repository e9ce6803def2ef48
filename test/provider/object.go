package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// An object is a resource of any kind: all are stored as JSON objects.
type object struct {
	name   string
	kind   kind
	client *client
}

func (o *object) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = "lab_" + o.name
}

func (o *object) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = o.kind.schema
}

func (o *object) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	// There is no data yet if a configuration is only validated.
	o.client, _ = req.ProviderData.(*client)
}

func (o *object) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	fields, err := encodeObject(req.Plan.Raw)
	if err == nil {
		fields, err = o.client.create(ctx, o.name, fields)
	}
	o.keep(ctx, &resp.State, fields, false, err, &resp.Diagnostics)
}

// Read does not return before the API has responded, even if it is interrupted.
func (o *object) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var id string
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("id"), &id)...)
	fields, err := o.client.read(context.WithoutCancel(ctx), o.name, id)
	if errors.Is(err, errGone) {
		resp.State.RemoveResource(ctx)
		return
	}
	o.keep(ctx, &resp.State, fields, o.kind.noisy, err, &resp.Diagnostics)
}

func (o *object) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var id string
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("id"), &id)...)
	fields, err := encodeObject(req.Plan.Raw)
	if err == nil {
		fields, err = o.client.update(ctx, o.name, id, fields)
	}
	o.keep(ctx, &resp.State, fields, false, err, &resp.Diagnostics)
}

func (o *object) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var id string
	resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("id"), &id)...)
	if err := o.client.remove(ctx, o.name, id); err != nil && !errors.Is(err, errGone) {
		resp.Diagnostics.AddError("Cannot remove lab "+o.name, err.Error())
	}
}

func (o *object) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("id"), req, resp)
}

// keep stores a response of the API in the state, or adds its error.
func (o *object) keep(ctx context.Context, state *tfsdk.State, fields map[string]any, filled bool, err error, diags *diag.Diagnostics) {
	var value tftypes.Value
	if err == nil {
		value, err = decode(o.kind.schema.Type().TerraformType(ctx), fields, filled)
	}
	if err != nil {
		diags.AddError(fmt.Sprintf("Cannot reach lab %s", o.name), err.Error())
		return
	}
	state.Raw = value
}
