package demo

import "fmt"

// channelID is the Slack channel for notifications.
const channelID = "C0DEMO0000"

// addresses are the addresses of driftd and the simulated systems, and the repository's path.
type addresses struct{ listen, kubernetes, proxmox, netbox, slack, git string }

// config returns driftd's configuration. Sources are read every few seconds, which the
// simulated systems can handle.
func (a addresses) config() string {
	return fmt.Sprintf(`# Written by driftd demo. All systems are simulated on this machine.
state_dir: state
schedule: {every: 5s, jitter: 0s, timeout: 30s}
retention: {max_age: 1d, max_runs: 1000}
server:
  listen: %q
  access:
    # Every user of this machine may use every button, except those that need a person.
    loopback: approver
    users_file: users
    roles: {approver: [`+Person+`]}
people: [{name: `+Person+`, login: `+Person+`}]

# Deployments of the shop are put back when a person approves it.
reconcile:
  writers:
    - {source: k8s, settings: {server: %q, token_file: writer-token}}
  rules:
    - {name: shop, mode: approve, match: {source: k8s, kind: kubernetes/Deployment.apps}, min_age: 0, soak: 0, share: 100}

sources:
  - {name: k8s, type: kubernetes, every: 1m, settings: {server: %q, audit_log: audit.log}}
  - {name: pve, type: proxmox, settings: {url: %q, token_id: "driftd@pve!ro", token_file: pve-token}}
  - {name: netbox, type: netbox, settings: {url: %q, token_file: netbox-token}}

declarations:
  # Kubernetes manifests in a git repository.
  - {name: shop, type: manifests, governs: [k8s], settings: {git: %q, path: `+inRepository+`}}
  # A Terraform state.
  - {name: infra, type: terraform, governs: [pve, netbox], every: 1m, settings: {engine: state, state: [infra/terraform.tfstate]}}
  # The guests that NetBox declares.
  - {name: intent, type: netbox, governs: [pve], settings: {source: netbox}}

notify:
  url: "http://%s"
  unchecked_after: 10s
  receivers:
    - name: ops
      type: slack
      settings:
        token_file: slack-token
        app_token_file: slack-app-token
        users: [U0DEMO0000]
        channel: `+channelID+`
        api_url: "%s/api/"
        pace: 0s
`, a.listen, a.kubernetes, a.kubernetes, a.proxmox, a.netbox, a.git, a.listen, a.slack)
}
