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
