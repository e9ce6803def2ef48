package normalize

import "github.com/driftd/driftd/internal/collectors/table"

// common returns the keys that virtual machines and containers share. The collector adds the
// fields pool, node, status, agent_addresses and foreign_volumes, which are not in the
// configuration.
func common() table.Fields {
	return table.Join(
		note().Of("description"), set().Low().Of("tags"), off().Of("onboot protection template"), number().Of("cores"),
		count(0).Of("cpulimit"), count(100).Of("cpuunits"), startup().Of("startup"), sequence().Of("nameserver"),
		text().Of("searchdomain pool"), text().High("runs on the node").Of("hookscript"),
		drop().Of("lock meta parent snapstate snaptime vmstate runningmachine runningcpu running-nets-host-mtu"), location().Of("node"),
		text().Generated().Of("status"), set().Volatile().Of("agent_addresses"), set().Volatile().Of(foreignVolumes))
}

// location is the place of a resource.
func location() table.Form {
	f := text()
	f.Schema.Location = true
	return f
}

// qemu returns the keys of a virtual machine's configuration (qm.conf, PVE 7.4 to 9.2).
func qemu() table.Fields {
	return table.Join(common(), processor(), drives(), hardware(), cloudInit(),
		text().Low().Of("name"), word("other").Of("ostype"), text().High("runs on the node").Of("args"), off().Of("autostart freeze"),
		on().Of("reboot acpi"), flag().Of("localtime"), word("now").Of("startdate"), number().Of("migrate_downtime"),
		count(0).Of("migrate_speed"), text().Of("vmstatestorage bootdisk"), drop().Of("vmgenid"), bootOrder().Derived().Of("boot"),
		synonym("network,disk,usb", "1", "network,disk,usb").Of("hotplug"), word("seabios").Of("bios"))
}

func processor() table.Fields {
	return table.Join(
		count(1).Of("sockets cores smp"), count(0).Of("vcpus"), off().Of("numa tdf keephugepages"), on().Of("kvm allow-ksm"),
		text().Of("affinity arch hugepages"),
		props("cputype", table.Join(
			word("kvm64").Of("cputype reported-model"), set().Of("flags"), off().Of("hidden"), text().Of("hv-vendor-id phys-bits"),
			number().Of("guest-phys-bits"))).Of("cpu"),
		props("", table.Join(text().Of("cpus hostnodes policy"), number().Of("memory"))).UpTo(8).Of("numa#"),
		props("type", table.Join(text().Of("type"), on().Of("allow-smt"), off().Of("kernel-hashes no-debug no-key-sharing"))).Of("amd-sev"),
		props("type", table.Join(text().Of("type"), on().Of("attestation"), number().Of("vsock-cid vsock-port"))).Of("intel-tdx"),
		single("current", count(512)).Of("memory"), number().Content().Of("balloon"), count(1000).Of("shares"))
}

func drives() table.Fields {
	return table.Join(
		disk(drive()).UpTo(4).Of("ide#"), disk(drive()).UpTo(6).Of("sata#"), disk(drive()).UpTo(31).Of("scsi#"),
		disk(drive()).UpTo(16).Of("virtio#"), disk(nil).UpTo(256).Of("unused#"),
		disk(table.Join(word("2m").Of("efitype"), off().Of("pre-enrolled-keys"), word("2011").Of("ms-cert"))).Of("efidisk0"),
		disk(word("v1.2").Of("version")).Of("tpmstate0"), word("lsi").Of("scsihw"),
		props("dirid", table.Join(text().Of("dirid"), word("auto").Of("cache"), off().Of("direct-io expose-acl expose-xattr"))).UpTo(10).Of("virtiofs#"))
}

func hardware() table.Fields {
	return table.Join(
		nic().UpTo(32).Of("net#"), text().UpTo(4).Of("serial#"), text().UpTo(3).Of("parallel#"), on().Of("tablet"), text().Of("keyboard"),
		smbios().Of("smbios1"),
		properties("enabled", table.Join(off().Of("enabled fstrim_cloned_disks"), word("virtio").Of("type"), on().Of("freeze-fs")), renamed("freeze-fs-on-backup", "freeze-fs")).Of("agent"),
		props("type", table.Join(text().Of("type viommu"), number().Of("aw-bits"), flag().Of("enable-s3 enable-s4"))).Of("machine"),
		props("type", table.Join(word("std").Of("type"), number().Of("memory"), text().Of("clipboard"))).Of("vga"),
		props("host", table.Join(
			text().Of("host mapping mdev romfile device-id vendor-id sub-device-id sub-vendor-id"), off().Of("pcie x-vga legacy-igd"),
			on().Of("rombar"), word("vfio").Of("driver"))).UpTo(16).Of("hostpci#"),
		props("host", table.Join(text().Of("host mapping"), off().Of("usb3"))).UpTo(14).Of("usb#"),
		props("device", table.Join(text().Of("device"), word("spice").Of("driver"))).Of("audio0"),
		props("source", table.Join(text().Of("source"), count(1024).Of("max_bytes"), count(1000).Of("period"))).Of("rng0"),
		props("model", table.Join(word("i6300esb").Of("model"), text().Of("action"))).Of("watchdog"),
		props("", table.Join(number().Of("size"), text().Of("name"))).Of("ivshmem"),
		props("", table.Join(off().Of("foldersharing"), word("off").Of("videostreaming"))).Of("spice_enhancements"))
}

func cloudInit() table.Fields {
	const why = "decides who may log in"
	return table.Join(
		text().High(why).Of("ciuser"), lines().High(why).Of("sshkeys"), masked().Of("cipassword"), on().Of("ciupgrade"), text().Of("citype"),
		props("", text().Of("meta network user vendor")).Of("cicustom"), props("", text().Of("ip gw ip6 gw6")).UpTo(32).Of("ipconfig#"))
}

// lxc returns the keys of a container's configuration (pct.conf, PVE 7.4 to 9.2).
func lxc() table.Fields {
	const why = "decides what the container may do on the node"
	return table.Join(common(),
		text().Low().Of("hostname"), text().Of("ostype timezone"), word("amd64").Of("arch"), count(512).Of("memory swap"),
		disk(mount()).Of("rootfs"), disk(mount()).UpTo(256).Of("mp#"), disk(nil).UpTo(256).Of("unused#"), veth().UpTo(32).Of("net#"),
		props("path", table.Join(text().Of("path mode"), off().Of("deny-write"), number().Of("gid uid"))).UpTo(256).High(why).Of("dev#"),
		props("", table.Join(off().Of("force_rw_sys fuse keyctl mknod nesting"), set().Of("mount"))).High(why).Of("features"),
		off().High(why).Of("unprivileged"), rawLines().High(why).Of("lxc"), word("tty").Of("cmode"), on().Of("console"), count(2).Of("tty"),
		off().Of("debug"), word("/sbin/init").Of("entrypoint"), environment().Of("env"))
}
