package setup

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/phrase"
)

// tree adds the declarations of a folder.
func (b *builder) tree(t *Tree) {
	for _, g := range groups(t, b.fit) {
		b.roots(t, g)
	}
	rest, applied := b.applied(t)
	for _, m := range b.manifestFolders(rest) {
		b.manifests(rest, m, applied)
	}
	b.charts(rest)
}

// charts notes the charts, which cannot be declared without a guess.
func (b *builder) charts(t *Tree) {
	if len(t.Charts) == 0 {
		return
	}
	values := ""
	if len(t.Values) > 0 {
		values = " (found: " + listed(t.Values) + ")"
	}
	b.note("Helm charts are not declared: %s. Declare each release with type helm, with its namespace and files of values%s: no file has them.",
		listed(t.Charts), values)
}

// fit reports whether roots can be one declaration: they are read from the same place, and no two manage different sources of one type.
func (b *builder) fit(roots []*Root) bool {
	types := map[string]string{}
	for _, root := range roots {
		if isLocal(root) != isLocal(roots[0]) {
			return false
		}
		for _, name := range b.governs[root] {
			typ := b.typeOf(name)
			if types[typ] == "" {
				types[typ] = name
			}
			if types[typ] != name {
				return false
			}
		}
	}
	return true
}

// isLocal reports whether the state of a root is a file in its folder, which a git remote does not have.
func isLocal(root *Root) bool { return root.Backend == "local" }

func (b *builder) roots(t *Tree, g group) {
	var governs []string
	partial := false
	for _, root := range g.roots {
		governs = append(governs, b.governs[root]...)
		partial = partial || root.Partial
	}
	slices.Sort(governs)
	settings, ok := b.place(t, g.dir, isLocal(g.roots[0]))
	if !ok || len(g.roots) == 1 && isUnwritable(g.dir) {
		b.note("The Terraform root %s is not declared: its path has characters of patterns, or invisible ones. Rename the folder.", filepath.Join(t.Dir, g.dir))
		return
	}
	settings = append(settings, setting{key: "pass_env", value: passed(g.roots),
		note: "The variables of driftd's own environment that a plan gets. For a service, instead:\nenv_files: [terraform.env] # NAME=VALUE lines with the credentials of the providers and the backend"})
	if partial {
		settings[len(settings)-1].note += "\nbackend_config_files: [prod.s3.tfbackend] # completes the backend block, as init -backend-config does"
	}
	if home, found := b.credentialsInHome(g.roots); found {
		settings = append(settings, setting{key: "home", value: "~/", note: "Lets a plan read the credentials in " + home + "."})
	}
	if file := b.facts.Environment["TF_CLI_CONFIG_FILE"]; file != "" {
		settings = append(settings, setting{key: "cli_config_file", value: b.file(file)})
	}
	note := phrase.Count(len(g.roots), "Terraform root") + ". A plan runs the code of a root."
	if isLocal(g.roots[0]) && t.Origin.URL != "" {
		note += " The state is in the folder, so the folder is read instead of its git remote."
	}
	b.config.declarations = append(b.config.declarations, entry{name: b.name("declaration", nameOf(t, g.dir), "infra"), typ: "terraform", note: note,
		governs: slices.Compact(governs), settings: settings})
}

// credentialsInHome returns the folder in the user's home with credentials for the providers and backends of roots.
func (b *builder) credentialsInHome(roots []*Root) (folder string, found bool) {
	folders := map[string]string{aws: ".aws", "s3": ".aws", openstack: ".config/openstack", "cloud": ".terraform.d", "remote": ".terraform.d",
		"gcs": ".config/gcloud", "google": ".config/gcloud", "azurerm": ".azure", "kubernetes": ".kube", "helm": ".kube"}
	for _, root := range roots {
		names := []string{root.Backend}
		for _, p := range root.Providers {
			names = append(names, p.Name)
		}
		for _, name := range names {
			if folders[name] != "" && slices.Contains(b.facts.HomeFolders, folders[name]) {
				return "~/" + folders[name], true
			}
		}
	}
	return "", false
}

