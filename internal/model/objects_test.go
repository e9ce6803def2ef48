package model_test

import (
	"fmt"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestObjectSample(t *testing.T) {
	t.Parallel()
	claim := func(address, kind, id, name string) model.Claim {
		return model.Claim{Address: address, Kind: kind, ID: id, Name: name}
	}
	unchecked, byIdentity := claim("lab_server.late", "terraform/lab_server", "lab_server.late", "late"), claim("lab_server.mac", "proxmox/qemu", "lab_server.mac", "")
	unchecked.Unchecked, byIdentity.ByIdentity = "deferred", true
	sample := model.SampleObjects([]model.Claim{
		claim("lab_server.web", "terraform/lab_server", "lab_server.web", "web-1"),
		claim("lab_server.web", "terraform/lab_server", "lab_server.web (deposed 0a)", "web-0"),
		claim("proxmox_vm.db", "proxmox/qemu", "104", "db"), unchecked, byIdentity})
	for name, tc := range map[string]struct {
		address, id, live string
		want              model.Sampled
	}{
		"the object":                         {"lab_server.web", "web-1", "", model.Same},
		"the deposed object":                 {"lab_server.web", "web-0", "", model.Same},
		"another object":                     {"lab_server.web", "web-7", "", model.Other},
		"its ID is not known":                {"lab_server.web", "", "", model.Same},
		"another address":                    {"lab_server.db", "web-1", "", model.Absent},
		"the guest":                          {"proxmox_vm.db", "pve1/104", "104", model.Same},
		"another guest":                      {"proxmox_vm.db", "pve1/105", "105", model.Other},
		"a guest that the plan cannot map":   {"proxmox_vm.db", "pve1/104", "", model.Same},
		"what was not compared has no ID":    {"lab_server.late", "late-1", "", model.Same},
		"what its identities determine, too": {"lab_server.mac", "mac-1", "mac-1", model.Same},
	} {
		if got := sample.Find(tc.address, tc.id, tc.live); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	if got := model.ObjectSample(nil).Find("lab_server.web", "", ""); got != model.Absent {
		t.Errorf("an empty sample: %v", got)
	}
	if got := model.ObjectSample("odd").Find("lab_server.web", "", ""); got != model.Absent {
		t.Errorf("a damaged sample: %v", got)
	}
}

// TestObjectSampleIsBounded checks that a sample has at most 16 KiB, and that it never denies an
// object that it has no room for.
func TestObjectSampleIsBounded(t *testing.T) {
	t.Parallel()
	claims := make([]model.Claim, 20_000)
	for i := range claims {
		claims[i] = model.Claim{Address: fmt.Sprintf("lab_server.web[%d]", i), Kind: "terraform/lab_server", Name: fmt.Sprint("web-", i)}
	}
	sample := model.SampleObjects(claims)
	if len(sample) != 16<<10 {
		t.Errorf("%d bytes", len(sample))
	}
	found := map[model.Sampled]int{}
	for i := range claims {
		found[sample.Find(claims[i].Address, claims[i].Name, "")]++
	}
	if found[model.Same] != 2048 || found[model.Beyond] != len(claims)-2048 {
		t.Errorf("same %d, beyond %d, other %d, absent %d", found[model.Same], found[model.Beyond], found[model.Other], found[model.Absent])
	}
}
