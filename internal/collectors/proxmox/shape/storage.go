package shape

// storage are the keys of all types of storages (storage.cfg).
func storage() fields {
	return fields{
		"storage": text(), "type": text(), "content": set(), "nodes": set(), "disable": off(), "shared": off(),
		"path": text(), "mkdir": on(), "create-base-path": on(), "create-subdirs": on(), "is_mountpoint": mountpoint(),
		"content-dirs": props("", fields{}), "format": text(), "preallocation": word("metadata"), "nocow": off(),
		"snapshot-as-volume-chain": off(), "max-protected-backups": number().content(), "maxfiles": number(),
		"prune-backups": retention(), "bwlimit": bandwidth(),

		"server": text(), "server2": text(), "export": text(), "options": text(), "share": text(), "subdir": text(),
		"domain": text(), "username": text(), "smbversion": word("default"), "password": masked(), "port": number(),
		"fingerprint": text(), "datastore": text(), "namespace": text(), "encryption-key": text(), "master-pubkey": text(),
		"skip-cert-verification": off(),

		"vgname": text(), "thinpool": text(), "base": text(), "saferemove": off(), "saferemove_throughput": text(),
		"saferemove-stepsize": count(32), "tagged_only": off(), "pool": text(), "blocksize": text(), "sparse": off(),
		"mountpoint": text(), "zfs-base-path": text().derived(), "target": text(), "portal": text(), "iscsiprovider": text(),
		"comstar_hg": text(), "comstar_tg": text(), "lio_tpg": text(), "nowritecache": off(),

		"monhost": set(), "krbd": off(), "fs-name": text(), "fuse": off(), "data-pool": text(), "keyring": secret(),
		"authsupported": text(), "volume": text(), "transport": text(), "redundancy": number(), "controller": text(),
	}
}

// mountpoint is whether the path is mounted by others, or the path that is.
func mountpoint() form {
	return rewritten(word("no"), func(s string) string {
		set, ok := parseFlag(s)
		switch {
		case !ok:
			return s
		case set:
			return "yes"
		}
		return "no"
	})
}

// retention is how many backups are kept. keep-all is what no entry means.
func retention() form {
	n := number()
	return props("", fields{
		"keep-all": flag(), "keep-last": n, "keep-hourly": n, "keep-daily": n, "keep-weekly": n, "keep-monthly": n, "keep-yearly": n,
	})
}

func bandwidth() form {
	n := number()
	return props("default", fields{"clone": n, "default": n, "migration": n, "move": n, "restore": n})
}
