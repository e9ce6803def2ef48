package remedy

import "github.com/driftd/driftd/internal/model"

// helmReleaseKind is the kind of Helm releases, which no API server has.
const helmReleaseKind = "kubernetes/Release.helm"

// helm returns a helm command on the release of the finding.
func (c *issue) helm(args ...string) command {
	return append(append(command{"helm"}, args...), c.Name, "--namespace="+c.Place)
}

// putBackRelease returns the step that gives a release the declared values.
func (c *issue) putBackRelease() Step {
	switch c.Verdict {
	case model.Unchecked:
		return words("Nothing is suggested while it is not compared", "Reason: "+c.Reason+".")
	case model.Unmanaged:
		s := words("No command is suggested, because it would delete the objects of the release")
		s.commands(c.helm("get", "manifest"))
		s.note("The command shows the objects. Ask who installed them first.")
		return s
	}
	s := words("Upgrade the release with the declared values", "Run helm upgrade with the chart and the values of "+c.place()+", at the commit that is to be live, and without --reuse-values. Values of --set that are not declared are lost.")
	s.commands(c.helm("get", "values"))
	return s
}

// adoptRelease returns the step that declares a release, or its values.
func (c *issue) adoptRelease() Step {
	if c.Verdict != model.Unmanaged {
		s := words("Edit the values by hand", "They are declared in "+c.place()+" and in the declaration's files of values.")
		c.liveValues(&s)
		return s
	}
	s := words("Declare the release", "Add a declaration of type helm with its chart, and with its values in git.")
	s.commands(c.helm("get", "values"))
	s.note("The command shows the values, secrets among them.")
	return s
}
