package discipline

import (
	"strings"

	"github.com/driftd/driftd/internal/printable"
)

// An image is the image of a container.
type image struct {
	text string
	at   place
}

// pod collects the images of the containers of an object.
func (c *checker) pod(o *objects, file, kind string, doc node) {
	var spec node
	switch kind {
	case "Pod":
		spec = doc.at("spec")
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "Rollout":
		spec = doc.at("spec", "template", "spec")
	case "CronJob":
		spec = doc.at("spec", "jobTemplate", "spec", "template", "spec")
	case "PodTemplate":
		spec = doc.at("template", "spec")
	}
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range spec.at(list).items() {
			switch found := container.at("image"); {
			case !found.exists():
			case len(o.images) >= maxFindings:
				c.full("images")
				return
			default:
				o.images = append(o.images, image{found.text(), place{file, found.line()}})
			}
		}
	}
}

// judgeImage reports an image without the tag of one version, unless a kustomization sets it.
func (c *checker) judgeImage(o *objects, i *image) {
	name, tag, digest := parseImage(i.text)
	subject := "image " + printable.Line(name, 120)
	switch {
	case digest != "" || isUnrendered(i.text) || strings.ToLower(name) != name || name == "" || name == "auto" || o.replaced[name]:
		// "auto" stands for the image of an injected proxy. A name with capitals is a placeholder.
	case tag == "":
		c.report(imageUnpinned, i.at.file, i.at.line, 0, subject, "has no tag")
	case tag == "latest":
		c.report(imageUnpinned, i.at.file, i.at.line, 0, subject, "has the tag latest")
	default:
		c.report(imageNoDigest, i.at.file, i.at.line, 0, subject, "has the tag "+printable.Line(tag, 60)+" and no digest")
	}
}

// parseImage returns the parts of the name of an image.
func parseImage(text string) (name, tag, digest string) {
	name, digest, _ = strings.Cut(strings.TrimSpace(text), "@")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name, tag = name[:i], name[i+1:]
	}
	return name, tag, digest
}
