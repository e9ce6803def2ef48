package normalize

import (
	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

func defaultWhen(why string, where ...model.Condition) []defaultState {
	return []defaultState{{reason: why, where: where}}
}

func versioningDefaults() []defaultState {
	return append(defaultWhen("versioning was never switched on", table.Is("Status", "")),
		defaultWhen("object lock requires versioning", table.Is("Status", "Enabled"), table.Is("Locked", "true"))...)
}

func publicAccessDefaults() []defaultState {
	return defaultWhen("S3 blocks public access to every new bucket",
		table.Is("BlockPublicAcls", "true"), table.Is("BlockPublicPolicy", "true"), table.Is("IgnorePublicAcls", "true"), table.Is("RestrictPublicBuckets", "true"))
}

func notificationDefaults() []defaultState {
	return defaultWhen("no notifications are configured", table.Is("LambdaConfigurations.Function", ""), table.Is("QueueConfigurations.Queue", ""),
		table.Is("TopicConfigurations.Topic", ""), table.Is("EventBridgeEnabled", ""))
}
