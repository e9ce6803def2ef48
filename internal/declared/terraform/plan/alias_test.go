package plan

import (
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
)

func TestAlias(t *testing.T) {
	t.Parallel()
	r := &reader{config: map[string]*tfjson.ConfigResource{
		"lab_server.plain":          {ProviderConfigKey: "lab"},
		"lab_server.west":           {ProviderConfigKey: "lab.west"},
		"module.m.lab_server.own":   {ProviderConfigKey: "module.m:lab"},
		"module.m.lab_server.other": {ProviderConfigKey: "module.m:lab.east"},
	}}
	for address, want := range map[string]string{
		"lab_server.plain":                 "",
		`lab_server.west["a.b"]`:           "west",
		"module.m.lab_server.own[0]":       "",
		`module.m["k"].lab_server.other`:   "east",
		"lab_server.is_configured_nowhere": "",
	} {
		if got := r.alias(address); got != want {
			t.Errorf("alias of %s: %q, want %q", address, got, want)
		}
	}
}
