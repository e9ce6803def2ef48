package box

import "os"

// networkEnv returns the environment of a box with a network: what git needs to sign
// in as driftd would. git takes no repository of the disk.
func networkEnv(temp string) []string {
	env := []string{"TMPDIR=" + temp, "GIT_ALLOW_PROTOCOL=https:http:ssh:git", "GIT_TERMINAL_PROMPT=0", "LANG=C.UTF-8"}
	for _, name := range []string{"PATH", "HOME", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
		"http_proxy", "https_proxy", "no_proxy", "GIT_SSL_CAINFO"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}
