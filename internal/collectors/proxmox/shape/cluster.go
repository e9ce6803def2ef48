package shape

// clusterOptions are the keys of datacenter.cfg. allowed-tags follows the
// guests.
func clusterOptions() fields {
	transport := fields{"type": word("secure"), "network": text()}
	return fields{
		"description": note(), "console": text(), "keyboard": text(), "language": text(), "email_from": text(),
		"http_proxy": address(), "mac_prefix": word("BC:24:11"), "max_workers": number(), "consent-text": note(),
		"fencing": word("watchdog"), "ha": props("", fields{"shutdown_policy": word("conditional")}),
		"crs": props("ha", fields{
			"ha": word("basic"), "ha-rebalance-on-start": off(), "ha-auto-rebalance": off(), "ha-auto-rebalance-threshold": number(),
			"ha-auto-rebalance-hold-duration": number(), "ha-auto-rebalance-margin": number(), "ha-auto-rebalance-method": text(),
		}),
		"migration": props("type", transport), "replication": props("type", transport), "migration_unsecure": off(),
		"bwlimit": bandwidth(), "next-id": props("", fields{"lower": count(100), "upper": count(1000000)}),
		"notify": props("", fields{}), "u2f": props("", fields{}), "webauthn": props("", fields{"allow-subdomains": on()}),
		"registered-tags": set(), "allowed-tags": drop(),
		"tag-style": props("", fields{
			"case-sensitive": off(), "color-map": set(), "ordering": word("alphabetical"), "shape": word("circle"),
		}),
		"user-tag-access": props("", fields{"user-allow": word("free"), "user-allow-list": set()}),
	}
}

func backupJob() fields {
	return fields{
		"id": text(), "type": drop(), "enabled": on(), "comment": note(), "schedule": text(), "starttime": text(), "dow": set(),
		"repeat-missed": off(), "all": off(), "vmid": set(), "pool": text(), "exclude": set(), "exclude-path": set(),
		"node": text(), "storage": text(), "dumpdir": text(), "tmpdir": text(), "script": text(), "mode": word("snapshot"),
		"compress": synonym("0", "1", "lzo"), "pigz": count(0), "zstd": count(1), "bwlimit": count(0), "ionice": count(7),
		"lockwait": count(180), "stopwait": count(10), "stdexcludes": on(), "quiet": off(), "remove": on(), "protected": off(),
		"prune-backups": retention(), "maxfiles": number(), "notes-template": text(), "mailto": set(),
		"mailnotification": word("always"), "notification-mode": word("auto"), "notification-policy": text(),
		"notification-target": text(), "pbs-change-detection-mode": text(),
		"fleecing":    props("enabled", fields{"enabled": off(), "storage": text()}),
		"performance": props("", fields{"max-workers": count(16), "pbs-entries-max": number()}),
		"next-run":    drop(), "job-id": drop(),
	}
}

func metricsServer() fields {
	return fields{
		"id": text(), "type": text(), "server": text(), "port": number(), "disable": off(), "mtu": count(1500), "timeout": count(1),
		"path": word("proxmox"), "proto": word("udp"),
		"influxdbproto": word("udp"), "bucket": word("proxmox"), "organization": word("proxmox"), "token": secret(),
		"api-path-prefix": text(), "max-body-size": count(25000000), "verify-certificate": on(),
		"otel-protocol": word("https"), "otel-path": word("/v1/metrics"), "otel-timeout": count(5), "otel-verify-ssl": on(),
		"otel-headers": secret(), "otel-resource-attributes": text(), "otel-compression": word("gzip"),
		"otel-max-body-size": count(10000000),
	}
}

func replicationJob() fields {
	f := fields{
		"id": text(), "type": word("local"), "guest": number(), "jobnum": number(), "source": text(), "target": text(),
		"schedule": word("*/15"), "rate": number(), "disable": off(), "comment": note(), "remove_job": text(), "vmtype": drop(),
	}
	for _, counter := range []string{"last_sync", "last_try", "next_sync", "fail_count", "duration", "error", "pid"} {
		f[counter] = drop()
	}
	return f
}

func haResource() fields {
	return fields{
		"sid": text(), "type": text(), "state": synonym("started", "enabled", "started"), "group": text(), "max_relocate": count(1), "max_restart": count(1),
		"failback": on(), "auto-rebalance": on(), "comment": note(),
	}
}

// haRule leaves out where the rule stands in its file.
func haRule() fields {
	return fields{
		"rule": text(), "type": text(), "resources": set(), "nodes": priorities(), "affinity": text(), "strict": off(),
		"disable": off(), "comment": note(), "order": drop(), "errors": drop(),
	}
}

func haGroup() fields {
	return fields{
		"group": text(), "type": drop(), "nodes": priorities(), "nofailback": off(), "restricted": off(), "comment": note(),
	}
}

// mapping are the keys of a resource mapping; the named ones tell its rows
// apart.
func mapping(names ...string) fields {
	return fields{
		"id": text(), "type": drop(), "description": note(), "mdev": off(), "live-migration-capable": off(),
		"checks": drop(), "errors": drop(), "error": drop(),
		"map": rows(props("", fields{
			"node": text(), "path": text(), "id": text(), "iommugroup": number(), "subsystem-id": text(), "description": note(),
			"mdev": flag(),
		}), names...),
	}
}

func acmeAccount() fields {
	return fields{
		"name": text(), "directory": text(), "location": text(), "tos": text(), "account": props("", fields{"contact": set(), "createdAt": drop()}),
	}
}

func acmePlugin() fields {
	return fields{
		"plugin": text(), "type": text(), "api": text(), "data": secret(), "nodes": set(), "disable": off(), "validation-delay": count(30),
	}
}

// notification are the keys of targets and matchers. The API keeps most
// secrets to itself; those of webhooks are named.
func notification() fields {
	return fields{
		"name": text(), "type": text(), "comment": note(), "disable": off(), "origin": text(), "author": text(),
		"mailto": set(), "mailto-user": set(), "from-address": text(), "server": text(), "port": number(), "mode": text(),
		"username": text(), "password": masked(), "token": masked(), "url": address(), "method": text(),
		"header": setOf(secret()), "body": text(), "secret": setOf(secret()), "target": set(), "mode-all": text(), "invert-match": off(),
		"match-field": set(), "match-severity": set(), "match-calendar": set(),
	}
}
