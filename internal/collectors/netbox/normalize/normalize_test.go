package normalize_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

func newest() normalize.Version { return normalize.Version{Major: 4, Minor: 6} }

func kindOf(t *testing.T, name string) *normalize.Kind {
	t.Helper()
	kinds := normalize.Kinds()
	i := slices.IndexFunc(kinds, func(k *normalize.Kind) bool { return k.Model == name })
	if i < 0 {
		t.Fatalf("there is no kind %s", name)
	}
	return kinds[i]
}

func parse(t *testing.T, text string) model.Value {
	t.Helper()
	v, err := decode.JSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func normalizer(v normalize.Version) *normalize.Normalizer {
	return normalize.New(model.NewSealer([]byte("key of the tests")), v, nil)
}

func TestObjects(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, kind, row, want, name, known string }{
		{"a choice that is a number", "dcim.rack", `{"id":1,"name":"A01","site":{"id":5,"url":"x"},"width":{"value":19,"label":"19 inches"},"u_height":42,"desc_units":false,"airflow":{"value":null,"label":null}}`,
			`{"desc_units":false,"name":"A01","site":5,"u_height":42,"width":19}`, "A01", "name=A01@5"},
		{"blank values", "dcim.site", `{"id":2,"name":"a","slug":"a","facility":"","asns":[],"custom_fields":{},"tags":[],"latitude":null,"tenant":null}`, `{"name":"a","slug":"a"}`, "a", "slug=a"},
		{"numbers in one form", "dcim.device", `{"id":3,"name":"hv","position":10.0,"vc_position":0,"latitude":50.110900}`, `{"latitude":50.1109,"name":"hv","position":10,"vc_position":0}`, "hv", "name=hv@"},
		{"a device without a name", "dcim.device", `{"id":3,"name":null,"asset_tag":"A-1","site":{"id":5}}`, `{"asset_tag":"A-1","site":5}`, "A-1", ""},
		{"a cable", "dcim.cable", `{"id":4,"type":"cat6","a_terminations":[{"object_type":"dcim.interface","object_id":9,"object":{"id":9}},{"object_type":"dcim.interface","object_id":4,"object":{"id":4}}]}`,
			`{"a_terminations":[{"object_id":4,"object_type":"dcim.interface"},{"object_id":9,"object_type":"dcim.interface"}],"type":"cat6"}`, "#4", ""},
		{"a plain id", "dcim.inventoryitem", `{"id":5,"name":"SSD 0","device":{"id":2},"parent":7}`, `{"device":2,"name":"SSD 0","parent":7}`, "SSD 0", "name=SSD 0@2/7"},
		{"tags that are slugs", "extras.configcontext", `{"id":6,"name":"ntp","tags":["b","a"],"data":{"b":{"id":1,"url":"x"}},"is_active":true}`, `{"data":{"b":{"id":1,"url":"x"}},"is_active":true,"name":"ntp","tags":["a","b"]}`, "ntp", "name=ntp"},
		{"a machine outside clusters", "virtualization.virtualmachine", `{"id":7,"name":"a","cluster":null,"site":{"id":5,"url":"x"},"vcpus":2.0}`, `{"name":"a","site":5,"vcpus":2}`, "a", "name=a@5"},
		{"a VLAN", "ipam.vlan", `{"id":8,"vid":110,"name":"app","group":{"id":1},"site":{"id":5}}`, `{"group":1,"name":"app","site":5,"vid":110}`, "110 app", "name=110@1"},
		{"two identities", "ipam.vrf", `{"id":9,"name":"blue","rd":"65010:100"}`, `{"name":"blue","rd":"65010:100"}`, "blue", "rd=65010:100 name=blue"},
		{"a range", "ipam.iprange", `{"id":10,"start_address":"2001:db8::1/64","end_address":"2001:db8::9/64","vrf":{"id":3}}`, `{"end_address":"2001:db8::9/64","start_address":"2001:db8::1/64","vrf":3}`,
			"2001:db8::1/64-2001:db8::9/64", "name=2001:db8::1/64-2001:db8::9/64@3"},
		{"ports in any order", "ipam.service", `{"id":11,"name":"https","ports":[8443,443],"protocol":{"value":"tcp","label":"TCP"},"parent_object_type":"dcim.device","parent_object_id":2}`,
			`{"name":"https","parent_object_id":2,"parent_object_type":"dcim.device","ports":[443,8443],"protocol":"tcp"}`, "https", "name=https@2"},
		{"choices in their order", "extras.customfieldchoiceset", `{"id":12,"name":"tiers","extra_choices":[["silver","Silver"],["gold","Gold"]],"base_choices":null}`,
			`{"extra_choices":[["silver","Silver"],["gold","Gold"]],"name":"tiers"}`, "tiers", "name=tiers"},
		{"a URL without a secret", "extras.webhook", `{"id":13,"name":"h","payload_url":"https://x.org/?a=b","secret":""}`, `{"name":"h","payload_url":"https://x.org/?a=b"}`, "h", "name=h"},
		{"an AS", "ipam.asn", `{"id":14,"asn":65010,"rir":{"id":1}}`, `{"asn":65010,"rir":1}`, "AS65010", "name=65010"},
		{"a token, without its key", "users.token", `{"id":15,"key":"abcd","token":"abcd","description":"ci","user":{"id":3}}`, `{"description":"ci","user":3}`, "ci", ""},
	} {
		k := kindOf(t, tc.kind)
		o, err := normalizer(newest()).Object(k, parse(t, tc.row))
		if err != nil {
			t.Errorf("%s: %v", tc.reason, err)
			continue
		}
		var known []string
		for _, id := range o.Identities {
			known = append(known, id.By+"="+id.Value)
		}
		if got := string(o.Value.AppendJSON(nil)); got != tc.want || o.Name != tc.name || strings.Join(known, " ") != tc.known {
			t.Errorf("%s: %q known as %q:\n%s, want %q known as %q:\n%s", tc.reason, o.Name, known, got, tc.name, tc.known, tc.want)
		}
	}
}

