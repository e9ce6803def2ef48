package main

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// lab is the provider.
type lab struct{}

func (lab) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "lab", "1.0.0"
}

func (lab) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"endpoint": schema.StringAttribute{Required: true},
		"token":    schema.StringAttribute{Optional: true, Sensitive: true},
	}}
}

// Configure sends no request: as with most providers, a wrong token is an error at the first
// resource.
func (lab) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var settings struct {
		Endpoint types.String `tfsdk:"endpoint"`
		Token    types.String `tfsdk:"token"`
	}
	resp.Diagnostics.Append(req.Config.Get(ctx, &settings)...)
	c := newClient(settings.Endpoint.ValueString(), settings.Token.ValueString())
	resp.ResourceData, resp.DataSourceData = c, c
}

func (lab) Resources(context.Context) []func() resource.Resource {
	var all []func() resource.Resource
	for name, kind := range kinds() {
		all = append(all, func() resource.Resource { return &object{name: name, kind: kind} })
	}
	return all
}

func (lab) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return &lookup{} }}
}
