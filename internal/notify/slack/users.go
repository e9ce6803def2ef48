package slack

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// membersAge is the time for which the members of a group are cached.
const membersAge = 2 * time.Minute

// userGroups is a cache of the members of user groups.
type userGroups struct {
	mu      sync.Mutex
	members map[string]members
}

// members are the members of a user group.
type members struct {
	users []string
	// readAt is the time at which they were read.
	readAt time.Time
}

// isAllowed reports whether user may press buttons: a configured user or a member of a
// configured group.
func (c *channel) isAllowed(ctx context.Context, user string) (bool, error) {
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

// membersOf returns the IDs of the members of group. The caller holds groups.mu.
func (c *channel) membersOf(ctx context.Context, group string) ([]string, error) {
	now := c.env.Now()
	if cached, ok := c.groups.members[group]; ok && now.Sub(cached.readAt).Abs() < membersAge {
		return cached.users, nil
	}
	var users []string
	err := c.client.call(ctx, "list members of "+group, func() (err error) {
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

// author returns the person who has the ID user, or else the display name.
func (c *channel) author(ctx context.Context, user, name string) string {
	if c.env.Person != nil {
		if person := c.env.Person(user); person != "" {
			return person
		}
	}
	return c.displayName(ctx, user, name)
}

// displayName returns the name of user, followed by the ID. name is used if Slack returns
// no name.
func (c *channel) displayName(ctx context.Context, user, name string) string {
	var info *slack.User
	err := c.client.call(ctx, "look up member", func() (err error) {
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

// addAllowed adds mentions of the users and groups that may press buttons.
func (c *channel) addAllowed(p *richText) *richText {
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
