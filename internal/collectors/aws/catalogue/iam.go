package catalogue

import (
	"slices"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// iam returns a paged operation of IAM.
func iam(action, rows string, input map[string]any, kinds ...*Kind) *List {
	return &List{
		Call: awsapi.Call{
			Service: &awsapi.Service{ID: "iam", Protocol: awsapi.Query, Version: "2010-05-08", Global: true, Rate: 10},
			Action:  action, Input: input, Page: []awsapi.PageToken{{Param: "Marker", Field: "Marker"}},
		},
		Rights: "iam:" + action, Rows: rows, Kinds: kinds,
	}
}

const administratorReason = "it grants administrator access"

// identities returns the kinds of users, roles and credentials, and their rights.
func identities() []*List {
	details := iam("GetAccountAuthorizationDetails", "", map[string]any{"MaxItems": 1000, "Filter": []string{"User", "Role", "Group", "LocalManagedPolicy"}},
		slices.Concat(principals(), policies())...)
	keys := iam("ListAccessKeys", "AccessKeyMetadata", map[string]any{"UserName": "{UserName}"}, &Kind{
		Name: "IAM::AccessKey", ID: "{AccessKeyId}", Label: "{UserName} {AccessKeyId}", Parent: Reference{"IAM::User", "{UserName}"}, Created: "CreateDate",
		Rotated: is("Status", "Active"), Fields: text().Of("UserName>user Status>status"),
		Rules: slices.Concat(
			table.Rate(model.Medium, "an access key that is switched off", "", table.Unmanaged(), table.Is("status", "Inactive")),
			table.Rate(model.High, "whoever has it acts as the user", "", table.Unmanaged())),
		Exposed: table.Exposed(model.ExposesAccess, ""),
	})
	login := iam("GetLoginProfile", "LoginProfile", map[string]any{"UserName": "{UserName}"}, &Kind{
		Name: "IAM::LoginProfile", ID: "{UserName}", Parent: Reference{"IAM::User", "{UserName}"}, Created: "CreateDate",
		Fields:  table.Join(text().Of("UserName>user"), flag().Of("PasswordResetRequired>password_reset_required")),
		Rules:   table.Rate(model.High, "the user can log in with a password", "", table.Unmanaged()),
		Exposed: table.Exposed(model.ExposesAccess, ""),
	})
	login.Call.Page = nil
	keys.Absent, login.Absent = "NoSuchEntity", "NoSuchEntity"
	keys.Each, login.Each = "UserDetailList", "UserDetailList"
	details.Then = []*List{keys, login}
	provider := func(kind, action, rows string) *List {
		l := iam(action, rows, nil, &Kind{
			Name: kind, ID: "{Arn}", Label: "{Arn@name}", Created: "CreateDate",
			Rules:   table.Rate(model.Critical, "users of another system can log in", "", table.Unmanaged()),
			Exposed: table.Exposed(model.ExposesAccess, ""),
		})
		l.Call.Page = nil
		return l
	}
	password := iam("GetAccountPasswordPolicy", "PasswordPolicy", nil, &Kind{
		Name: "IAM::AccountPasswordPolicy", ID: "iam-account-password-policy",
		Fields: table.Join(number().Of("MinimumPasswordLength>minimum_password_length MaxPasswordAge>max_password_age PasswordReusePrevention>password_reuse_prevention"),
			flag().Of("RequireSymbols>require_symbols RequireNumbers>require_numbers")),
	})
	password.Call.Page, password.Absent = nil, "NoSuchEntity"
	// The details of a role have its profiles, and not those without a role.
	profiles := iam("ListInstanceProfiles", "InstanceProfiles", map[string]any{"MaxItems": 1000}, &Kind{
		Name: "IAM::InstanceProfile", ID: "{InstanceProfileName}", Created: "CreateDate", Fields: text().Of("Roles.RoleName>role Arn>arn"), Usual: reservedPaths("Path"),
	})
	return []*List{details, profiles, provider("IAM::OIDCProvider", "ListOpenIDConnectProviders", "OpenIDConnectProviderList"), provider("IAM::SAMLProvider", "ListSAMLProviders", "SAMLProviderList"), password}
}

// reservedPaths are paths of roles that only services of AWS can create.
func reservedPaths(path string) []Usual {
	return []Usual{{Reason: "created by a service of AWS", Path: path, Begins: []string{"/aws-service-role/", "/aws-reserved/"}}}
}

func principals() []*Kind {
	return []*Kind{
		{
			Name: "IAM::User", Rows: "UserDetailList", ID: "{UserName}", Created: "CreateDate", Tags: "Tags", Fields: text().Of("UserName>name Path>path Arn>arn"),
			Identities: [][2]string{{"arn", "{Arn}"}}, Exposed: table.Exposed(model.ExposesAccess, ""),
			Rules: table.Rate(model.High, "a user that no declaration manages", "", table.Unmanaged()),
		},
		{
			Name: "IAM::Group", Rows: "GroupDetailList", ID: "{GroupName}", Created: "CreateDate", Fields: text().Of("GroupName>name Path>path Arn>arn"),
			Identities: [][2]string{{"arn", "{Arn}"}}, Exposed: table.Exposed(model.ExposesAccess, ""),
		},
		{
			Name: "IAM::Role", Rows: "RoleDetailList", ID: "{RoleName}", Created: "CreateDate", Tags: "Tags",
			Fields:     table.Join(text().Of("RoleName>name Path>path Arn>arn"), public().Of("AssumeRolePolicyDocument>public"), foreign().Of(wholeRow+">foreign")),
			Identities: [][2]string{{"arn", "{Arn}"}}, Usual: reservedPaths("Path"), Exposed: table.Exposed(model.ExposesAccess, ""),
			Rules: slices.Concat(
				rate(model.Critical, "everyone can assume the role", "assume_role_policy", table.Is("public", "true")),
				table.Rate(model.High, "it decides who can assume the role", "assume_role_policy", nil),
				table.Rate(model.High, "others than this account can assume the role", "", table.Unmanaged(), table.Is("foreign", "true"))),
		},
		{
			Name: "IAM::UserToGroupAddition", Rows: "UserDetailList.GroupList", ID: "{^.UserName}/{text}", Parent: Reference{"IAM::User", "{^.UserName}"},
			Fields: text().Of("^.UserName>user text>group"), Rules: table.Rate(model.High, "it gives a user the rights of a group", "", table.Unmanaged()),
			Exposed: table.Exposed(model.ExposesAccess, ""),
		},
	}
}

// policies returns the kinds of policies of identities: managed ones, those inside of an
// identity, and which managed ones an identity has.
func policies() []*Kind {
	all := []*Kind{{
		Name: "IAM::ManagedPolicy", Rows: "Policies", ID: "{Arn}", Label: "{PolicyName}", Created: "CreateDate",
		Fields: table.Join(text().Of("PolicyName>name Path>path"), versions().Of("PolicyVersionList>administrator")),
		Rules:  policyRules(), Exposed: table.Exposed(model.ExposesAccess, ""),
	}}
	for _, of := range []struct{ kind, details, name string }{{"User", "UserDetailList", "UserName"}, {"Group", "GroupDetailList", "GroupName"}, {"Role", "RoleDetailList", "RoleName"}} {
		name := "{^." + of.name + "}"
		word := map[string]string{"User": "user", "Group": "group", "Role": "role"}[of.kind]
		all = append(all,
			&Kind{
				Name: "IAM::" + of.kind + "Policy", Rows: of.details + "." + of.kind + "PolicyList", ID: name + ":{PolicyName}", Parent: Reference{"IAM::" + of.kind, name},
				Fields: table.Join(text().Of("PolicyName>name ^."+of.name+">"+word), administrator().Of("PolicyDocument>administrator")),
				Rules:  policyRules(), Usual: reservedPaths("^.Path"), Exposed: table.Exposed(model.ExposesAccess, ""),
			},
			&Kind{
				Name: "IAM::" + of.kind + "PolicyAttachment", Rows: of.details + ".AttachedManagedPolicies", ID: name + "/{PolicyArn}", Label: name + " {PolicyName}",
				Parent: Reference{"IAM::" + of.kind, name}, Fields: text().Of("PolicyArn>policy_arn ^." + of.name + ">" + word), Usual: reservedPaths("^.Path"),
				Exposed: table.Exposed(model.ExposesAccess, ""),
				Rules: slices.Concat(
					rate(model.Critical, administratorReason, "policy_arn", table.Is("policy_arn", administrators()...)),
					table.Rate(model.High, "it grants rights", "", table.Unmanaged())),
			})
	}
	return all
}

// administrators returns the ARNs of the managed policies of AWS that allow everything, or
// to grant oneself everything.
func administrators() []string {
	var all []string
	for _, partition := range []string{"aws", "aws-cn", "aws-us-gov", "aws-iso", "aws-iso-b", "aws-iso-e", "aws-iso-f", "aws-eusc"} {
		for _, name := range []string{"AdministratorAccess", "IAMFullAccess"} {
			all = append(all, "arn:"+partition+":iam::aws:policy/"+name)
		}
	}
	return all
}

func policyRules() []model.SeverityRule {
	return slices.Concat(
		rate(model.Critical, administratorReason, "policy", table.Is("administrator", "true")),
		table.Rate(model.High, "it grants rights", "policy", nil),
		table.Rate(model.High, "it grants rights", "", table.Unmanaged()))
}
