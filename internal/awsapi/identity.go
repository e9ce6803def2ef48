package awsapi

import (
	"context"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An Identity is the account and the user or role of the credentials.
type Identity struct {
	// Account is the number of the account, Partition that of ARNs ("aws-cn").
	Account, Partition string
	ARN                string
}

// Identify returns the identity of the credentials. It needs no right.
func (c *Client) Identify(ctx context.Context) (Identity, error) {
	v, err := c.Do(ctx, c.Config.Region, &Call{Service: &Service{ID: "sts", Protocol: Query, Version: "2011-06-15"}, Action: "GetCallerIdentity"})
	if err != nil {
		return Identity{}, err
	}
	return identityIn(v)
}

func identityIn(v model.Value) (Identity, error) {
	who := Identity{Account: v.At("Account").Str(), ARN: v.At("Arn").Str()}
	parts := strings.Split(who.ARN, ":")
	if len(parts) < 6 || parts[0] != "arn" || who.Account == "" || parts[4] != who.Account {
		return Identity{}, unexpected("it names no account")
	}
	who.Partition = parts[1]
	return who, nil
}
