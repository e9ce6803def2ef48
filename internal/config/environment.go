package config

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/secret"
	"github.com/driftd/driftd/internal/suggest"
)

// prefix is the prefix of the names of all environment variables that driftd reads: those of
// the settings, DRIFTD_CONFIG, which the command line reads, and DRIFTD_TEST_…, which the
// tests read.
const prefix = "DRIFTD_"

// variable returns the name of the variable for the setting at a path: DRIFTD_SERVER_LISTEN
// for server.listen.
func variable(path string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// checkEnvironment adds a problem for each variable of environ (NAME=VALUE) with driftd's
// prefix but without a setting. The problems contain no values. As in viper, an empty
// variable counts as not set.
func (d *document) checkEnvironment(all []leaf, environ []string) {
	known, lists := []string{"CONFIG"}, []string{}
	for _, l := range all {
		if l.isList() {
			lists = append(lists, l.path)
		} else {
			known = append(known, strings.TrimPrefix(variable(l.path), prefix))
		}
	}
	for _, v := range environ {
		variable, value, _ := strings.Cut(v, "=")
		name, ok := strings.CutPrefix(variable, prefix)
		if ok && value != "" && !strings.HasPrefix(name, "TEST_") && !slices.Contains(known, name) && !isServiceLink(variable, environ) {
			d.problems = append(d.problems, Problem{Where: variable, Text: unknownVariable(name, known, lists)})
		}
	}
}

// unknownVariable returns why a variable has no setting, and a hint. Name and known are
// without the prefix.
func unknownVariable(name string, known, lists []string) string {
	for _, list := range lists {
		if strings.HasPrefix(prefix+name+"_", variable(list)+"_") {
			return list + " is a list, and variables cannot set lists: set it in the configuration file"
		}
	}
	const unknown = "no setting corresponds to this variable: "
	if near, ok := suggest.Word(name, known); ok {
		return unknown + "did you mean " + prefix + near + "?"
	}
	if secret.Name(name) {
		return unknown + "secrets do not belong in the environment, write it to a file of its own and name that in the configuration file"
	}
	return unknown + "remove it, or correct it (docs/configuration.md lists the settings)"
}

// isServiceLink reports whether Kubernetes sets a variable for a service of the pod's
// namespace: a service named driftd gives each pod DRIFTD_SERVICE_HOST, DRIFTD_SERVICE_PORT,
// DRIFTD_PORT, DRIFTD_PORT_9797_TCP and more.
// https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
func isServiceLink(name string, environ []string) bool {
	return slices.ContainsFunc(environ, func(v string) bool {
		service, _, ok := strings.Cut(v, "_SERVICE_HOST=")
		return ok && (name == service+"_PORT" || strings.HasPrefix(name, service+"_PORT_") || strings.HasPrefix(name, service+"_SERVICE_"))
	})
}
