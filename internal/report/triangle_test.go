package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// guest is a finding on a Proxmox guest that Terraform and NetBox declare.
func guest(id string, verdict model.Verdict, severity model.Severity, vmid, name string) model.Finding {
	f := finding(id, verdict, severity, "x/x/x")
	f.Key, f.Place, f.Name = model.Key{Source: "pve", Kind: "proxmox/qemu", ID: vmid}, "pve1", name
	f.Declaration, f.Address = "infra", "proxmox_virtual_environment_vm."+name
	return f
}

// logged returns an actor of NetBox's changelog.
func logged(name, entry, request, message string) model.Actor {
	return model.Actor{Name: name, At: earlier(5 * time.Minute), Via: "NetBox changelog", Evidence: "object-change " + entry,
		Confidence: model.Exact, Request: request, Message: message}
}

// argued is a guest with different values in Terraform, NetBox and Proxmox, under
// different names.
func argued() model.Finding {
	f := guest("d15a67ee", model.Disputed, model.High, "104", "db-01")
	f.Actor = logged("mara", "5695", "0d8ba41e", "grow for the sale")
	f.Reason = "memory[0].dedicated: intent differs, infra and pve agree; cpu[0].cores: infra, intent and pve all differ"
	claims := func(ours, theirs int64, word string) []model.ClaimedValue {
		author := model.Actor{Name: "alice", At: earlier(20 * 24 * time.Hour), Via: "git", Evidence: "commit 4f1c2b9a7d3e", Confidence: model.Likely}
		asked := logged("mara", "5695", "0d8ba41e", "")
		return []model.ClaimedValue{{Declaration: "infra", Address: f.Address, Position: "infra/db.tf:7", URL: "https://git.example.org/infra/db.tf#L7", Value: *number(ours), Actor: &author},
			{Declaration: "intent", Address: "virtual-machines/6", Path: word, Value: *number(theirs), Actor: &asked}}
	}
	nobody := model.UnknownActor("no task of the last days set it")
	f.Changes = []model.Change{
		{Path: "cpu[0].cores", LivePath: "cores", Declared: number(2), Live: number(8), Claims: claims(2, 4, "vcpus"),
			Actor: &model.Actor{Name: "root@pam", At: earlier(3 * time.Minute), Via: "task log", Confidence: model.Likely,
				Evidence: "UPID:pve1:0001A2B3:00C4D5E6:6921A0F0:qmconfig:104:root@pam:"}},
		{Path: "memory[0].dedicated", LivePath: "memory", Declared: number(4096), Live: number(4096), LiveActor: &nobody, Claims: claims(4096, 16384, "memory")},
	}
	return f
}

// triangle are guests that one of the declarations lacks, and one that was made
// again.
func triangle() []model.Finding {
	lacking := guest("1ac61a60", model.Unmanaged, model.Medium, "107", "mail-01")
	lacking.Declaration, lacking.Address = "intent", ""
	lacking.Reason = "live, and in infra (proxmox_virtual_environment_vm.mail-01), but not in intent"
	nobodys := guest("0b0d1e50", model.Unmanaged, model.Medium, "108", "lab")
	nobodys.Declaration, nobodys.Address, nobodys.Reason = "", "", "neither infra nor intent speaks of it"
	again := guest("a6a10000", model.Moved, model.Medium, "203", "web-01")
	again.Reason = "made again: 105 is gone, and this stands in its place"
	again.Changes = []model.Change{{Path: "id", Declared: text("105"), Recorded: text("105"), Live: text("203")}}
	gone := guest("90000000", model.Missing, model.Critical, "110", "queue-01")
	gone.Reason = "intent (virtual-machines/9) claims it, too"
	address := guest("add4e550", model.Changed, model.Medium, "61", "")
	address.Key, address.Place, address.Name = model.Key{Source: "netbox", Kind: "netbox/ipam.ipaddress", ID: "61"}, "", "192.0.2.61/24"
	address.Address, address.Actor = "netbox_ip_address.db", logged("@here <!channel>", "5701", "71", strings.Repeat("`|\x1b[31m\n\"", 30))
	address.Changes = []model.Change{{Path: "status", Declared: text("active"), Live: text("reserved")}}
	return []model.Finding{lacking, nobodys, again, gone, address}
}

// tagged are so many virtual machines whose tag one request renamed.
func tagged(request string, n int) []model.Finding {
	all := make([]model.Finding, n)
	for i := range all {
		f := finding(fmt.Sprintf("%s-%05d", request, i), model.Changed, model.Low, "x/x/x")
		f.Key, f.Place, f.Name = model.Key{Source: "netbox", Kind: "netbox/virtualization.virtualmachine", ID: fmt.Sprintf("%05d", i+1)}, "", fmt.Sprintf("app-%02d", i+1)
		f.Declaration, f.Address = "infra", fmt.Sprintf("netbox_virtual_machine.app[%d]", i)
		f.Actor = logged("priya", fmt.Sprint(9000+i), request, "berlin is one site now")
		f.Changes = []model.Change{{Path: "tags", Declared: list("ber1", f.Name), Recorded: list("ber1", f.Name), Live: list("berlin", f.Name)}}
		all[i] = f
	}
	return all
}

func list(items ...string) *model.Value {
	values := make([]model.Value, len(items))
	for i, item := range items {
		values[i] = model.StringOf(item)
	}
	v := model.ListOf(values...)
	return &v
}