func TestSecretsAreSealed(t *testing.T) {
	t.Parallel()
	for kind, row := range map[string]string{
		"wireless.wirelesslan": `{"id":1,"auth_psk":"hunter2"}`, "wireless.wirelesslink": `{"id":1,"auth_psk":"hunter2"}`, "ipam.fhrpgroup": `{"id":1,"auth_key":"hunter2"}`,
		"vpn.ikepolicy": `{"id":1,"preshared_key":"hunter2"}`, "extras.webhook": `{"id":1,"secret":"hunter2","additional_headers":"X: hunter2","payload_url":"https://a:hunter2@x.org/"}`,
		"core.datasource": `{"id":1,"source_url":"https://a:hunter2@x.org/%zz","parameters":{"password":"hunter2"}}`, "users.token": `{"id":1,"key":"hunter2"}`,
	} {
		o, err := normalizer(newest()).Object(kindOf(t, kind), parse(t, row))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(o.Value.AppendJSON(nil)); strings.Contains(got, "hunter2") || kind != "users.token" && !o.Value.HasSecret() {
			t.Errorf("%s shows its secret: %s", kind, got)
		}
	}
}

func TestOlderVersions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, kind, version, row, want string
	}{
		{"the role of a device", "dcim.device", "3.7", `{"id":1,"device_role":{"id":2,"url":"x"},"role":{"id":2,"url":"x"}}`, `{"role":2}`},
		{"the site of a prefix", "ipam.prefix", "4.1", `{"id":1,"prefix":"10.0.0.0/8","site":{"id":2,"url":"x"}}`, `{"prefix":"10.0.0.0/8","scope_id":2,"scope_type":"dcim.site"}`},
		{"no site of a prefix", "ipam.prefix", "4.1", `{"id":1,"prefix":"10.0.0.0/8","site":null}`, `{"prefix":"10.0.0.0/8"}`},
		{"a disk in GB", "virtualization.virtualmachine", "4.0", `{"id":1,"disk":20}`, `{"disk":20000}`},
		{"no disk", "virtualization.virtualmachine", "4.0", `{"id":1,"disk":0}`, `{"disk":0}`},
		{"a disk in MB", "virtualization.virtualmachine", "4.1", `{"id":1,"disk":20}`, `{"disk":20}`},
		{"a virtual disk in GB", "virtualization.virtualdisk", "3.7", `{"id":1,"size":8}`, `{"size":8000}`},
		{"models of a custom field", "extras.customfield", "3.7", `{"id":1,"content_types":["dcim.site"],"object_type":"dcim.device"}`, `{"object_types":["dcim.site"],"related_object_type":"dcim.device"}`},
		{"what an event rule waits for", "extras.eventrule", "4.0", `{"id":1,"type_create":true,"type_update":false,"type_delete":true,"type_job_start":false,"type_job_end":true}`,
			`{"event_types":["job_completed","job_errored","job_failed","object_created","object_deleted"]}`},
		{"the range of a VLAN group", "ipam.vlangroup", "4.0", `{"id":1,"min_vid":100,"max_vid":199}`, `{"vid_ranges":[[100,199]]}`},
		{"the machine of a service", "ipam.service", "4.2", `{"id":1,"device":null,"virtual_machine":{"id":6,"url":"x"}}`, `{"parent_object_id":6,"parent_object_type":"virtualization.virtualmachine"}`},
		{"the group of a contact", "tenancy.contact", "4.2", `{"id":1,"group":{"id":3,"url":"x"}}`, `{"groups":[3]}`},
		{"the object of a contact", "tenancy.contactassignment", "3.7", `{"id":1,"content_type":"dcim.site","object_id":3}`, `{"object_id":3,"object_type":"dcim.site"}`},
		{"the end of a circuit", "circuits.circuittermination", "4.1", `{"id":1,"site":null,"provider_network":{"id":3,"url":"x"}}`, `{"termination_id":3,"termination_type":"circuits.providernetwork"}`},
		{"the form of a rack", "dcim.rack", "4.0", `{"id":1,"type":{"value":"4-post-cabinet","label":"4-post cabinet"}}`, `{"form_factor":"4-post-cabinet"}`},
		{"the port behind a port", "dcim.frontport", "4.4", `{"id":1,"rear_port":{"id":3,"url":"x"},"rear_port_position":2}`, `{"rear_ports":[{"position":1,"rear_port":3,"rear_port_position":2}]}`},
		{"the ports behind a port", "dcim.frontport", "4.5", `{"id":1,"rear_ports":[{"position":1,"rear_port":3,"rear_port_position":2}]}`, `{"rear_ports":[{"position":1,"rear_port":3,"rear_port_position":2}]}`},
		{"what a group of circuits holds", "circuits.circuitgroupassignment", "4.1", `{"id":1,"circuit":{"id":3,"url":"x"}}`, `{"member_id":3,"member_type":"circuits.circuit"}`},
		{"old words in a new version", "ipam.prefix", "4.6", `{"id":1,"site":{"id":2,"url":"x"}}`, `{}`},
	} {
		version, ok := normalize.ParseVersion(tc.version)
		if !ok {
			t.Fatalf("version %s", tc.version)
		}
		o, err := normalizer(version).Object(kindOf(t, tc.kind), parse(t, tc.row))
		if got := string(o.Value.AppendJSON(nil)); err != nil || got != tc.want {
			t.Errorf("%s: %s, error %v; want %s", tc.reason, got, err, tc.want)
		}
	}
}

