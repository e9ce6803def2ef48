package cloudtrail

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// Via is Actor.Via of actors from CloudTrail.
const Via = "CloudTrail"

// maxEvidence bounds a text in the evidence that the client chose.
const maxEvidence = 200

// actorOf returns the actor of an event. The name is that of the user or of the session.
func actorOf(event model.Value) model.Actor {
	user := event.At("userIdentity")
	arn := user.At("arn").Str()
	name, remarks, exact := identify(user, arn)
	parts := append([]string{event.At("eventName").Str(), "event " + event.At("eventID").Str(), arn}, remarks...)
	if by := user.At("invokedBy").Str(); by != "" && by != name {
		parts, exact = append(parts, "through "+by), false
	}
	if from := event.At("sourceIPAddress").Str(); from != "" {
		parts = append(parts, "from "+from)
	}
	if agent := event.At("userAgent").Str(); agent != "" {
		parts = append(parts, "with "+printable.Line(agent, maxEvidence))
	}
	who := model.Actor{Name: printable.Text(name), Via: Via, Confidence: model.Exact, Request: printable.Text(event.At("requestID").Str())}
	var evidence []string
	for _, part := range parts {
		if part != "" {
			evidence = append(evidence, printable.Text(part))
		}
	}
	who.Evidence = strings.Join(evidence, ", ")
	switch {
	case name == "":
		unknown := model.UnknownActor("CloudTrail names no user")
		unknown.Via, unknown.Evidence = Via, who.Evidence
		return unknown
	case !exact:
		who.Confidence = model.Likely
	}
	return who
}

// Paths of roles that no user can create.
const (
	serviceRoles  = ":role/aws-service-role/"
	identityRoles = ":role/aws-reserved/sso.amazonaws.com/"
)

// identify returns the name of a user, and whether AWS authenticated that name. The name of a
// session is chosen by the client that assumes the role, unless Identity Center or a source
// identity fixes it.
func identify(user model.Value, arn string) (name string, remarks []string, exact bool) {
	last := arn[strings.LastIndexByte(arn, '/')+1:]
	switch user.At("type").Str() {
	case "Root":
		return "root", nil, true
	case "IAMUser":
		return user.At("userName").Str(), nil, true
	case "AssumedRole":
		context := user.At("sessionContext")
		role := context.At("sessionIssuer", "arn").Str()
		if _, path, ok := strings.Cut(role, serviceRoles); ok {
			service, _, _ := strings.Cut(path, "/")
			return service, nil, true
		}
		if source := context.At("sourceIdentity").Str(); source != "" {
			return source, []string{"role " + role, "source identity"}, true
		}
		if last == arn {
			last = ""
		}
		return last, []string{"role " + role}, strings.Contains(role, identityRoles)
	case "AWSService":
		return user.At("invokedBy").Str(), nil, true
	case "AWSAccount":
		return "account " + user.At("accountId").Text(), []string{user.At("principalId").Str()}, false
	case "FederatedUser":
		return last, nil, false
	}
	return user.At("principalId").Str(), nil, false
}
