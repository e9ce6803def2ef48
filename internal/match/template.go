package match

import (
	"cmp"

	"github.com/driftd/driftd/internal/model"
)

// addTemplates sets the templates of each subject whose claims refer to one. The subjects must be of the snapshot and
// sorted by key.
func addTemplates(snapshot *model.Snapshot, subjects []model.Subject) {
	named := namedTemplates(snapshot, subjects)
	for i := range subjects {
		s := &subjects[i]
		for _, c := range s.Claims {
			if c.TemplateName != "" {
				s.NamedTemplate, s.NamedTemplateUnread = named[nameOf{c.Kind, c.TemplateName}].settle(snapshot, c)
			}
			if c.Template == (model.Ref{}) {
				continue
			}
			key := model.Key{Source: s.Source, Kind: c.Template.Kind, ID: c.Template.ID}
			if at, found := subjectAt(subjects, key); found && subjects[at].Live != nil {
				s.Template = subjects[at].Live
			} else {
				s.TemplateUnread = cmp.Or(s.TemplateUnread, templateDoubt(snapshot, c.Template))
			}
		}
	}
}

// templateDoubt returns the reason why a template that the snapshot does not contain may exist; "" if it does not exist.
func templateDoubt(snapshot *model.Snapshot, template model.Ref) string {
	name := template.ID
	if i, exists := findUnread(snapshot, template); exists {
		u := &snapshot.Unread[i]
		if !u.All {
			name = labelOf(u.ID, u.Name)
		}
		return unreadTemplate(name, u.Reason)
	}
	return kindDoubt(snapshot, template.Kind, name)
}

// kindDoubt returns the reason why a template may be in a scope of its kind that was not fully read; "" if all of them
// were. The place of a template is not known.
func kindDoubt(snapshot *model.Snapshot, kind, name string) string {
	if covered, reason := snapshot.Covers(kind, ""); !covered {
		return unreadTemplate(name, cmp.Or(reason, "not read"))
	}
	for i := range snapshot.Coverage {
		if c := &snapshot.Coverage[i]; c.Kind == kind && !c.Complete {
			return unreadTemplate(name, cmp.Or(c.Reason, "not read"))
		}
	}
	return ""
}

func unreadTemplate(name, reason string) string {
	return "it may come from the template " + name + ", which could not be read: " + reason
}

// A nameOf is a name of resources of a kind.
type nameOf struct{ kind, name string }

// A namedTemplate is the result of looking for the template with a name. count is the number of resources that have the
// name, live and unread are the last ones of these, and nameless is an unread resource of which no name is known.
type namedTemplate struct {
	live             *model.Resource
	unread, nameless *model.Unread
	count            int
}

// settle returns the template of the claim, or the reason why it could not be read. A name that several resources have
// is that of none.
func (t *namedTemplate) settle(snapshot *model.Snapshot, c *model.Claim) (live *model.Resource, unread string) {
	switch found := cmp.Or(t.unread, t.nameless); {
	case t.count > 1:
		return nil, ""
	case t.live != nil:
		return t.live, ""
	case found != nil:
		return nil, unreadTemplate(c.TemplateName, found.Reason)
	}
	return nil, kindDoubt(snapshot, c.Kind, c.TemplateName)
}

// namedTemplates returns the resources to which claims refer as templates by name.
func namedTemplates(snapshot *model.Snapshot, subjects []model.Subject) map[nameOf]*namedTemplate {
	named := map[nameOf]*namedTemplate{}
	for i := range subjects {
		for _, c := range subjects[i].Claims {
			if c.TemplateName != "" {
				named[nameOf{c.Kind, c.TemplateName}] = &namedTemplate{}
			}
		}
	}
	if len(named) == 0 {
		return nil
	}
	for i := range subjects {
		if live := subjects[i].Live; live != nil {
			if t := named[nameOf{live.Kind, live.Name}]; t != nil {
				t.live, t.count = live, t.count+1
			}
		}
	}
	for i := range snapshot.Unread {
		u := &snapshot.Unread[i]
		if t := named[nameOf{u.Kind, u.Name}]; t != nil {
			t.unread, t.count = u, t.count+1
		}
		if u.Name != "" && u.Name != u.ID {
			continue
		}
		for by, t := range named {
			if by.kind == u.Kind {
				t.nameless = cmp.Or(t.nameless, u)
			}
		}
	}
	return named
}