func TestQueryFieldsByVersion(t *testing.T) {
	t.Parallel()
	k := kindOf(t, "ipam.prefix")
	for version, asks := range map[normalize.Version]bool{{4, 1}: true, {4, 2}: false} {
		words := strings.Split(k.Query(version), ",")
		if slices.Contains(words, "site") != asks || !slices.Contains(words, "id") || !slices.Contains(words, "created") || !slices.Contains(words, "scope_id") {
			t.Errorf("%s is asked for %v", version, words)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"4.6.8": "4.6", "v4.5.0-Docker-3.4.1": "4.5", "4.7-beta1": "4.7", "4.6": "4.6", "3.7.8\n": "3.7", "": "", "4": "", "x.y": "", "-1.2": ""} {
		v, ok := normalize.ParseVersion(text)
		if ok != (want != "") || ok && v.String() != want {
			t.Errorf("ParseVersion(%q) = %s, %v", text, v, ok)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	kinds, schemas := normalize.Kinds(), normalize.Schemas()
	placeholder := regexp.MustCompile(`\{([a-z0-9_|]+)\}`)
	models, paths := map[string]bool{}, map[string]bool{}
	for _, k := range kinds {
		if models[k.Model] || paths[k.Path] || k.Name != "netbox/"+k.Model || k.Model != strings.ToLower(k.Model) {
			t.Errorf("%s at %s is there twice, or badly named", k.Model, k.Path)
		}
		models[k.Model], paths[k.Path] = true, true
		for _, pattern := range k.Patterns() {
			for _, names := range placeholder.FindAllStringSubmatch(pattern, -1) {
				for name := range strings.SplitSeq(names[1], "|") {
					if !k.Has(name) {
						t.Errorf("%s: %s speaks of a field that is not read", k.Model, pattern)
					}
				}
			}
		}
		schema := schemas[k.Name]
		if schema == nil || schema.Name != k.Name {
			t.Fatalf("%s has no schema", k.Model)
		}
		for _, r := range schema.Severities {
			if r.Path != "" && !k.Has(r.Path) || r.Reason == "" {
				t.Errorf("%s: severity of %q", k.Model, r.Path)
			}
		}
	}
	if len(schemas) != len(kinds) || len(kinds) < 100 {
		t.Errorf("%d kinds, %d schemas", len(kinds), len(schemas))
	}
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	schemas := normalize.Schemas()
	field := func(kind, name string) model.Schema { return *schemas["netbox/"+kind].Schema.Fields[name] }
	if s := field("virtualization.virtualmachine", "tags"); s.List != model.Set {
		t.Errorf("the order of tags counts: %+v", s)
	}
	if s := field("virtualization.vminterface", "tagged_vlans"); s.List != model.Set {
		t.Errorf("the order of references counts: %+v", s)
	}
	if s := field("extras.configcontext", "data"); s.List != model.Ordered || s.Fields != nil {
		t.Errorf("a free tree is compared as something else: %+v", s)
	}
	if s := field("ipam.prefix", "prefix"); s.Format != model.Address {
		t.Errorf("a prefix is no address: %+v", s)
	}
	if s := field("virtualization.virtualmachine", "disk"); !s.Derived {
		t.Errorf("the sum of the disks is not derived: %+v", s)
	}
	for kind, want := range map[string]model.Severity{"extras.customfield": model.High, "users.objectpermission": model.High, "users.token": model.High} {
		rules := schemas["netbox/"+kind].Severities
		i := slices.IndexFunc(rules, func(r model.SeverityRule) bool { return r.Path == "" && slices.Contains(r.Verdicts, model.Missing) })
		if i < 0 || rules[i].Severity != want {
			t.Errorf("drift of %s is rated %v", kind, rules)
		}
	}
	for path, want := range map[string]model.Severity{"description": model.Low, "comments": model.Low, "address": model.Medium} {
		rules := schemas["netbox/ipam.ipaddress"].Severities
		i := slices.IndexFunc(rules, func(r model.SeverityRule) bool { return r.Path == path })
		if i < 0 || rules[i].Severity != want {
			t.Errorf("a change of %s is rated %v", path, rules)
		}
	}
}

// TestProviderAttributesAreRead compares the tables with the attributes of the Terraform
// provider e-breuninger/netbox, by the API's names.
func TestProviderAttributesAreRead(t *testing.T) {
	t.Parallel()
	for kind, fields := range map[string]string{
		"virtualization.virtualmachine": "name cluster site device tenant platform role vcpus memory disk status comments description local_context_data custom_fields tags primary_ip4 primary_ip6 serial start_on_boot config_template owner virtual_machine_type",
		"virtualization.vminterface":    "name virtual_machine enabled mtu description mode untagged_vlan tagged_vlans bridge mac_address primary_mac_address mac_addresses parent vrf tags",
		"virtualization.virtualdisk":    "name size virtual_machine description custom_fields",
		"virtualization.cluster":        "name type group tenant comments description scope_type scope_id status custom_fields",
		"dcim.site":                     "name slug status description comments facility latitude longitude physical_address shipping_address time_zone asns region group tenant custom_fields",
		"dcim.location":                 "site parent tenant facility status",
		"dcim.rack":                     "site location role tenant rack_type status width u_height serial asset_tag facility_id form_factor weight max_weight weight_unit outer_width outer_depth outer_unit mounting_depth desc_units comments description",
		"dcim.devicerole":               "color vm_role", "dcim.platform": "name slug manufacturer", "dcim.region": "parent", "dcim.sitegroup": "parent",
		"dcim.devicetype":     "model slug manufacturer part_number u_height is_full_depth subdevice_role custom_fields",
		"dcim.device":         "name device_type role site location rack face position cluster tenant platform config_template serial asset_tag status comments description local_context_data virtual_chassis vc_position vc_priority custom_fields primary_ip4 primary_ip6 airflow oob_ip latitude",
		"dcim.virtualchassis": "name domain master",
		"dcim.interface":      "device name label type mgmt_only mtu speed mode untagged_vlan tagged_vlans vrf module parent lag description mac_address mac_addresses primary_mac_address duplex bridge wwn poe_mode poe_type mark_connected",
		"dcim.macaddress":     "mac_address assigned_object_type assigned_object_id description comments",
		"dcim.cable":          "a_terminations b_terminations status type label color length length_unit tenant comments description",
		"dcim.inventoryitem":  "device parent role manufacturer part_id serial asset_tag discovered component_type component_id label",
		"dcim.consoleport":    "device module name label type speed mark_connected",
		"dcim.powerport":      "device module name label type maximum_draw allocated_draw mark_connected",
		"dcim.powerpanel":     "site location",
		"ipam.ipaddress":      "address status role dns_name description vrf tenant nat_inside custom_fields assigned_object_type assigned_object_id comments",
		"ipam.prefix":         "prefix status is_pool mark_utilized description vrf tenant vlan role custom_fields scope_type scope_id",
		"ipam.iprange":        "start_address end_address status vrf tenant role description mark_populated mark_utilized size",
		"ipam.vlan":           "name vid status description group site tenant role",
		"ipam.vlangroup":      "name slug vid_ranges scope_type scope_id description",
		"ipam.vrf":            "name rd enforce_unique tenant description",
		"ipam.routetarget":    "name tenant description",
		"ipam.aggregate":      "prefix rir tenant description", "ipam.rir": "name slug is_private", "ipam.asn": "asn rir description comments", "ipam.role": "name slug weight description",
		"ipam.service":   "name protocol ports description parent_object_type parent_object_id",
		"ipam.fhrpgroup": "protocol group_id auth_type auth_key name", "ipam.fhrpgroupassignment": "group interface_type interface_id priority",
		"tenancy.tenant": "name slug description group", "tenancy.tenantgroup": "parent", "tenancy.contactgroup": "parent",
		"tenancy.contact": "name phone email link description groups", "tenancy.contactassignment": "object_type object_id contact role priority",
		"extras.tag":                  "name slug color description object_types weight",
		"extras.customfield":          "name type object_types choice_set label description group_name required weight default validation_minimum validation_maximum validation_regex related_object_type search_weight filter_logic ui_visible ui_editable is_cloneable",
		"extras.customfieldchoiceset": "name extra_choices base_choices order_alphabetically description",
		"extras.configcontext":        "name weight data description regions site_groups sites locations device_types roles platforms cluster_types cluster_groups clusters tenant_groups tenants tags is_active",
		"extras.configtemplate":       "name template_code environment_params description",
		"extras.webhook":              "name payload_url http_method http_content_type additional_headers body_template ca_file_path",
		"extras.eventrule":            "name object_types event_types action_type action_object_id enabled conditions",
		"vpn.tunnel":                  "name encapsulation status group tenant tunnel_id", "circuits.circuit": "cid status provider type tenant description",
		"wireless.wirelesslan": "ssid status group tenant vlan auth_type auth_cipher auth_psk",
		"users.user":           "username is_active groups", "users.group": "name", "users.objectpermission": "name object_types actions users groups constraints enabled", "users.token": "user description expires write_enabled allowed_ips",
	} {
		k := kindOf(t, kind)
		for name := range strings.FieldsSeq(fields) {
			if !k.Has(name) {
				t.Errorf("%s: %s is not read", kind, name)
			}
		}
	}
}

// FuzzObject normalizes arbitrary rows as every kind.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"name":{"value":[],"label":1},"tags":[{"id":1},3,null],"custom_fields":{"a":[{"id":1,"url":2}],"b":{"value":{},"label":1}}}`,
		`{"id":1,"a_terminations":[3,{"object_id":[]}],"vid_ranges":3,"site":{"id":"x"},"min_vid":1,"max_vid":{},"disk":1.5,"size":-1}`,
		`{"id":1,"payload_url":7,"secret":[1,{"a":null}],"rear_port":{"id":1},"group":[1],"device_role":{"id":{}},"created":"yesterday","custom_fields":[1]}`,
		`{"id":1,"type_create":"true","content_types":7,"extra_choices":[[1],[[2]]],"local_context_data":""}`,
	} {
		f.Add(seed, 3, 7)
	}
	kinds := normalize.Kinds()
	f.Fuzz(func(t *testing.T, text string, major, minor int) {
		row, err := decode.JSON([]byte(text))
		if err != nil {
			return
		}
		s := normalize.New(model.NewSealer([]byte("key of the tests")), normalize.Version{Major: major, Minor: minor}, map[string]string{"a": "multiobject", "b": "json"})
		for _, k := range kinds {
			o, err := s.Object(k, row)
			if err != nil {
				continue
			}
			if o.Name == "" || o.ID == "" || o.Value.Kind() != model.Map {
				t.Errorf("%s: %+v", k.Model, o)
			}
			for _, field := range o.Value.Fields() {
				if !k.Has(field.Name) || field.Value.IsNull() {
					t.Errorf("%s has a field %s: %v", k.Model, field.Name, field.Value)
				}
			}
			again, err := s.Object(k, row)
			if err != nil || !again.Value.Equal(o.Value) {
				t.Errorf("%s read twice: %v and %v", k.Model, o.Value, again.Value)
			}
			if changed := normalize.Changed(k, row, row); len(changed) > 0 {
				t.Errorf("%s changed by nothing: %v", k.Model, changed)
			}
		}
	})
}