// homeFolders returns the folders in a home folder that have credentials of Terraform's providers and backends.
func homeFolders(home string) (folders []string) {
	for _, name := range []string{".aws", ".azure", ".config/gcloud", ".config/openstack", ".kube", ".terraform.d"} {
		if info, err := os.Stat(filepath.Join(home, name)); home != "" && err == nil && info.IsDir() {
			folders = append(folders, name)
		}
	}
	return folders
}

// nameOf returns the name of a declaration of a folder or a pattern.
func nameOf(t *Tree, dir string) string {
	fixed, _, isGroup := strings.Cut(dir, "*")
	fixed = strings.TrimSuffix(fixed, "/")
	if !isGroup {
		fixed = dir
	}
	if fixed == "." || fixed == "" {
		return filepath.Base(t.Dir)
	}
	return path.Base(fixed)
}

// A manifestFolder is a folder with manifests for one cluster. isNamed is set if it is named after the context of the cluster.
type manifestFolder struct {
	dir, cluster string
	isNamed      bool
}

// manifestFolders returns the folders with manifests: one for each cluster that a folder is named after, and otherwise one for each folder of the tree.
func (b *builder) manifestFolders(t *Tree) []manifestFolder {
	shared := map[string][]string{}
	found := map[manifestFolder]bool{}
	for _, dir := range t.Manifests {
		elements := strings.Split(dir, "/")
		at := slices.IndexFunc(elements, func(e string) bool { return b.contextOf(e) != "" })
		if at >= 0 {
			found[manifestFolder{strings.Join(elements[:at+1], "/"), b.sources["kubernetes "+b.contextOf(elements[at])], true}] = true
			continue
		}
		shared[elements[0]] = append(shared[elements[0]], dir)
	}
	for top, dirs := range shared {
		if len(shared["."]) > 0 && top != "." {
			continue // the folder of the tree contains it
		}
		cluster, own := b.defaultCluster(), b.contextOf(filepath.Base(t.Dir))
		if own != "" {
			cluster = b.sources["kubernetes "+own]
		}
		found[manifestFolder{commonFolder(dirs), cluster, own != ""}] = true
	}
	all := make([]manifestFolder, 0, len(found))
	for m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b manifestFolder) int { return strings.Compare(a.dir, b.dir) })
	return all
}

// contextOf returns the context that a folder is named after, chosen or not; "" if there is none.
func (b *builder) contextOf(folder string) string {
	for _, c := range b.facts.Contexts {
		if folder == c.Name || folder == config.NameOf(c.Name) {
			return c.Name
		}
	}
	return ""
}

// defaultCluster returns the source of the current context if it is chosen, or else of the first one that is.
func (b *builder) defaultCluster() string {
	for _, name := range append([]string{b.facts.CurrentContext}, b.choices.Contexts...) {
		if slices.Contains(b.choices.Contexts, name) {
			return b.sources["kubernetes "+name]
		}
	}
	return ""
}

// commonFolder returns the innermost folder that contains all folders.
func commonFolder(dirs []string) string {
	common := dirs[0]
	for _, dir := range dirs {
		for !within(dir, common) {
			common = path.Dir(common)
		}
	}
	return common
}

