package proxmox

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// The options of guests that are put back, by the privilege that changing them requires. Options with a number have none
// here. Proxmox VE checks the privileges itself, too.
const (
	qemuCPU       = " cores cpu cpulimit cpuunits numa sockets vcpus "
	qemuMemory    = " balloon memory shares "
	qemuHardware  = " acpi hotplug kvm machine scsihw tablet vga "
	qemuGeneral   = " agent autostart bios description keyboard localtime name onboot ostype protection reboot startdate startup tags "
	qemuBoot      = " boot bootdisk "
	qemuCloudInit = " cicustom citype ciupgrade ciuser nameserver searchdomain sshkeys "
	qemuNetwork   = " ipconfig "

	// The options of a guest's firewall, and of an alias in it.
	firewallNames = " dhcp enable ipfilter log_level_in log_level_out macfilter ndp policy_in policy_out radv "
	aliasNames    = " cidr comment "

	lxcCPU     = " cores cpulimit cpuunits "
	lxcMemory  = " memory swap "
	lxcNetwork = " hostname nameserver searchdomain "
	lxcGeneral = " cmode console description onboot protection startup tags timezone tty "

	// The parts of devices that are put back: a network device, and a disk of a machine.
	qemuDevice = " bridge firewall link_down mtu queues rate tag trunks "
	lxcDevice  = " bridge firewall gw gw6 ip ip6 link_down mtu rate tag "
	diskPart   = " aio backup cache discard iothread replicate ssd "
)

// waitingOptions are those that a running machine never takes without a restart, as observed with Proxmox VE 9.2.
const waitingOptions = " acpi agent bios boot cores cpu hotplug kvm machine memory numa ostype scsihw sockets vga "

// laterDisks are the disks that a running machine does not get without a restart.
const laterDisks = " ide sata "

// nextStartOptions are those that cloud-init reads when the machine starts.
const nextStartOptions = qemuCloudInit + qemuNetwork

// privilegeOf returns the privilege that setting an option, or a part of it, requires, "" if that is not known; or why
// driftd does not put it back.
func privilegeOf(g *resource, option, part string) (privilege, why string) {
	name := strings.TrimRight(option, "0123456789")
	if isGuest(g.kind) {
		if privilege, known := devicePrivilege(g.kind, name, part); known {
			if privilege == "" {
				return "", neverDevice(name, part)
			}
			return privilege, ""
		}
	}
	for _, o := range optionsOf(g) {
		if strings.Contains(o.names, " "+option+" ") {
			return o.privilege, ""
		}
	}
	if part == sizePart && g.kind == normalize.LXC {
		return "", "driftd makes only disks of virtual machines larger"
	}
	return "", never(g.kind, name)
}

type optionList struct{ names, privilege string }

func optionsOf(g *resource) []optionList {
	switch g.kind {
	default:
		return []optionList{{g.options, g.privilege}}
	case normalize.LXC:
		return []optionList{{lxcCPU, "VM.Config.CPU"}, {lxcMemory, "VM.Config.Memory"}, {lxcNetwork, "VM.Config.Network"}, {lxcGeneral, "VM.Config.Options"}}
	case normalize.QEMU:
	}
	return []optionList{{qemuCPU, "VM.Config.CPU"}, {qemuMemory, "VM.Config.Memory"}, {qemuHardware, "VM.Config.HWType"},
		{qemuGeneral, "VM.Config.Options"}, {qemuBoot, diskPrivilege}, {qemuCloudInit, "VM.Config.Cloudinit"}}
}

// devicePrivilege returns the privilege of a numbered option; "" if the part of it is not put back. known is false if the
// option is none of a device.
func devicePrivilege(kind, name, part string) (privilege string, known bool) {
	has := func(parts string) bool { return part != "" && strings.Contains(parts, " "+part+" ") }
	switch {
	case name == "ipconfig",
		name == "net" && kind == normalize.LXC && has(lxcDevice),
		name == "net" && kind != normalize.LXC && has(qemuDevice):
		return "VM.Config.Network", true
	case isDisk(name) && has(diskPart):
		return diskPrivilege, true
	}
	return "", name == "net" || isDisk(name)
}

// diskPrivilege is the privilege that changing a disk requires.
const diskPrivilege = "VM.Config.Disk"

func isDisk(name string) bool {
	return slices.Contains([]string{"scsi", "virtio", "sata", "ide"}, name)
}

// neverDevice returns why a part of a device is not put back.
func neverDevice(name, part string) string {
	switch {
	case part == "" && name == "net":
		return "driftd neither adds nor removes network devices"
	case part == "":
		return "driftd detaches no disk, and attaches only what the guest had before: a volume can be lost"
	case name == "net":
		return "it needs a stop of the guest, and another address may lock it out of the network"
	}
	return "it decides which volume the guest has"
}

// never returns why an option is not put back.
func never(kind, name string) string {
	if !isGuest(kind) {
		return "driftd does not put it back"
	}
	switch name {
	case "template":
		return "the disks of a template are base images, and removing the flag does not undo that"
	case "node":
		return "moving a guest is a migration"
	case "pool":
		return "the pool decides who may manage the guest"
	case "rootfs", "mp", "unused", "efidisk", "tpmstate", "virtiofs":
		return "it decides which volumes the guest has"
	case "status":
		return "driftd neither starts nor stops guests"
	case "args", "hookscript", "lxc", "hostpci", "usb", "serial", "parallel", "dev":
		return "it gives the guest access to the node"
	}
	return "driftd does not know how it is written: see qm.conf(5) and pct.conf(5)"
}

// has reports whether an option is set.
func (g *resource) has(option string) bool {
	_, set := g.text(option)
	return set
}

// later returns which of some options take effect only when the machine starts again, in words; "" if none does.
func later(g *resource, options []string) string {
	if !g.runs || g.kind != normalize.QEMU {
		return ""
	}
	var list []string
	for _, option := range options {
		name := " " + strings.TrimRight(option, "0123456789") + " "
		switch {
		case strings.Contains(waitingOptions, name), strings.Contains(laterDisks, name) && !g.has(option):
			list = append(list, option)
		case strings.Contains(nextStartOptions, name):
			list = append(list, option+" (cloud-init)")
		}
	}
	return strings.Join(list, ", ")
}
