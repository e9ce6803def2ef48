//go:build e2e

package systemd

import (
	"strings"
	"testing"
)

// planScript replaces terraform. Its plan tries the actions of a malicious provider, and fails
// with a list of those that succeeded.
const planScript = `#!/bin/sh
[ "$1" = version ] && echo '{"terraform_version":"1.11.4"}'
[ "$1" = plan ] || exit 0
main=$(cat /srv/infra/main)
{
  for f in /etc/driftd/driftd.yaml /var/lib/driftd/driftd.db /var/lib/driftd/secret.key /run/credentials/driftd.service/driftd_netbox-token \
    /proc/$main/environ; do
    cat $f >/dev/null 2>&1 && echo "reads $f"
  done
  kill -0 $main 2>/dev/null && echo "signals driftd"
  echo "state_dir: /var/lib/driftd" >own.yaml
  driftd status --config own.yaml 2>&1 | grep -q "this user may not use the socket" || echo "reaches the socket"
  cat /srv/infra/main >/dev/null || echo "reads no file that is named"
} >out 2>&1
setsid sleep 424242 >/dev/null 2>&1 &
printf '\nError: the plan reached: %s.\n' "$(cat out)" >&2
exit 1
`

// planConfiguration has one root, planned by planScript.
const planConfiguration = `
state_dir: /var/lib/driftd
schedule: {every: 2s, jitter: 0s}
declarations:
  - {name: infra, type: terraform, settings: {dir: /srv/infra, binary: /usr/local/bin/cli, read_paths: [/srv/infra/main]}}
`

// boxesPlans checks that under the hardening of the unit, the programs of a plan reach nothing
// of driftd, and leave nothing.
func boxesPlans(t *testing.T, m *machine) {
	m.write("/usr/local/bin/cli", planScript, 0o755)
	m.write("/srv/infra/main.tf", "# empty\n", 0o644)
	m.write("/srv/infra/main", "0", 0o644)
	m.write("/etc/driftd/driftd.yaml", planConfiguration, 0o644)
	m.run("systemctl", "restart", "driftd.service")
	m.write("/srv/infra/main", m.property("MainPID"), 0o644)
	m.awaitStatus("plan: the plan reached: .")
	if said, err := m.try("pgrep", "-f", "sleep 424242"); err == nil {
		t.Errorf("plans leave processes: %s", strings.Fields(said))
	}
	m.write("/etc/driftd/driftd.yaml", configuration, 0o644)
	m.run("systemctl", "restart", "driftd.service")
	m.awaitStatus("drifted")
}
