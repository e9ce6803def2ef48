package kube

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// The reasons of the rules for pods.
const (
	takesNode = "can take over its node"
	onNode    = "has privileges on its node"
	mayDo     = "decides what the pod may do"
	addedCode = "runs another container"
	newImage  = "runs a different image"
	newCode   = "runs another command"
	debugged  = "a debug container was added"
	byHand    = "a shell started by hand"
)

// podSeverities rates drift of a kind that runs pods. path is the path of the pod specification.
func podSeverities(kind string, path []string) []model.SeverityRule {
	spec := strings.Join(path, ".") + "."
	rules := powerSeverities(takeoverPowers(spec), model.SeverityRule{Verdicts: brought, Severity: model.Critical, Reason: takesNode})
	rules = append(rules, powerSeverities(otherPowers(spec), model.SeverityRule{Verdicts: alone, Severity: model.High, Reason: onNode})...)
	added := model.SeverityRule{Verdicts: touched, Severity: model.High, Reason: addedCode}
	image, command := added, added
	image.Reason, command.Reason = newImage, newCode
	// Ephemeral containers can only be added: none of their fields changes later.
	ephemeral := added
	ephemeral.Reason = debugged
	rules = append(rules, each([]string{spec + "ephemeralContainers"}, ephemeral)...)
	for _, list := range containerLists {
		// The name changes only with the whole container.
		rules = append(rules, each([]string{spec + list + ".name"}, added)...)
		rules = append(rules, each([]string{spec + list + ".image"}, image)...)
		rules = append(rules, each([]string{spec + list + ".command", spec + list + ".lifecycle"}, command)...)
		rules = append(rules, each([]string{spec + list + ".securityContext"}, model.SeverityRule{Verdicts: touched, Severity: model.High, Reason: mayDo})...)
	}
	fields := []string{spec + "volumes.hostPath", spec + "securityContext", spec + "serviceAccountName"}
	for _, field := range hostFields {
		fields = append(fields, spec+field)
	}
	rules = append(rules, each(fields, model.SeverityRule{Verdicts: touched, Severity: model.High, Reason: mayDo})...)
	if kind == "Pod" {
		rules = append(rules, shellSeverities()...)
	}
	return rules
}

var containerLists = []string{"containers", "initContainers", "ephemeralContainers"}

// powerSeverities returns the rule for each condition, and the field that it is about.
func powerSeverities(conditions []model.Condition, rule model.SeverityRule) []model.SeverityRule {
	rules := make([]model.SeverityRule, len(conditions))
	for i, condition := range conditions {
		rules[i] = rule
		rules[i].Path, rules[i].Where = condition.Path, []model.Condition{condition}
	}
	return rules
}

// takeoverPowers are the conditions under which a pod can take over its node, whose
// specification is at spec.
func takeoverPowers(spec string) []model.Condition {
	conditions := []model.Condition{{Path: spec + "volumes.hostPath.path", Above: nodeFiles}}
	for _, field := range hostFields {
		conditions = append(conditions, model.Condition{Path: spec + field, In: []string{"true"}})
	}
	for _, context := range securityContexts(spec) {
		conditions = append(conditions,
			model.Condition{Path: context + "privileged", In: []string{"true"}},
			model.Condition{Path: context + "windowsOptions.hostProcess", In: []string{"true"}},
			model.Condition{Path: context + "capabilities.add", In: spellings(takeoverCapabilities)})
	}
	return conditions
}

// otherPowers are the conditions under which a pod has other privileges on its node, as
// powers finds them.
func otherPowers(spec string) []model.Condition {
	conditions := []model.Condition{{Path: spec + "volumes.hostPath", Present: true}}
	for _, context := range securityContexts(spec) {
		conditions = append(conditions,
			model.Condition{Path: context + "procMount", In: []string{"Unmasked"}},
			model.Condition{Path: context + "capabilities.add", In: spellings(strongCapabilities)})
	}
	return conditions
}

func securityContexts(spec string) []string {
	contexts := []string{spec + "securityContext."}
	for _, list := range containerLists {
		contexts = append(contexts, spec+list+".securityContext.")
	}
	return contexts
}

// takeoverCapabilities are the strong capabilities with which a container can leave its
// namespaces.
var takeoverCapabilities = []string{"ALL", "DAC_READ_SEARCH", "SYS_ADMIN", "SYS_MODULE", "SYS_RAWIO"}

// spellings returns the names of capabilities as container runtimes accept them.
func spellings(capabilities []string) []string {
	var all []string
	for _, name := range capabilities {
		for _, spelled := range []string{name, "CAP_" + name} {
			all = append(all, spelled, strings.ToLower(spelled))
		}
	}
	return all
}

// nodeFiles are files of a node from which a pod can take the node over: its
// credentials, its programs, and the sockets of its container runtime.
var nodeFiles = []string{
	"/boot", "/etc/cron.d", "/etc/kubernetes", "/etc/kubernetes/manifests", "/etc/kubernetes/pki", "/etc/shadow", "/etc/systemd/system", "/home",
	"/proc", "/root", "/root/.ssh", "/run/containerd/containerd.sock", "/run/crio/crio.sock", "/run/docker.sock", "/usr/bin", "/usr/local/bin",
	"/var/lib/containerd", "/var/lib/docker", "/var/lib/etcd", "/var/lib/kubelet/pki", "/var/lib/kubelet/pods", "/var/lib/rancher", "/var/run/containerd/containerd.sock",
	"/var/run/crio/crio.sock", "/var/run/docker.sock",
}

// shells are the commands of containers for interactive use.
var shells = []string{"sh", "ash", "bash", "dash", "zsh", "sleep"}

// shellSeverities rates unmanaged pods for interactive use: started with kubectl run or
// kubectl debug, or with a terminal.
func shellSeverities() []model.SeverityRule {
	conditions := []model.Condition{{Path: "metadata.labels.run", Present: true}, {Path: "spec.ephemeralContainers", Present: true}}
	var commands []string
	for _, shell := range shells {
		commands = append(commands, shell, "/bin/"+shell, "/usr/bin/"+shell)
	}
	for _, field := range []string{"stdin", "tty"} {
		conditions = append(conditions, model.Condition{Path: "spec.containers." + field, In: []string{"true"}})
	}
	for _, field := range []string{"command", "args"} {
		conditions = append(conditions, model.Condition{Path: "spec.containers." + field, In: slices.Clone(commands)})
	}
	rules := make([]model.SeverityRule, len(conditions))
	for i, condition := range conditions {
		rules[i] = model.SeverityRule{Verdicts: alone, Where: []model.Condition{condition}, Severity: model.High, Reason: byHand}
	}
	return rules
}
