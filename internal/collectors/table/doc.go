// Package table defines tables with which collectors describe their kinds. A table contains the
// fields of an object, the notation of each field in the system's responses, how two values are
// compared, which values are secret, and the severity of drift.
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
// Package tabletest compares the resulting kinds with a golden file.
package table
