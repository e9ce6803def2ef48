package box

import "os"

// networkEnv returns the environment of a box with a network: what git needs to
// authenticate as driftd does. git reads no repository of the disk, runs no hook, and
// starts no background process.
func networkEnv(temp string) []string {
	env := []string{"TMPDIR=" + temp, "GIT_ALLOW_PROTOCOL=https:http:ssh:git", "GIT_TERMINAL_PROMPT=0", "LANG=C.UTF-8",
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/dev/null", "GIT_CONFIG_KEY_1=gc.auto", "GIT_CONFIG_VALUE_1=0",
		"GIT_CONFIG_KEY_2=maintenance.auto", "GIT_CONFIG_VALUE_2=false"}
	for _, name := range []string{"PATH", "HOME", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
		"http_proxy", "https_proxy", "no_proxy", "GIT_SSL_CAINFO"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// systemFolders are what programs read of the system: programs, libraries, certificates,
// how names are resolved. Folders that also have private keys, such as /etc/ssl and /etc/ssh, are
// not among them: driftd may run as root.
func systemFolders() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/ssl/certs", "/etc/pki/ca-trust",
		"/etc/pki/tls/certs", "/etc/ca-certificates", "/var/lib/ca-certificates", "/etc/alternatives", "/etc/ssh/ssh_config.d", "/etc/ld.so.conf.d", "/run/systemd/resolve",
		"/sys/kernel/mm/transparent_hugepage"}
}

// systemFiles are the files in addition to systemFolders.
func systemFiles() []string {
	return []string{"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/passwd", "/etc/group",
		"/etc/services", "/etc/protocols", "/etc/localtime", "/etc/gitconfig", "/etc/ld.so.cache", "/etc/ld.so.conf",
		"/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/cert.pem", "/etc/pki/tls/cacert.pem", "/etc/pki/tls/openssl.cnf",
		"/etc/ssh/ssh_config", "/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"}
}
