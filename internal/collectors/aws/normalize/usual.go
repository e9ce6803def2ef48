package normalize

import (
	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

func always(why string, where ...model.Condition) []usual { return []usual{{why: why, where: where}} }

func versioningUsual() []usual {
	return append(always("versioning was never switched on", table.Is("Status", "")),
		always("object lock keeps every version", table.Is("Status", "Enabled"), table.Is("Locked", "true"))...)
}

func publicAccessUsual() []usual {
	return always("S3 blocks public access to every new bucket",
		table.Is("BlockPublicAcls", "true"), table.Is("BlockPublicPolicy", "true"), table.Is("IgnorePublicAcls", "true"), table.Is("RestrictPublicBuckets", "true"))
}

func notificationUsual() []usual {
	return always("nothing is told to anybody", table.Is("LambdaConfigurations.Function", ""), table.Is("QueueConfigurations.Queue", ""),
		table.Is("TopicConfigurations.Topic", ""), table.Is("EventBridgeEnabled", ""))
}
