package slack

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// membersAge is how long the members of a group are cached.
const membersAge = 2 * time.Minute

// userGroups is the cache of user groups.
type userGroups struct {
	mu      sync.Mutex
	members map[string]members
}

// members are the people of a user group.
type members struct {
	users []string
	asked time.Time
}

// mayPress reports whether a user may press buttons: a configured user, or a member of a
// configured group.
func (c *channel) mayPress(ctx context.Context, user string) (bool, error) {
	if slices.Contains(c.config.Users, user) {
		return true, nil
	}
	c.groups.mu.Lock()
	defer c.groups.mu.Unlock()
	for _, group := range c.config.Groups {
		users, err := c.membersOf(ctx, group)
		if err != nil {
			return false, err
		}
		if slices.Contains(users, user) {
			return true, nil
		}
	}
	return false, nil
}

// membersOf returns the IDs of the members of a group; groups.mu is held.
func (c *channel) membersOf(ctx context.Context, group string) ([]string, error) {
	now := c.env.Now()
	if known, ok := c.groups.members[group]; ok && now.Sub(known.asked).Abs() < membersAge {
		return known.users, nil
	}
	var users []string
	err := c.wire.call(ctx, "list members of "+group, func() (err error) {
		users, err = c.api.GetUserGroupMembersContext(ctx, group)
		return err
	})
	if err != nil {
		return nil, err
	}
	if c.groups.members == nil {
		c.groups.members = map[string]members{}
	}
	c.groups.members[group] = members{users, now}
	return users, nil
}

// called returns the name of a user with the ID: the name that Slack has, or the one of
// the interaction.
func (c *channel) called(ctx context.Context, user, name string) string {
	var info *slack.User
	err := c.wire.call(ctx, "look up member", func() (err error) {
		info, err = c.api.GetUserInfoContext(ctx, user)
		return err
	})
	if err != nil {
		c.env.Log.Warn("cannot read the name of a member", "err", err)
		info = &slack.User{}
	}
	if name = clean(cmp.Or(info.RealName, info.Profile.RealName, info.Name, name), maxWord); name == "" {
		return user
	}
	return name + " (" + user + ")"
}

// allowed adds the users and groups that may press buttons.
func (c *channel) allowed(p *richText) *richText {
	all := len(c.config.Users) + len(c.config.Groups)
	for i := range all {
		switch {
		case i > 0 && i == all-1:
			p.words(" and ")
		case i > 0:
			p.words(", ")
		}
		if i < len(c.config.Users) {
			p.member(c.config.Users[i])
		} else {
			p.group(c.config.Groups[i-len(c.config.Users)])
		}
	}
	return p
}
