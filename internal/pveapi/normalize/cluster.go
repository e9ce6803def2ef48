package normalize

import "github.com/driftd/driftd/internal/collectors/table"

// clusterOptions returns the keys of datacenter.cfg. It drops allowed-tags, which is computed
// from the tags of the guests.
func clusterOptions() table.Fields {
	transport := table.Join(word("secure").Of("type"), text().Of("network"))
	return table.Join(
		note().Of("description consent-text"), text().Of("console keyboard language email_from"), address().Of("http_proxy"),
		word("BC:24:11").Of("mac_prefix"), number().Of("max_workers"), word("watchdog").Of("fencing"),
		props("", word("conditional").Of("shutdown_policy")).Of("ha"),
		props("ha", table.Join(
			word("basic").Of("ha"), off().Of("ha-rebalance-on-start ha-auto-rebalance"),
			number().Of("ha-auto-rebalance-threshold ha-auto-rebalance-hold-duration ha-auto-rebalance-margin"),
			text().Of("ha-auto-rebalance-method"))).Of("crs"),
		props("type", transport).Of("migration replication"), off().Of("migration_unsecure"), bandwidth().Of("bwlimit"),
		props("", table.Join(count(100).Of("lower"), count(1000000).Of("upper"))).Of("next-id"), props("", nil).Of("notify u2f"),
		props("", on().Of("allow-subdomains")).Of("webauthn"), set().Of("registered-tags"), drop().Of("allowed-tags"),
		props("", table.Join(off().Of("case-sensitive"), set().Of("color-map"), word("alphabetical").Of("ordering"), word("circle").Of("shape"))).Of("tag-style"),
		props("", table.Join(word("free").Of("user-allow"), set().Of("user-allow-list"))).Of("user-tag-access"))
}

func backupJob() table.Fields {
	return table.Join(
		text().Of("id schedule starttime pool node storage dumpdir tmpdir script notes-template notification-policy notification-target pbs-change-detection-mode"),
		drop().Of("type next-run job-id"), on().Of("enabled stdexcludes remove"), note().Of("comment"),
		set().Of("dow vmid exclude exclude-path mailto"), off().Of("repeat-missed all quiet protected"), word("snapshot").Of("mode"),
		synonym("0", "1", "lzo").Of("compress"), count(0).Of("pigz bwlimit"), count(1).Of("zstd"), count(7).Of("ionice"),
		count(180).Of("lockwait"), count(10).Of("stopwait"), retention().Of("prune-backups"), number().Of("maxfiles"),
		word("always").Of("mailnotification"), word("auto").Of("notification-mode"),
		props("enabled", table.Join(off().Of("enabled"), text().Of("storage"))).Of("fleecing"),
		props("", table.Join(count(16).Of("max-workers"), number().Of("pbs-entries-max"))).Of("performance"))
}

func metricsServer() table.Fields {
	return table.Join(
		text().Of("id type server api-path-prefix otel-resource-attributes"), number().Of("port"), off().Of("disable"),
		count(1500).Of("mtu"), count(1).Of("timeout"), word("proxmox").Of("path bucket organization"), word("udp").Of("proto influxdbproto"),
		secret().Of("token otel-headers"), count(25000000).Of("max-body-size"), on().Of("verify-certificate otel-verify-ssl"),
		word("https").Of("otel-protocol"), word("/v1/metrics").Of("otel-path"), count(5).Of("otel-timeout"),
		word("gzip").Of("otel-compression"), count(10000000).Of("otel-max-body-size"))
}

func replicationJob() table.Fields {
	return table.Join(
		text().Of("id source target remove_job"), word("local").Of("type"), number().Of("guest jobnum rate"), word("*/15").Of("schedule"),
		off().Of("disable"), note().Of("comment"), drop().Of("vmtype"),
		drop().Of("last_sync last_try next_sync fail_count duration error pid"))
}

func haResource() table.Fields {
	return table.Join(
		text().Of("sid type group"), synonym("started", "enabled", "started").Of("state"), count(1).Of("max_relocate max_restart"),
		on().Of("failback auto-rebalance"), note().Of("comment"))
}

// haRule drops order, the position of the rule in its file.
func haRule() table.Fields {
	return table.Join(
		text().Of("rule type affinity"), set().Of("resources"), priorities().Of("nodes"), off().Of("strict disable"), note().Of("comment"),
		drop().Of("order errors"))
}

func haGroup() table.Fields {
	return table.Join(text().Of("group"), drop().Of("type"), priorities().Of("nodes"), off().Of("nofailback restricted"), note().Of("comment"))
}

// mapping returns the keys of a resource mapping. The named keys identify its rows.
func mapping(names ...string) table.Fields {
	return table.Join(
		text().Of("id"), drop().Of("type checks errors error"), note().Of("description"), off().Of("mdev live-migration-capable"),
		rows(props("", table.Join(text().Of("node path id subsystem-id"), number().Of("iommugroup"), note().Of("description"), flag().Of("mdev"))), names...).Of("map"))
}

func acmeAccount() table.Fields {
	return table.Join(text().Of("name directory location tos"), props("", table.Join(set().Of("contact"), drop().Of("createdAt"))).Of("account"))
}

func acmePlugin() table.Fields {
	return table.Join(text().Of("plugin type api"), secret().Of("data"), set().Of("nodes"), off().Of("disable"), count(30).Of("validation-delay"))
}

// notification returns the keys of targets and matchers. The API omits most secrets; webhooks
// have named secrets.
func notification() table.Fields {
	return table.Join(
		text().Of("name type origin author from-address server mode username method body mode-all"), note().Of("comment"),
		off().Of("disable invert-match"), set().Of("mailto mailto-user target match-field match-severity match-calendar"),
		number().Of("port"), masked().Of("password token"), address().Of("url"), setOf(secret()).Of("header secret"))
}
