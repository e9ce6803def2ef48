package policy

import (
	"fmt"
	"slices"
	"strings"
)

// A danger is a harmful capability of a root on the machine that plans or applies it. The setting
// refuse may list its name.
type danger struct {
	name string
	// reported and quiet are patterns of block names. refuse covers both. Blocks that match only
	// quiet are not reported, because ordinary roots have many of them.
	reported, quiet []string
	does            string
}

// dangers returns all dangers.
func dangers() []danger {
	const inPlan = " in every plan"
	return []danger{
		{name: "external", does: "runs a program of the repository's choice" + inPlan,
			// local_command is of hashicorp/local, shell_script of scottwinkler/shell. Key
			// providers and methods of OpenTofu's state encryption also run during init.
			reported: []string{"data.external", "data.local_command", "data.shell_script", "resource.shell_script",
				"encryption.key_provider.external", "encryption.method.external"}},
		{name: "exec", does: "may run a program of the repository's choice for credentials" + inPlan,
			// Programs in files of AWS (credential_process) and of Kubernetes (exec) are run, too.
			reported: []string{"provider.*.exec", "backend.*.exec"},
			quiet: []string{"provider.*.shared_c*_file*", "backend.*.shared_c*_file*", "provider.*.config_path*", "backend.*.config_path*",
				"provider.*.ssh_opts",
				// The key providers of OpenTofu, and the backends of other states.
				"encryption.*.shared_c*_file*", "data.terraform_remote_state.config.*exec", "data.terraform_remote_state.config.*shared_c*_file*",
				"data.terraform_remote_state.config.*config_path*", "data.terraform_remote_state.config.computed",
				// An object whose names are not known may have exec.
				"provider.*.kubernetes.computed"}},
		{name: "http", does: "sends a request to an address of the repository's choice" + inPlan,
			reported: []string{"data.http", "ephemeral.http"}},
		{name: "files", does: "may read files of the machine" + inPlan,
			reported: []string{"file.outside"},
			quiet:    []string{"file.computed", "data.local_file", "data.local_sensitive_file"}},
		{name: "plugins", does: "has programs that init may install as any provider",
			reported: []string{"plugins.folder"}},
		{name: "remote-state", does: "reads a state at a place of the repository's choice" + inPlan,
			quiet: []string{"data.terraform_remote_state"}},
		{name: "local-exec", does: "does not run in a plan; an apply runs a program on the machine that applies",
			reported: []string{"provisioner.local-exec", "action.local_command"}},
		{name: "remote-exec", does: "does not run in a plan; an apply runs it on the created machine",
			reported: []string{"provisioner.remote-exec", "provisioner.file"}},
		{name: "unpinned", does: "is not fetched by commit, exact version or checksum: its code may change without a commit here",
			quiet: []string{"module.unpinned"}},
	}
}

// dangerNames returns the names of all dangers, for messages.
func dangerNames() []string {
	var names []string
	for _, d := range dangers() {
		names = append(names, d.name)
	}
	return names
}

// A Block is a part of a configuration that a policy may refuse.
type Block struct {
	// Name is the name that patterns match: "data.external", "provisioner.local-exec",
	// "provider.kubernetes.exec", "backend.http.address", "file.outside".
	Name string
	// Shown is the block as it appears in the configuration: data "external" "who".
	Shown string
	// Place is the file and the line: "main.tf:12". For JSON syntax, the line may be missing.
	Place string
}

// reportable returns the danger for which a block is reported.
func reportable(b Block) (danger, bool) {
	return find(b, func(d danger) []string { return d.reported })
}

// known returns the danger of a block.
func known(b Block) (danger, bool) {
	return find(b, func(d danger) []string { return slices.Concat(d.reported, d.quiet) })
}

func find(b Block, patterns func(danger) []string) (danger, bool) {
	all := dangers()
	i := slices.IndexFunc(all, func(d danger) bool { return matchesAny(patterns(d), b.Name) })
	if i < 0 {
		return danger{}, false
	}
	return all[i], true
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matchName(p, name) })
}

// refused returns the entry of the setting refuse that a block matches.
func (p Policy) refused(b Block) (entry string, ok bool) {
	d, isKnown := known(b)
	i := slices.IndexFunc(p.Refuse, func(entry string) bool {
		return isKnown && entry == d.name || strings.Contains(entry, ".") && matchesAny([]string{entry}, b.Name)
	})
	if i < 0 {
		return "", false
	}
	return p.Refuse[i], true
}

// kinds returns the possible first parts of block names.
func kinds() []string {
	return []string{"action", "backend", "data", "encryption", "ephemeral", "file", "module", "plugins", "provider", "provisioner",
		"resource", "state_store"}
}

func checkRefuse(entry string) error {
	kind, _, isPattern := strings.Cut(entry, ".")
	if isPattern && (kind == "*" || slices.Contains(kinds(), kind)) || !isPattern && slices.Contains(dangerNames(), entry) {
		return nil
	}
	return fmt.Errorf("%q: want %s, or a block such as data.external, provisioner.* or provider.aws.endpoints",
		entry, strings.Join(dangerNames(), ", "))
}
