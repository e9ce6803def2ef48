// Package table is the language in which collectors describe their kinds: which
// fields an object has, how the system writes each of them, how two values compare,
// which values are secret, and how drift is rated. A collector's tables are data in
// this language.
//
//	fields := table.Join(
//		table.Plain().Of("name status"),
//		table.Plain().High("decides who can log in").Of("key_name"),
//		table.Set(table.Plain()).Of("security_groups"),
//		table.Secret().Of("user_data"))
//	context := &table.Context{Sealer: sealer, Plain: table.AsSent}
//	value := model.MapOf(fields.Read(context, row, nil)...)
//	kind := &model.Kind{Name: "cloud/server", Schema: fields.Schema(), Severities: fields.Rules(table.Edited())}
//
// A form is a Go value: the name of a form that does not exist does not compile.
// Package tabletest holds the result to a golden file.
package table
