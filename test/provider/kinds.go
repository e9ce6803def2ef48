package main

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// A kind is a resource type.
type kind struct {
	schema schema.Schema
	// noisy kinds return unset attributes as empty, as many providers do.
	noisy bool
}

// kinds returns the resource types by name. Together they have every form of an attribute.
func kinds() map[string]kind {
	return map[string]kind{
		"server": {schema: server()},
		"rule":   {schema: rule()},
		"note":   {schema: note(), noisy: true},
		"gate":   {schema: gate()},
		"entry":  {schema: entry()},
	}
}

// server has one attribute of each type.
func server() schema.Schema {
	return schema.Schema{
		Attributes: map[string]schema.Attribute{
			"id":       identifier(),
			"name":     schema.StringAttribute{Required: true},
			"size":     schema.Int64Attribute{Optional: true},
			"ratio":    schema.Float64Attribute{Optional: true},
			"public":   schema.BoolAttribute{Optional: true},
			"notes":    schema.StringAttribute{Optional: true},
			"config":   schema.StringAttribute{Optional: true},
			"tags":     schema.SetAttribute{Optional: true, ElementType: types.StringType},
			"steps":    schema.ListAttribute{Optional: true, ElementType: types.StringType},
			"labels":   schema.MapAttribute{Optional: true, ElementType: types.StringType},
			"password": schema.StringAttribute{Optional: true, Sensitive: true},
			"zone": schema.StringAttribute{Optional: true,
				PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplace()}},
			"tier": schema.StringAttribute{Optional: true, Computed: true, Default: stringdefault.StaticString("basic")},
			"address": schema.StringAttribute{Optional: true, Computed: true,
				PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}},
			"status": schema.StringAttribute{Computed: true},
			"backup": schema.SingleNestedAttribute{Optional: true, Attributes: map[string]schema.Attribute{
				"schedule": schema.StringAttribute{Required: true},
				"keep":     schema.Int64Attribute{Optional: true},
				"key":      schema.StringAttribute{Optional: true, Sensitive: true},
			}},
		},
		Blocks: map[string]schema.Block{
			"disk": schema.ListNestedBlock{NestedObject: schema.NestedBlockObject{Attributes: map[string]schema.Attribute{
				"slot": schema.StringAttribute{Required: true},
				"size": schema.Int64Attribute{Required: true},
				"ssd":  schema.BoolAttribute{Optional: true},
			}}},
		},
	}
}

// rule refers to a server and has blocks without an order.
func rule() schema.Schema {
	return schema.Schema{
		Attributes: map[string]schema.Attribute{
			"id":      identifier(),
			"server":  schema.StringAttribute{Required: true},
			"comment": schema.StringAttribute{Optional: true},
		},
		Blocks: map[string]schema.Block{
			"allow": schema.SetNestedBlock{NestedObject: schema.NestedBlockObject{Attributes: map[string]schema.Attribute{
				"port":   schema.Int64Attribute{Required: true},
				"source": schema.StringAttribute{Optional: true},
			}}},
		},
	}
}

// note has attributes that the server may fill in.
func note() schema.Schema {
	return schema.Schema{Attributes: map[string]schema.Attribute{
		"id":     identifier(),
		"title":  schema.StringAttribute{Required: true},
		"body":   schema.StringAttribute{Optional: true, Computed: true},
		"lines":  schema.ListAttribute{Optional: true, Computed: true, ElementType: types.StringType},
		"labels": schema.MapAttribute{Optional: true, Computed: true, ElementType: types.StringType},
	}}
}

// gate includes the rules that entries declare, like a security group.
func gate() schema.Schema {
	return schema.Schema{Attributes: map[string]schema.Attribute{
		"id":   identifier(),
		"name": schema.StringAttribute{Required: true},
		"rules": schema.SetNestedAttribute{Optional: true, Computed: true, NestedObject: schema.NestedAttributeObject{
			Attributes: map[string]schema.Attribute{
				"port":    schema.Int64Attribute{Optional: true, Computed: true},
				"sources": schema.SetAttribute{Optional: true, Computed: true, ElementType: types.StringType},
			}}},
	}}
}

// entry is one rule of a gate.
func entry() schema.Schema {
	return schema.Schema{Attributes: map[string]schema.Attribute{
		"id":     identifier(),
		"name":   schema.StringAttribute{Required: true},
		"gate":   schema.StringAttribute{Required: true},
		"port":   schema.Int64Attribute{Required: true},
		"source": schema.StringAttribute{Required: true},
	}}
}

func identifier() schema.Attribute {
	return schema.StringAttribute{Computed: true,
		PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()}}
}
