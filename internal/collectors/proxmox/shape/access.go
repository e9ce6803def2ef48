package shape

// user are the keys of a user. Old versions keep the secrets of second factors
// in "keys".
func user() fields {
	return fields{
		"userid": text(), "enable": on(), "expire": epoch(), "firstname": text().low(), "lastname": text().low(),
		"email": text(), "comment": note(), "keys": secret(), "groups": set(), "acl": grants(),
		"realm-type": drop(), "tokens": drop(), "tfa-locked-until": drop(), "totp-locked": drop(),
	}
}

// grants are the rows of the access control list that name a user or a group.
func grants() form {
	return rows(props("", permission()), "path", "roleid")
}

func permission() fields {
	return fields{"path": text(), "roleid": text(), "ugid": text(), "type": text(), "propagate": on()}
}

func token() fields {
	return fields{"tokenid": text(), "comment": note(), "expire": epoch(), "privsep": on()}
}

// group leaves its members out: they are on the users.
func group() fields {
	return fields{"groupid": text(), "comment": note(), "acl": grants(), "users": drop(), "members": drop()}
}

func role() fields {
	return fields{"roleid": text(), "privs": set(), "special": off()}
}

// realm are the keys of all types of realms.
func realm() fields {
	return fields{
		"realm": text(), "type": text(), "comment": note(), "default": off(), "plugin": drop(),
		"tfa": props("type", fields{"type": text(), "digits": number(), "step": number(), "id": text(), "key": secret(), "url": text()}),

		"server1": text(), "server2": text(), "port": number(), "mode": text(), "secure": off(), "verify": off(),
		"sslversion": text(), "capath": text(), "cert": text(), "certkey": text(), "domain": text(), "case-sensitive": on(),
		"base_dn": text(), "bind_dn": text(), "password": masked(), "filter": text(), "user_attr": text(), "user_classes": set(),
		"group_dn": text(), "group_filter": text(), "group_classes": set(), "group_name_attr": text(),
		"sync_attributes": props("", fields{}),
		"sync-defaults-options": props("", fields{
			"scope": text(), "enable-new": flag(), "full": flag(), "purge": flag(), "remove-vanished": set(),
		}),

		"issuer-url": text(), "client-id": text(), "client-key": secret(), "autocreate": off(), "username-claim": text(),
		"groups-claim": text(), "groups-autocreate": off(), "groups-overwrite": off(), "query-userinfo": on(),
		"prompt": text(), "scopes": set(), "acr-values": set(), "audiences": set(),
	}
}

func pool() fields {
	return fields{"poolid": text(), "comment": note(), "members": drop()}
}

func poolMember() fields {
	return fields{"pool": text(), "type": text(), "member": text()}
}