// manifests adds the declaration of a folder with manifests, without the folders that Flux and Argo CD apply.
func (b *builder) manifests(t *Tree, m manifestFolder, applied []string) {
	shown := filepath.Join(t.Dir, m.dir)
	if m.cluster == "" {
		b.note("The manifests in %s are not declared: their cluster was not chosen. Run driftd init again with --context.", shown)
		return
	}
	settings, ok := b.place(t, m.dir, false)
	if !ok || isUnwritable(m.dir) {
		b.note("The manifests in %s are not declared: the path has characters of patterns, or invisible ones. Rename the folder.", shown)
		return
	}
	left := asideOf(t, m, b.manifestFolders(t))
	for _, r := range left.rivals {
		b.note("These kustomizations build upon one base and have the same objects, and a cluster can have one of them: %s. These are not declared, because their clusters are not known: %s.",
			listed(r.all), listed(r.own))
	}
	remain := func(dir string) bool { return ownerOf(dir, b.manifestFolders(t)) == m.dir && !left.excludes(dir) }
	if !slices.ContainsFunc(t.Manifests, remain) {
		if len(left.rivals) == 0 {
			b.note("The manifests in %s are not declared: they are bases of kustomizations elsewhere.", shown)
		}
		return
	}
	var exclude []string
	for _, dir := range slices.Concat(rootDirs(t), t.Charts, b.otherFolders(t, m), left.folders, applied) {
		if dir != m.dir && within(dir, m.dir) && !isUnwritable(dir) {
			exclude = append(exclude, "/"+strings.TrimPrefix(strings.TrimPrefix(dir, m.dir), "/"))
		}
	}
	if len(exclude) > 0 {
		slices.Sort(exclude)
		settings = append(settings, setting{key: "exclude", value: slices.Compact(exclude), note: "Terraform roots, Helm charts, what Flux and Argo CD apply, bases of other declarations, and folders that are declared on their own or not at all."})
	}
	b.config.declarations = append(b.config.declarations, entry{name: b.name("declaration", nameOf(t, m.dir), "manifests"), typ: "manifests", governs: []string{m.cluster}, settings: settings})
}

// otherFolders returns the folders with manifests of other declarations.
func (b *builder) otherFolders(t *Tree, m manifestFolder) (dirs []string) {
	for _, other := range b.manifestFolders(t) {
		if other != m {
			dirs = append(dirs, other.dir)
		}
	}
	return dirs
}

// maxListed bounds the names that a note lists.
const maxListed = 10

func listed(names []string) string {
	shown := slices.Clone(names[:min(len(names), maxListed)])
	if len(names) > maxListed {
		shown = append(shown, fmt.Sprintf("and %d more", len(names)-maxListed))
	}
	return strings.Join(shown, ", ")
}

// moduleNotes adds the folders that are taken for modules, if a tree has nothing else of Terraform.
func (b *builder) moduleNotes() {
	for i := range b.facts.Trees {
		if t := &b.facts.Trees[i]; len(t.Roots) == 0 && len(t.Modules) > 0 {
			b.note("Folders with files of Terraform that have no lock file, backend or provider are taken for modules: %s. Name one to plan it as a root.", listed(t.Modules))
		}
	}
}

// notes adds what is left to the user.
func (b *builder) notes() {
	b.moduleNotes()
	for _, url := range slices.Sorted(maps.Keys(b.remotes)) {
		switch {
		case strings.HasPrefix(url, "https://"):
			b.note("Where %s needs a login, add token_file: git-token to its settings.", url)
		case !filepath.IsAbs(url):
			b.note("%s is read with the keys of the ssh agent: a service has none, so add ssh_key_file and known_hosts_file to its settings.", url)
		}
	}
	var contexts, clouds []string
	for _, c := range b.facts.Contexts {
		if !slices.Contains(b.choices.Contexts, c.Name) {
			contexts = append(contexts, c.Name)
		}
	}
	for _, name := range b.facts.Clouds {
		if !slices.Contains(b.choices.Clouds, name) {
			clouds = append(clouds, name)
		}
	}
	if len(contexts) > 0 {
		b.note("Contexts of the kubeconfig that are not read: %s.", listed(contexts))
	}
	if len(clouds) > 0 {
		b.note("Clouds of the clouds.yaml that are not read: %s.", listed(clouds))
	}
	for root, p := range b.facts.configured() {
		if p.Name == openstack && b.cloudOf(p) == "" {
			b.note("The OpenStack that %s manages is not read: name its entry of a clouds.yaml with --cloud.", root.Dir)
			break
		}
	}
}
