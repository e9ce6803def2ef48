package discipline

import (
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/printable"
)

// isLocal reports whether the source of a module is a folder.
func isLocal(source string) bool {
	return strings.HasPrefix(source, "./") || strings.HasPrefix(source, "../") || source == "." || source == ".."
}

var (
	// registryModule matches the address of a module in a registry, with or without a host.
	registryModule = lazyregexp.New(`^([A-Za-z0-9.-]+(:[0-9]+)?/)?[A-Za-z0-9_-]+/[A-Za-z0-9_-]+/[a-z0-9]+(//.*)?$`)
	// exactConstraint matches a constraint of Terraform that only one version fits. Missing parts are 0.
	exactConstraint = lazyregexp.New(`^=?\s*v?[0-9]+(\.[0-9]+){0,2}([-+][0-9A-Za-z.+-]+)?$`)
	// exactVersion matches a constraint of Helm that only one version fits. Missing parts are any.
	exactVersion = lazyregexp.New(`^=?\s*v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$`)
	fullHash     = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// problem returns why a call does not always get the same module; "" if it does, or that is not certain.
func (c *call) problem() string {
	switch {
	case c.source == "" || isLocal(c.source):
		return ""
	case isRegistry(c.source):
		switch {
		case !c.hasVersion:
			return "has no version"
		case c.isLiteral && !exactConstraint().MatchString(strings.TrimSpace(c.version)):
			return "follows the versions " + printable.Line(c.version, 60)
		}
		return ""
	case isGit(c.source):
		return refProblem(refOf(c.source, "ref"))
	}
	return ""
}

// gitHosts returns the hosts of which Terraform and kustomize read a bare address as one of git.
func gitHosts() []string { return []string{"github.com/", "bitbucket.org/", "gitlab.com/"} }

func isRegistry(source string) bool {
	for _, host := range gitHosts() {
		if strings.HasPrefix(source, host) {
			return false
		}
	}
	return registryModule().MatchString(source)
}

// isGit reports whether a source is a git repository.
func isGit(source string) bool {
	for _, prefix := range append(gitHosts(), "git::", "git@") {
		if strings.HasPrefix(source, prefix) {
			return true
		}
	}
	return false
}

// refOf returns the first of the parameters of an address that is there.
func refOf(address string, names ...string) (ref string, has bool) {
	_, query, _ := strings.Cut(address, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", false
	}
	for _, name := range names {
		if values.Has(name) {
			return values.Get(name), true
		}
	}
	return "", false
}

// refProblem returns why a ref does not always lead to the same commit; "" if it does, or that is not certain.
func refProblem(ref string, has bool) string {
	switch {
	case !has || ref == "":
		return "has no ref, and follows the default branch"
	case isUnrendered(ref) || !isMoving(ref):
		return ""
	}
	return "follows " + printable.Line(ref, 60)
}

// isMoving reports whether a ref has the name of a branch. A name with a digit may be that of a tag, or an abbreviated hash.
func isMoving(ref string) bool {
	ref = strings.TrimPrefix(ref, "refs/")
	if strings.HasPrefix(ref, "heads/") {
		return true
	}
	return !fullHash().MatchString(ref) && !strings.HasPrefix(ref, "tags/") && !strings.ContainsAny(ref, "0123456789")
}

// isTemplated reports whether a text has a part that something else fills in.
func isTemplated(text string) bool { return strings.ContainsAny(text, "${}%") }

// isUnrendered reports whether a text has the form of a variable or a template.
func isUnrendered(text string) bool { return strings.ContainsAny(text, "${}<>%") }

// withoutCredentials returns the host and the path of an address, for a finding.
func withoutCredentials(address string) string {
	address, _, _ = strings.Cut(strings.TrimPrefix(address, "git::"), "?")
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		scheme, rest = "", address
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if scheme != "" {
		rest = scheme + "://" + rest
	}
	return printable.Line(rest, 120)
}
