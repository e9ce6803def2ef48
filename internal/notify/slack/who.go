package slack

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// membersAge is how long it is believed who belongs to a group.
const membersAge = 2 * time.Minute

// members are the people of user groups, as Slack told.
type members struct {
	mu     sync.Mutex
	groups map[string]crew
}

type crew struct {
	users []string
	asked time.Time
}

// mayPress tells whether somebody may press buttons: a configured user, or a
// member of a configured group.
func (r *room) mayPress(ctx context.Context, user string) (bool, error) {
	if slices.Contains(r.config.Users, user) {
		return true, nil
	}
	r.members.mu.Lock()
	defer r.members.mu.Unlock()
	for _, group := range r.config.Groups {
		users, err := r.crew(ctx, group)
		if err != nil {
			return false, err
		}
		if slices.Contains(users, user) {
			return true, nil
		}
	}
	return false, nil
}

// crew returns the members of a group; members.mu is held.
func (r *room) crew(ctx context.Context, group string) ([]string, error) {
	now := r.env.Now()
	if known, ok := r.members.groups[group]; ok && now.Sub(known.asked).Abs() < membersAge {
		return known.users, nil
	}
	var users []string
	err := r.wire.call(ctx, "list members of "+group, func() (err error) {
		users, err = r.api.GetUserGroupMembersContext(ctx, group)
		return err
	})
	if err != nil {
		return nil, err
	}
	if r.members.groups == nil {
		r.members.groups = map[string]crew{}
	}
	r.members.groups[group] = crew{users, now}
	return users, nil
}

// called returns what people call somebody: the name that Slack has, or the
// one that came with the press, and the ID.
func (r *room) called(ctx context.Context, user, name string) string {
	var info *slack.User
	err := r.wire.call(ctx, "look up member", func() (err error) {
		info, err = r.api.GetUserInfoContext(ctx, user)
		return err
	})
	if err != nil {
		r.env.Log.Warn("nobody knows what a member is called", "err", err)
		info = &slack.User{}
	}
	if name = clean(cmp.Or(info.RealName, info.Profile.RealName, info.Name, name), maxWord); name == "" {
		return user
	}
	return name + " (" + user + ")"
}

// those says who may press buttons.
func (r *room) those(p *prose) *prose {
	all := len(r.config.Users) + len(r.config.Groups)
	for i := range all {
		switch {
		case i > 0 && i == all-1:
			p.say(" and ")
		case i > 0:
			p.say(", ")
		}
		if i < len(r.config.Users) {
			p.member(r.config.Users[i])
		} else {
			p.group(r.config.Groups[i-len(r.config.Users)])
		}
	}
	return p
}
