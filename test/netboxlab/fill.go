package netboxlab

import (
	"fmt"
	"strconv"
)

// Fill creates many virtual machines in ten clusters, each with an interface, a MAC address and
// a primary address on it. It does not write to the changelog.
func (l *Lab) Fill(machines int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	typ, err := l.plant("virtualization.clustertype", Object{"name": "Proxmox VE", "slug": "proxmox-ve"})
	if err != nil {
		return err
	}
	var clusters []int
	for i := range 10 {
		cluster, err := l.plant("virtualization.cluster", Object{"name": fmt.Sprintf("cluster %d", i), "type": typ.id})
		if err != nil {
			return err
		}
		clusters = append(clusters, cluster.id)
	}
	for i := range machines {
		if err := l.fillOne(i, clusters[i%len(clusters)]); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lab) fillOne(i, cluster int) error {
	vm, err := l.plant("virtualization.virtualmachine", Object{"name": fmt.Sprintf("vm%05d", i), "cluster": cluster,
		"vcpus": 1 + i%8, "memory": 1024 * (1 + i%16), "disk": 20000, "comments": "made by the dozen"})
	if err != nil {
		return err
	}
	nic, err := l.plant("virtualization.vminterface", Object{"virtual_machine": vm.id, "name": "eth0", "mtu": 1500})
	if err != nil {
		return err
	}
	mac, err := l.plant("dcim.macaddress", Object{"assigned_object_type": nic.model.name, "assigned_object_id": nic.id,
		"mac_address": fmt.Sprintf("BC:24:11:%02X:%02X:%02X", i>>16&0xff, i>>8&0xff, i&0xff)})
	if err != nil {
		return err
	}
	address, err := l.plant("ipam.ipaddress", Object{"assigned_object_type": nic.model.name, "assigned_object_id": nic.id,
		"address": fmt.Sprintf("10.%d.%d.%d/16", i>>16&0xff, i>>8&0xff, i&0xff)})
	if err != nil {
		return err
	}
	l.store.change(nic, map[string]any{"primary_mac_address": mac.id})
	l.store.change(vm, map[string]any{"primary_ip4": address.id})
	return nil
}

// plant creates an object without a request.
func (l *Lab) plant(name string, body Object) (*object, error) {
	m := l.store.byName[name]
	fields, wrong := l.store.values(m, body, nil)
	if len(wrong) > 0 {
		return nil, fmt.Errorf("make a %s: %v", m.words, wrong)
	}
	return l.store.put(m, fields, l.now()), nil
}

// Make creates an object below an endpoint as a user, and returns its ID.
func (l *Lab) Make(user, endpoint string, body Object) (int, error) {
	made, err := l.Do(user, "POST", endpoint, body)
	if err != nil {
		return 0, fmt.Errorf("make one of %s: %w", endpoint, err)
	}
	id, err := strconv.Atoi(fmt.Sprint(made["id"]))
	if err != nil {
		return 0, fmt.Errorf("make one of %s: read its id: %w", endpoint, err)
	}
	return id, nil
}

// Find returns the ID of the object with a display name below an endpoint.
func (l *Lab) Find(endpoint, display string) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.store.models {
		if m.endpoint != endpoint {
			continue
		}
		for _, id := range l.store.listed(m) {
			if l.store.display(l.store.get(m.name, id)) == display {
				return id, nil
			}
		}
	}
	return 0, fmt.Errorf("find %s in %s: there is none", display, endpoint)
}

// LastChange returns the ID of the newest row of the changelog.
func (l *Lab) LastChange() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lastChange
}
