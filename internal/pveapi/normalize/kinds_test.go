package normalize_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

func TestSchemas(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind, a, b string
		equal      bool
		reason     string
	}{
		"defaults of a machine":   {normalize.QEMU, `{}`, `{"cores": 1, "sockets": 1, "memory": 512, "onboot": 0, "tablet": 1, "agent": "0,type=virtio", "vga": "std", "bios": "seabios", "scsihw": "lsi"}`, true, "defaults"},
		"no defaults":             {normalize.QEMU, `{}`, `{"cores": 2}`, false, "an edit"},
		"balloon":                 {normalize.QEMU, `{}`, `{"balloon": 0}`, false, "0 turns the device off, absent does not"},
		"boot from nothing":       {normalize.QEMU, `{}`, `{"boot": " "}`, true, "PVE writes it itself"},
		"smbios":                  {normalize.QEMU, `{}`, `{"smbios1": "uuid=0c0ffee0-0000-4000-8000-000000000001"}`, true, "PVE generates one"},
		"MAC address":             {normalize.QEMU, `{"net0": "model=virtio,bridge=vmbr9"}`, `{"net0": "virtio=BC:24:11:00:00:01,bridge=vmbr9,firewall=0"}`, true, "PVE generates one"},
		"options of a disk":       {normalize.QEMU, `{"scsi0": "fast:vm-700-disk-0"}`, `{"scsi0": "fast:vm-700-disk-0,aio=io_uring,backup=1,cache=none,discard=ignore,iothread=0,replicate=1,ssd=0,size=8G"}`, true, "explicit defaults, and a derived size"},
		"backup of a mount point": {normalize.LXC, `{"mp0": "/srv,mp=/srv"}`, `{"mp0": "/srv,mp=/srv,backup=0"}`, true, "the default is off"},
		"defaults of a container": {normalize.LXC, `{}`, `{"memory": 512, "swap": 512, "tty": 2, "console": 1, "cmode": "tty", "arch": "amd64", "unprivileged": 0}`, true, "defaults"},
		"enabled firewall":        {normalize.FirewallOptions, `{}`, `{"enable": 0}`, false, "the default depends on the firewall"},
		"firewall of a guest":     {normalize.FirewallOptions, `{}`, `{"policy_in": "DROP", "policy_out": "ACCEPT", "macfilter": 1, "ndp": 1, "dhcp": 0, "log_level_in": "nolog", "log_ratelimit": "1,burst=5"}`, true, "defaults"},
		"log of a rule":           {normalize.FirewallRules, `{"rules": [{"type": "in", "action": "DROP"}]}`, `{"rules": [{"type": "in", "action": "DROP", "log": "nolog", "enable": 1}]}`, true, "explicit defaults"},
		"user":                    {normalize.User, `{"userid": "ann@pve"}`, `{"userid": "ann@pve", "enable": 1, "email": "", "groups": ""}`, true, "explicit defaults"},
		"disabled user":           {normalize.User, `{"userid": "ann@pve"}`, `{"userid": "ann@pve", "enable": 0}`, false, "an edit"},
		"priority of a node":      {normalize.HARule, `{"nodes": "n1"}`, `{"nodes": "n1,n2"}`, false, "no priority is still a node"},
		"storage":                 {normalize.Storage, `{"type": "dir"}`, `{"type": "dir", "create-subdirs": 1, "preallocation": "metadata", "disable": 0, "is_mountpoint": "no"}`, true, "explicit defaults"},
		"backup job":              {normalize.BackupJob, `{"id": "b"}`, `{"id": "b", "enabled": 1, "mode": "snapshot", "compress": "0", "ionice": "7", "fleecing": "0"}`, true, "explicit defaults"},
	}
	kinds := normalize.Kinds()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			normalizer := newNormalizer()
			a, b := normalizer.Object(tt.kind, parse(t, tt.a)), normalizer.Object(tt.kind, parse(t, tt.b))
			if diff.Equal(kinds[tt.kind].Schema, a, b) != tt.equal {
				t.Errorf("%s: %s and %s are equal: %t", tt.reason, shown(a), shown(b), !tt.equal)
			}
		})
	}
}

func TestSchemaMarks(t *testing.T) {
	t.Parallel()
	kinds := normalize.Kinds()
	qemu := kinds[normalize.QEMU].Schema
	if !qemu.Fields["cipassword"].Masked {
		t.Error("a masked password is compared")
	}
	if !qemu.Fields["node"].Location {
		t.Error("a guest on another node is not moved")
	}
	for _, key := range []string{"net31", "scsi30", "virtio15", "ide3", "unused255", "hostpci15", "ipconfig31"} {
		if qemu.Fields[key] == nil {
			t.Errorf("%s is not known", key)
		}
	}
	for name, kind := range kinds {
		if kind.Name != name || !strings.HasPrefix(name, "proxmox/") || kind.Schema.Closed {
			t.Errorf("kind %s: name %s, closed %t", name, kind.Name, kind.Schema.Closed)
		}
	}
}

func TestSeverities(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind    string
		verdict model.Verdict
		paths   []string
		want    model.Severity
	}{
		"memory":                {normalize.QEMU, model.Changed, []string{"memory"}, model.Medium},
		"a part of a disk":      {normalize.QEMU, model.Changed, []string{"scsi0.size"}, model.Medium},
		"note":                  {normalize.QEMU, model.Changed, []string{"description"}, model.Low},
		"tags":                  {normalize.LXC, model.Changed, []string{`tags[=hotfix]`}, model.Low},
		"note and memory":       {normalize.QEMU, model.Changed, []string{"description", "memory"}, model.Medium},
		"arguments and memory":  {normalize.QEMU, model.Changed, []string{"args", "memory"}, model.High},
		"login":                 {normalize.QEMU, model.Undeclared, []string{"sshkeys"}, model.High},
		"privileges of LXC":     {normalize.LXC, model.Changed, []string{"features.nesting"}, model.High},
		"rule":                  {normalize.FirewallRules, model.Changed, []string{"rules[0].action"}, model.High},
		"note of an alias":      {normalize.FirewallAlias, model.Changed, []string{"comment"}, model.Low},
		"user":                  {normalize.User, model.Changed, []string{"enable"}, model.High},
		"note of a user":        {normalize.User, model.Changed, []string{"comment"}, model.Low},
		"user by hand":          {normalize.User, model.Unmanaged, nil, model.High},
		"grant by hand":         {normalize.ACL, model.Unmanaged, nil, model.High},
		"guest by hand":         {normalize.QEMU, model.Unmanaged, nil, model.Low},
		"new key, not known":    {normalize.QEMU, model.Changed, []string{"warp"}, model.Medium},
		"waiting for a restart": {normalize.QEMU, model.PendingRestart, []string{"description"}, model.Low},
	}
	kinds := normalize.Kinds()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := rated(kinds[tt.kind], model.Value{}, tt.verdict, tt.paths...); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// rated returns the severity of a finding on a resource with a live value.
func rated(kind *model.Kind, live model.Value, verdict model.Verdict, paths ...string) model.Severity {
	outcome := model.Outcome{Verdict: verdict}
	for _, path := range paths {
		outcome.Changes = append(outcome.Changes, model.Change{Path: path})
	}
	subject := &model.Subject{Key: model.Key{Source: "pve", Kind: kind.Name, ID: "x"}, Kind: kind, Live: &model.Resource{Value: live}}
	found := classify.Findings(classify.Input{Judged: []model.Judged{{Subject: subject, Outcomes: []model.Outcome{outcome}}}})
	return found.Current[0].Severity
}
