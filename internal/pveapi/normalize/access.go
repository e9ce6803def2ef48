package normalize

import "github.com/driftd/driftd/internal/collectors/table"

// user returns the keys of a user. In old versions, "keys" has the secrets of second factors.
func user() table.Fields {
	return table.Join(
		text().Of("userid email"), on().Of("enable"), epoch().Of("expire"), text().Low().Of("firstname lastname"), note().Of("comment"),
		secret().Of("keys"), set().Of("groups"), grants().Of("acl"), drop().Of("realm-type tokens tfa-locked-until totp-locked"))
}

// grants are the rows of the access control list for a user or a group.
func grants() table.Form {
	return rows(props("", permission()), "path", "roleid")
}

func permission() table.Fields {
	return table.Join(text().Of("path roleid ugid type"), on().Of("propagate"))
}

func token() table.Fields {
	return table.Join(text().Of("tokenid"), note().Of("comment"), epoch().Of("expire"), on().Of("privsep"))
}

// group drops the members, which are fields of the users.
func group() table.Fields {
	return table.Join(text().Of("groupid"), note().Of("comment"), grants().Of("acl"), drop().Of("users members"))
}

func role() table.Fields {
	return table.Join(text().Of("roleid"), set().Of("privs"), off().Of("special"))
}

// realm returns the keys of all types of realms.
func realm() table.Fields {
	return table.Join(
		text().Of("realm type server1 server2 mode sslversion capath cert certkey domain base_dn bind_dn filter user_attr group_dn group_filter group_name_attr issuer-url client-id username-claim groups-claim prompt"),
		note().Of("comment"), off().Of("default secure verify autocreate groups-autocreate groups-overwrite"), drop().Of("plugin"),
		props("type", table.Join(text().Of("type id url"), number().Of("digits step"), secret().Of("key"))).Of("tfa"), number().Of("port"),
		on().Of("case-sensitive query-userinfo"), masked().Of("password"),
		set().Of("user_classes group_classes scopes acr-values audiences"), props("", nil).Of("sync_attributes"),
		props("", table.Join(text().Of("scope"), flag().Of("enable-new full purge"), set().Of("remove-vanished"))).Of("sync-defaults-options"),
		secret().Of("client-key"))
}

func pool() table.Fields {
	return table.Join(text().Of("poolid"), note().Of("comment"), drop().Of("members"))
}

func poolMember() table.Fields {
	return text().Of("pool type member")
}
