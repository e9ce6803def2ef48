package normalize

import (
	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// storage returns the keys of all types of storages (storage.cfg).
func storage() table.Fields {
	return table.Join(
		text().Of("storage type path format server server2 export options share subdir domain username fingerprint datastore namespace encryption-key master-pubkey vgname thinpool base saferemove_throughput pool blocksize mountpoint target portal iscsiprovider comstar_hg comstar_tg lio_tpg fs-name data-pool authsupported volume transport controller"),
		set().Of("content nodes monhost"),
		off().Of("disable shared nocow snapshot-as-volume-chain skip-cert-verification saferemove tagged_only sparse nowritecache krbd fuse"),
		on().Of("mkdir create-base-path create-subdirs"), mountpoint().Of("is_mountpoint"), props("", nil).Of("content-dirs"),
		word("metadata").Of("preallocation"), number().Content().Of("max-protected-backups"), number().Of("maxfiles port redundancy"),
		retention().Of("prune-backups"), bandwidth().Of("bwlimit"), word("default").Of("smbversion"), masked().Of("password"),
		count(32).Of("saferemove-stepsize"), text().Derived().Of("zfs-base-path"), secret().Of("keyring"))
}

// mountpoint is a boolean ("yes" if the path is mounted externally), or the path of the mount
// point.
func mountpoint() table.Form {
	return table.Text(func(s string) string {
		set, ok := table.ParseBoolean(s)
		switch {
		case !ok:
			return s
		case set:
			return "yes"
		}
		return "no"
	}).Or(model.StringOf("no"))
}

// retention is the number of backups to keep. keep-all is the same as no entry.
func retention() table.Form {
	n := number()
	return props("", table.Join(flag().Of("keep-all"), n.Of("keep-last keep-hourly keep-daily keep-weekly keep-monthly keep-yearly")))
}

func bandwidth() table.Form {
	n := number()
	return props("default", n.Of("clone default migration move restore"))
}
