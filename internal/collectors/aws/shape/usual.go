package shape

import "github.com/driftd/driftd/internal/model"

func always(why string, where ...model.Condition) []usual { return []usual{{why: why, where: where}} }

func versioningUsual() []usual {
	return append(always("versioning was never switched on", is("Status", "")),
		always("object lock keeps every version", is("Status", "Enabled"), is("Locked", "true"))...)
}

func publicAccessUsual() []usual {
	return always("S3 blocks public access to every new bucket",
		is("BlockPublicAcls", "true"), is("BlockPublicPolicy", "true"), is("IgnorePublicAcls", "true"), is("RestrictPublicBuckets", "true"))
}

func notificationUsual() []usual {
	return always("nothing is told to anybody", is("LambdaConfigurations.Function", ""), is("QueueConfigurations.Queue", ""),
		is("TopicConfigurations.Topic", ""), is("EventBridgeEnabled", ""))
}
