package launch

// Readable returns the files and folders of the system that a sealed program may read.
func Readable() []string { return append(SystemFolders(), SystemFiles()...) }

// SystemFolders returns the folders of the system that programs read: those of programs, libraries,
// certificates and the resolver. Folders that also have private keys, such as /etc/ssl and /etc/ssh,
// are not among them: driftd may run as root.
func SystemFolders() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/ssl/certs", "/etc/pki/ca-trust",
		"/etc/pki/tls/certs", "/etc/ca-certificates", "/var/lib/ca-certificates", "/etc/alternatives", "/etc/ssh/ssh_config.d", "/etc/ld.so.conf.d", "/run/systemd/resolve",
		"/sys/kernel/mm/transparent_hugepage"}
}

// SystemFiles returns the files that programs read in addition to SystemFolders.
func SystemFiles() []string {
	return []string{"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/passwd", "/etc/group",
		"/etc/services", "/etc/protocols", "/etc/localtime", "/etc/gitconfig", "/etc/ld.so.cache", "/etc/ld.so.conf",
		"/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/cert.pem", "/etc/pki/tls/cacert.pem", "/etc/pki/tls/openssl.cnf",
		"/etc/ssh/ssh_config", "/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"}
}
