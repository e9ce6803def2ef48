package shape

// common are the keys that virtual machines and containers share. The last
// five are not in their configuration: the collector adds them.
func common() fields {
	return fields{
		"description": note(), "tags": set().low(), "onboot": off(), "protection": off(), "template": off(),
		"cores": number(), "cpulimit": count(0), "cpuunits": count(100), "startup": startup(),
		"nameserver": sequence(), "searchdomain": text(),
		"hookscript": text().high("runs on the node"),

		"lock": drop(), "meta": drop(), "parent": drop(), "snapstate": drop(), "snaptime": drop(),
		"vmstate": drop(), "runningmachine": drop(), "runningcpu": drop(), "running-nets-host-mtu": drop(),

		"node": located(), "pool": text(), "status": text().generated(),
		"agent_addresses": set().volatile(), foreignVolumes: set().volatile(),
	}
}

// located is where a resource lies.
func located() form {
	f := text()
	f.schema.Location = true
	return f
}

// qemu are the keys of a virtual machine's configuration (qm.conf, PVE 7.4 to
// 9.2).
func qemu() fields {
	return common().and(processor()).and(drives()).and(hardware()).and(cloudInit()).and(fields{
		"name": text().low(), "ostype": word("other"), "args": text().high("runs on the node"),
		"autostart": off(), "reboot": on(), "freeze": off(), "localtime": flag(), "startdate": word("now"),
		"migrate_downtime": number(), "migrate_speed": count(0), "vmstatestorage": text(), "vmgenid": drop(),
		"boot": bootOrder().derived(), "bootdisk": text(), "hotplug": synonym("network,disk,usb", "1", "network,disk,usb"), "acpi": on(), "bios": word("seabios"),
	})
}

func processor() fields {
	return fields{
		"sockets": count(1), "cores": count(1), "smp": count(1), "vcpus": count(0), "numa": off(), "kvm": on(),
		"affinity": text(), "arch": text(), "tdf": off(),
		"cpu": props("cputype", fields{
			"cputype": word("kvm64"), "flags": set(), "hidden": off(), "hv-vendor-id": text(), "phys-bits": text(),
			"guest-phys-bits": number(), "reported-model": word("kvm64"),
		}),
		"numa#": props("", fields{"cpus": text(), "hostnodes": text(), "memory": number(), "policy": text()}).upTo(8),
		"amd-sev": props("type", fields{
			"type": text(), "allow-smt": on(), "kernel-hashes": off(), "no-debug": off(), "no-key-sharing": off(),
		}),
		"intel-tdx": props("type", fields{"type": text(), "attestation": on(), "vsock-cid": number(), "vsock-port": number()}),

		"memory": single("current", count(512)), "balloon": number().content(), "shares": count(1000),
		"hugepages": text(), "keephugepages": off(), "allow-ksm": on(),
	}
}

func drives() fields {
	return fields{
		"ide#": disk(drive()).upTo(4), "sata#": disk(drive()).upTo(6), "scsi#": disk(drive()).upTo(31),
		"virtio#": disk(drive()).upTo(16), "unused#": disk(fields{}).upTo(256),
		"efidisk0":  disk(fields{"efitype": word("2m"), "pre-enrolled-keys": off(), "ms-cert": word("2011")}),
		"tpmstate0": disk(fields{"version": word("v1.2")}),
		"scsihw":    word("lsi"),
		"virtiofs#": props("dirid", fields{
			"dirid": text(), "cache": word("auto"), "direct-io": off(), "expose-acl": off(), "expose-xattr": off(),
		}).upTo(10),
	}
}

func hardware() fields {
	return fields{
		"net#": nic().upTo(32), "serial#": text().upTo(4), "parallel#": text().upTo(3), "tablet": on(),
		"keyboard": text(), "smbios1": smbios(),
		"agent": properties("enabled", fields{
			"enabled": off(), "fstrim_cloned_disks": off(), "type": word("virtio"), "freeze-fs": on(),
		}, renamed("freeze-fs-on-backup", "freeze-fs")),
		"machine": props("type", fields{
			"type": text(), "viommu": text(), "aw-bits": number(), "enable-s3": flag(), "enable-s4": flag(),
		}),
		"vga": props("type", fields{"type": word("std"), "memory": number(), "clipboard": text()}),
		"hostpci#": props("host", fields{
			"host": text(), "mapping": text(), "mdev": text(), "pcie": off(), "rombar": on(), "romfile": text(),
			"x-vga": off(), "legacy-igd": off(), "driver": word("vfio"), "device-id": text(), "vendor-id": text(),
			"sub-device-id": text(), "sub-vendor-id": text(),
		}).upTo(16),
		"usb#":     props("host", fields{"host": text(), "mapping": text(), "usb3": off()}).upTo(14),
		"audio0":   props("device", fields{"device": text(), "driver": word("spice")}),
		"rng0":     props("source", fields{"source": text(), "max_bytes": count(1024), "period": count(1000)}),
		"watchdog": props("model", fields{"model": word("i6300esb"), "action": text()}),
		"ivshmem":  props("", fields{"size": number(), "name": text()}),
		"spice_enhancements": props("", fields{
			"foldersharing": off(), "videostreaming": word("off"),
		}),
	}
}

func cloudInit() fields {
	const why = "decides who may log in"
	return fields{
		"ciuser": text().high(why), "sshkeys": lines().high(why), "cipassword": masked(), "ciupgrade": on(), "citype": text(),
		"cicustom":  props("", fields{"meta": text(), "network": text(), "user": text(), "vendor": text()}),
		"ipconfig#": props("", fields{"ip": text(), "gw": text(), "ip6": text(), "gw6": text()}).upTo(32),
	}
}

// lxc are the keys of a container's configuration (pct.conf, PVE 7.4 to 9.2).
func lxc() fields {
	const why = "decides what the container may do on the node"
	return common().and(fields{
		"hostname": text().low(), "ostype": text(), "arch": word("amd64"), "timezone": text(),
		"memory": count(512), "swap": count(512),
		"rootfs": disk(mount()), "mp#": disk(mount()).upTo(256), "unused#": disk(fields{}).upTo(256), "net#": veth().upTo(32),
		"dev#": props("path", fields{
			"path": text(), "deny-write": off(), "gid": number(), "mode": text(), "uid": number(),
		}).upTo(256).high(why),
		"features": props("", fields{
			"force_rw_sys": off(), "fuse": off(), "keyctl": off(), "mknod": off(), "mount": set(), "nesting": off(),
		}).high(why),
		"unprivileged": off().high(why), "lxc": rawLines().high(why),
		"cmode": word("tty"), "console": on(), "tty": count(2), "debug": off(), "entrypoint": word("/sbin/init"), "env": environment(),
	})
}
