package syntax

import (
	"path"
	"strings"
)

// SplitName splits the base name of a configuration file of Terraform or OpenTofu into its stem and its
// suffix, which is .tf, .tf.json, .tofu or .tofu.json. The suffix of all other files is "". As in both
// programs, a hidden file is no configuration file. The backup files of editors (x.tf~, #x.tf#) have other
// suffixes.
func SplitName(name string) (stem, suffix string) {
	if strings.HasPrefix(name, ".") {
		return name, ""
	}
	for _, suffix := range []string{".tf.json", ".tofu.json", ".tf", ".tofu"} {
		if stem, is := strings.CutSuffix(name, suffix); is {
			return stem, suffix
		}
	}
	return name, ""
}

// IsConfiguration reports whether a base name is that of a configuration file of Terraform or OpenTofu.
// Terraform does not read .tofu files.
func IsConfiguration(name string) bool {
	_, suffix := SplitName(name)
	return suffix != ""
}

// IsOverride reports whether a file is an override file, whose blocks Terraform merges into those of other
// files.
func IsOverride(file string) bool {
	stem, suffix := SplitName(path.Base(file))
	return suffix != "" && (stem == "override" || strings.HasSuffix(stem, "_override"))
}