// crowded returns findings of one cause: enough for a group, too few for one, and one
// with a decision.
func crowded() []model.Finding {
	many, few, over := tagged("7e9a5e01", 9), tagged("7e9a5e02", 3), tagged("7e9a5e03", 5)
	many[4].Kind, many[4].Key.ID, many[4].Name = "netbox/dcim.device", "sw-07", ""
	many[6].Decision = &model.Decision{ID: "dec1de00ac4d", Kind: model.Acknowledge, Finding: many[6].ID, By: "alice", At: earlier(time.Hour), Until: earlier(-23 * time.Hour)}
	for i := range few {
		few[i].Severity = model.Medium
	}
	for i := range over {
		over[i].Resolved = earlier(time.Minute)
	}
	return append(append(many, few...), over...)
}

// threeWays is a report of live systems, an inventory and Terraform.
func threeWays() model.Report {
	findings := append(triangle(), argued())
	findings = append(findings, crowded()...)
	return model.Report{
		Version:  model.ReportVersion,
		Scan:     model.Scan{ID: "20261120T072400Z-3", Started: earlier(6 * time.Minute), Finished: earlier(5 * time.Minute), Complete: true},
		Summary:  model.Summary{Resources: 90, InSync: 72, Findings: 18},
		Findings: findings,
		Coverage: []model.Coverage{{Source: "netbox", Complete: true}, {Source: "pve", Complete: true}},
	}
}

func TestByRequest(t *testing.T) {
	t.Parallel()
	all := func(parts ...[]model.Finding) (findings []model.Finding) {
		for _, part := range parts {
			findings = append(findings, part...)
		}
		return findings
	}
	hidden := tagged("2", 5)
	for i := range hidden {
		hidden[i].Hidden = "noise"
	}
	elsewhere := tagged("1", 4)
	for i := range elsewhere {
		elsewhere[i].Source = "lab"
	}
	other := tagged("1", 4)
	for i := range other {
		other[i].ID, other[i].Verdict = "other"+other[i].ID, model.Conflict
	}
	for name, tc := range map[string]struct {
		reason   string
		findings []model.Finding
		want     string
	}{
		"one":            {"what else drifted is counted, too", all(tagged("1", 4999), tagged("", 1)), "5,000 drifted, 4,999 of them by one request, 0 in sync"},
		"all":            {"nothing else drifted", tagged("1", 4), "4 drifted, all of them by one request, 0 in sync"},
		"few":            {"three are said singly", all(tagged("1", 3), tagged("2", 3)), "6 drifted, 0 in sync"},
		"several":        {"requests are counted", all(tagged("1", 4), tagged("2", 4), tagged("3", 3)), "11 drifted, 8 of them by 2 requests, 0 in sync"},
		"two effects":    {"one request that did two things is one", all(tagged("1", 4), other), "8 drifted, all of them by one request, 0 in sync"},
		"two systems":    {"the same id in another system is another request", all(tagged("1", 4), elsewhere), "8 drifted, all of them by 2 requests, 0 in sync"},
		"hidden":         {"what a rule hides did not drift", all(tagged("1", 4), hidden), "4 drifted, all of them by one request, 0 in sync"},
		"nobody drifted": {"what is hidden is not said", hidden, "Nothing drifted, 0 in sync"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, _ := newOutline(&model.Report{Findings: tc.findings}, phrase.Clock{}).headline(); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestOneCauseIsSaidOnce counts: people read one finding of a cause, programs all.
func TestOneCauseIsSaidOnce(t *testing.T) {
	t.Parallel()
	r := model.Report{Findings: tagged("1", 5000)}
	for format, want := range map[string]int{"table": 1, "markdown": 1, "html": 1, "json": 5000, "sarif": 5000, "junit": 5000} {
		got := write(t, format, r, Options{})
		if n := strings.Count(got, "netbox_virtual_machine.app["); n != want && n != 2*want {
			t.Errorf("%s names %d addresses, want %d", format, n, want)
		}
		if said := strings.Contains(got, "and 4,999 more by the same request"); said != (want == 1) {
			t.Errorf("%s says that there are more: %t", format, said)
		}
		if len(got) > 20_000 && want == 1 {
			t.Errorf("%s has %d bytes", format, len(got))
		}
	}
}

// TestCauseInLinearTime: what many findings of one cause cost is what each costs,
// however many there are.
//
//nolint:paralleltest // allocations are counted for the whole process
func TestCauseInLinearTime(t *testing.T) {
	for _, format := range Formats() {
		cost := func(n int) float64 {
			r := model.Report{Findings: tagged("1", n)}
			return testing.AllocsPerRun(1, func() {
				var b strings.Builder
				if err := Write(&b, format, r, Options{Width: 100, Now: now}); err != nil {
					t.Error(err)
				}
			})
		}
		few, many := cost(200), cost(2000)
		if many > 12*few {
			t.Errorf("%s: %v allocations for 200 findings, %v for 2,000", format, few, many)
		}
	}
}

func BenchmarkOneCause(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		r := model.Report{Findings: tagged("1", n), Summary: model.Summary{Findings: n}}
		for _, format := range Formats() {
			b.Run(fmt.Sprintf("%s/%d", format, n), func(b *testing.B) {
				for b.Loop() {
					var s strings.Builder
					if err := Write(&s, format, r, Options{Width: 100, Now: now, RelativeTime: true}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
