package normalize_test

import (
	"testing"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// TestSeverityByLiveValue checks severities that depend on the live value. In a list, only the
// changed item counts.
func TestSeverityByLiveValue(t *testing.T) {
	t.Parallel()
	const critical, high, medium = model.Critical, model.High, model.Medium
	// two has an open rule and a rule that is not open.
	const two = `{"rules":[{"type":"in","action":"ACCEPT","dport":"443"},{"type":"in","action":"ACCEPT","source":"10.0.0.0/8","dport":"22","comment":"x"}]}`
	one := func(rule string) string { return `{"rules":[` + rule + `]}` }
	kinds := normalize.Kinds()
	for reason, tc := range map[string]struct {
		kind, live     string
		path           string // live path of the change; "" for an unmanaged object
		declared, seen string // the values of the change; "" for an absent one
		want           model.Severity
	}{
		"a rule without a source":              {normalize.FirewallRules, one(`{"type":"in","action":"ACCEPT","dport":22}`), "", "", "", critical},
		"a rule for the world":                 {normalize.FirewallRules, one(`{"type":"in","action":"ACCEPT","source":"10.0.0.1,0.0.0.0/0"}`), "", "", "", critical},
		"a rule for a range":                   {normalize.FirewallRules, one(`{"type":"in","action":"ACCEPT","source":"0.0.0.0-255.255.255.255"}`), "", "", "", critical},
		"a rule for all of IPv6":               {normalize.FirewallGroup, one(`{"type":"in","action":"ACCEPT","source":"2000::/3"}`), "", "", "", critical},
		"a rule that is off":                   {normalize.FirewallRules, one(`{"type":"in","action":"ACCEPT","enable":0}`), "", "", "", medium},
		"a rule that drops":                    {normalize.FirewallRules, one(`{"type":"in","action":"DROP"}`), "", "", "", medium},
		"a rule for outgoing traffic":          {normalize.FirewallRules, one(`{"type":"out","action":"ACCEPT"}`), "", "", "", medium},
		"a rule for pings":                     {normalize.FirewallRules, one(`{"type":"in","action":"ACCEPT","macro":"Ping"}`), "", "", "", medium},
		"a rule for control messages":          {normalize.FirewallRules, one(`{"type":"in","action":"ACCEPT","proto":"icmp"}`), "", "", "", medium},
		"a rule for a set":                     {normalize.FirewallRules, one(`{"type":"in","action":"ACCEPT","source":"+dc/admins"}`), "", "", "", medium},
		"conditions in two rules":              {normalize.FirewallRules, `{"rules":[{"type":"in","action":"DROP"},{"type":"out","action":"ACCEPT"}]}`, "", "", "", medium},
		"a source opened":                      {normalize.FirewallRules, one(`{"type":"in","action":"ACCEPT","source":"0.0.0.0/0"}`), "rules[0].source", "10.0.0.0/8", "0.0.0.0/0", critical},
		"a source closed":                      {normalize.FirewallRules, one(`{"type":"in","action":"ACCEPT","source":"10.0.0.0/8"}`), "rules[0].source", "0.0.0.0/0", "10.0.0.0/8", high},
		"a source removed":                     {normalize.FirewallRules, one(`{"type":"in","action":"ACCEPT"}`), "rules[0].source", "10.0.0.0/8", "", critical},
		"a port of a rule that is not open":    {normalize.FirewallRules, two, "rules[1].dport", "23", "22", high},
		"a port of an open rule":               {normalize.FirewallRules, two, "rules[0].dport", "80", "443", critical},
		"a note of an open rule":               {normalize.FirewallRules, one(`{"type":"in","action":"ACCEPT","comment":"x"}`), "rules[0].comment", "y", "x", high},
		"an action of a rule that is not open": {normalize.FirewallRules, two, "rules[1].action", "DROP", "ACCEPT", high},
		"a removed rule that is not open":      {normalize.FirewallRules, two, "rules[-1-2].action", "DROP", "", high},
		"the firewall off":                     {normalize.FirewallOptions, `{"enable":0}`, "enable", "true", "false", critical},
		"the firewall on":                      {normalize.FirewallOptions, `{"enable":1}`, "enable", "false", "true", high},
		"a firewall that was never on":         {normalize.FirewallOptions, `{"enable":0}`, "", "", "", medium},
		"the input policy accepts":             {normalize.FirewallOptions, `{"policy_in":"ACCEPT"}`, "policy_in", "DROP", "ACCEPT", critical},
		"an alias for the world":               {normalize.FirewallAlias, `{"cidr":"0.0.0.0/0"}`, "cidr", "10.0.0.0/8", "0.0.0.0/0", critical},
		"an unmanaged alias for the world":     {normalize.FirewallAlias, `{"cidr":"::/0"}`, "", "", "", high},
		"an unmanaged alias":                   {normalize.FirewallAlias, `{"cidr":"10.0.0.0/8"}`, "", "", "", medium},
		"a set of half of the world":           {normalize.FirewallIPSet, `{"name":"x","cidr":[{"cidr":"10.0.0.0/8"},{"cidr":"128.0.0.0/1"}]}`, "", "", "", high},
		"a set without the world":              {normalize.FirewallIPSet, `{"name":"x","cidr":[{"cidr":"0.0.0.0/0","nomatch":1}]}`, "", "", "", medium},
		"Administrator on all":                 {normalize.ACL, `{"path":"/","roleid":"Administrator","ugid":"eve@pve","type":"user"}`, "", "", "", critical},
		"Administrator on a machine":           {normalize.ACL, `{"path":"/vms/100","roleid":"Administrator","ugid":"eve@pve"}`, "", "", "", high},
		"an auditor":                           {normalize.ACL, `{"path":"/","roleid":"PVEAuditor","ugid":"eve@pve"}`, "", "", "", high},
		"Administrator inherited":              {normalize.ACL, `{"path":"/","roleid":"Administrator","propagate":1}`, "propagate", "false", "true", critical},
		"a user with all rights":               {normalize.User, `{"userid":"eve@pve","acl":[{"path":"/vms","roleid":"PVEAdmin"},{"path":"/","roleid":"Administrator"}]}`, "", "", "", critical},
		"a user with conditions in two rows":   {normalize.User, `{"userid":"eve@pve","acl":[{"path":"/","roleid":"PVEAuditor"},{"path":"/vms","roleid":"Administrator"}]}`, "", "", "", high},
		"a group with all rights":              {normalize.Group, `{"groupid":"ops","acl":[{"path":"/","roleid":"Administrator"}]}`, "", "", "", critical},
		"a user by hand":                       {normalize.User, `{"userid":"eve@pve"}`, "", "", "", high},
		"a group by hand":                      {normalize.Group, `{"groupid":"ops"}`, "", "", "", high},
		"a token by hand":                      {normalize.Token, `{"tokenid":"x"}`, "", "", "", high},
		"a realm by hand":                      {normalize.Realm, `{"realm":"x"}`, "", "", "", high},
		"a role by hand":                       {normalize.Role, `{"roleid":"x"}`, "", "", "", medium},
		"the name of a user of all rights":     {normalize.User, `{"userid":"eve@pve","firstname":"Eve","acl":[{"path":"/","roleid":"Administrator"}]}`, "firstname", "Eva", "Eve", model.Low},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			key := model.Key{Source: "pve", Kind: tc.kind, ID: "x"}
			live := newNormalizer().Object(tc.kind, parse(t, tc.live))
			out := model.Outcome{Verdict: model.Unmanaged}
			if tc.path != "" {
				out = model.Outcome{Verdict: model.Changed, Changes: []model.Change{{Path: "x", LivePath: tc.path, Declared: side(tc.declared), Live: side(tc.seen)}}}
			}
			s := &model.Subject{Key: key, Kind: kinds[tc.kind], Live: &model.Resource{Key: key, Value: live}}
			f := classify.Findings(classify.Input{Judged: []model.Judged{{Subject: s, Outcomes: []model.Outcome{out}}}}).Current[0]
			if f.Severity != tc.want {
				t.Errorf("%s because %q, want %s: %s", f.Severity, f.Reason, tc.want, shown(live))
			}
		})
	}
}

// side returns a value of a change: a boolean, or else a text.
func side(text string) *model.Value {
	v := model.StringOf(text)
	switch text {
	case "":
		return nil
	case "true", "false":
		v = model.BoolOf(text == "true")
	}
	return &v
}
