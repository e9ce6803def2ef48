package model

import "time"

// A MessageKind is the reason of a message.
type MessageKind string

// The kinds of messages.
const (
	NewMessage       MessageKind = "new"       // New findings.
	ChangedMessage   MessageKind = "changed"   // Findings changed since the last message.
	ResolvedMessage  MessageKind = "resolved"  // Findings were resolved.
	DecidedMessage   MessageKind = "decided"   // A decision or a rule ends the notifications.
	ReminderMessage  MessageKind = "reminder"  // Findings are still open.
	UncheckedMessage MessageKind = "unchecked" // Resources were not compared for too long.
	DigestMessage    MessageKind = "digest"    // The daily summary.
	TestMessage      MessageKind = "test"      // A test of the receiver.
	ActionMessage    MessageKind = "action"    // An action is proposed, or has another state.
)

// News is the change of one finding since the last message to a receiver.
type News string

// The news.
const (
	Appeared        News = "new"          // It is new to the receiver.
	Again           News = "again"        // It returned after it was resolved.
	Altered         News = "changed"      // It has other values, or is worse.
	Reclassified    News = "reclassified" // It has another verdict.
	Over            News = "resolved"     // A scan proved that it is over.
	WasMerged       News = "merged"       // Another finding has its fields.
	StartsToFlap    News = "flapping"     // It is flapping: single changes are not reported.
	Steady          News = "steady"       // It is not flapping any more.
	WasAccepted     News = "accepted"     // It was accepted.
	WasSnoozed      News = "snoozed"      // It was snoozed.
	WasAcknowledged News = "acknowledged" // It was acknowledged.
	WasHidden       News = "ignored"      // A rule hides it.
	Returned        News = "returned"     // A decision or a rule does not hold any more.
	Standing        News = "open"         // It did not change.
)

// An Item is one finding in a message. The finding is Public, with the worst MaxFields of
// its changes, and values of at most MaxValue characters.
type Item struct {
	News    News    `json:"news"`
	Finding Finding `json:"finding"`
	// Fields counts all changes.
	Fields int `json:"fields"`
	// Why is why it is reported again after a decision or a rule, or its earlier verdict if
	// it was reclassified.
	Why string `json:"why,omitempty"`
	// WasVerdict and WasSeverity are those of the last message about a reclassified
	// finding.
	WasVerdict  Verdict  `json:"was_verdict,omitempty"`
	WasSeverity Severity `json:"was_severity,omitempty"`
}

// Worse reports whether the finding was reclassified to a worse severity.
func (it *Item) Worse() bool {
	return it.WasSeverity != "" && it.Finding.Severity.Rank() < it.WasSeverity.Rank()
}

// Bounds of an Item.
const (
	MaxFields = 10
	MaxValue  = 500
)

// A Message is one notification to one receiver. It contains no secret.
type Message struct {
	// Key identifies the message; it is the same for repeated deliveries.
	Key      string      `json:"key"`
	Receiver string      `json:"receiver"`
	Kind     MessageKind `json:"kind"`
	At       time.Time   `json:"at"`
	// Thread is common to all messages about the same findings; First reports whether the
	// message is the first one.
	Thread string `json:"thread"`
	First  bool   `json:"first"`
	// Sequence numbers the messages of the thread, from 1.
	Sequence int `json:"sequence"`
	// Title is a line about the message, Subject one about the present state of the
	// thread.
	Title   string `json:"title"`
	Subject string `json:"subject"`
	// Severity is the worst of News, or else of All.
	Severity Severity `json:"severity"`
	// News are the changed findings, worst first. NewsCount also counts those beyond
	// MaxItems.
	News      []Item `json:"news"`
	NewsCount int    `json:"news_count"`
	// All are the findings of the thread in their present state, open ones first, worst
	// first, at most MaxItems. The counts are of all.
	All           []Item `json:"all"`
	OpenCount     int    `json:"open_count"`
	MutedCount    int    `json:"muted_count"`
	ResolvedCount int    `json:"resolved_count"`
	// MergedCount counts those that were merged into another finding.
	MergedCount int `json:"merged_count,omitempty"`
	// Quiet reports whether nothing in News requires attention: a finding is milder than
	// before, or was merged. A receiver that can edit messages updates its earlier ones;
	// another one drops the message.
	Quiet bool `json:"quiet,omitempty"`
	// Notes are additional lines, as in a digest.
	Notes []string `json:"notes,omitempty"`
	// URL is the address of the web page, or "".
	URL string `json:"url,omitempty"`
	// Action is the action of an ActionMessage; nil for other kinds. Parent is the thread of its
	// finding; "" if the receiver has none.
	Action *ActionNotice `json:"action,omitempty"`
	Parent string        `json:"parent,omitempty"`
}

// ActionThread begins the ID of the thread of an action's messages. The ID of the action follows.
const ActionThread = "action-"

// An ActionNotice is what a message shows of an action. It contains no secret.
type ActionNotice struct {
	ID string `json:"id"`
	// State is the state of the action, and Outcome what came of it, in words.
	State   string `json:"state"`
	Outcome string `json:"outcome,omitempty"`
	// Waits reports whether it waits for an approval, Converged whether the resource is as declared, Alarm
	// whether a person has to look at what it did, and Known whether people ended it before it did
	// anything.
	Waits     bool `json:"waits"`
	Converged bool `json:"converged"`
	Alarm     bool `json:"alarm"`
	Known     bool `json:"known,omitempty"`
	// Digest is the digest of what it does, which an approval names.
	Digest string `json:"digest"`
	// Finding is the ID of the finding that it puts back, and Resource the resource.
	Finding  string `json:"finding"`
	Resource Key    `json:"resource"`
	Name     string `json:"name"`
	// Changes are the fields that it changes, at most MaxFields: Recorded is the value before, Live the
	// value after, nil for none. Fields counts all.
	Changes []Change `json:"changes"`
	Fields  int      `json:"fields"`
	// Creates reports whether the resource is created, and Deletes whether it is deleted. Restarts is what restarts, in words.
	// Unseen reports whether driftd never saw the declared values live.
	Creates bool `json:"creates,omitempty"`
	Deletes bool `json:"deletes,omitempty"`
	// Asks is the tool that is asked to make the changes, and for what, in words; "" if driftd makes them.
	Asks string `json:"asks,omitempty"`
	// Records reports whether the declaration is changed, and not the resource.
	Records  bool   `json:"records,omitempty"`
	Restarts string `json:"restarts,omitempty"`
	// AfterRestart is what takes effect only after a restart, in words.
	AfterRestart string `json:"after_restart,omitempty"`
	// Requests are the requests one after the other, in words; empty if one makes all changes.
	Requests []string `json:"requests,omitempty"`
	Unseen   bool     `json:"unseen,omitempty"`
	// Endpoint is the address of the system, and Identity the user that writes to it.
	Endpoint string `json:"endpoint"`
	Identity string `json:"identity"`
	// Author is who made the drift; "" if unknown. Rule allows the action. By is the person who asked for it, "" for driftd itself, and Reason why.
	Author string `json:"author,omitempty"`
	Rule   string `json:"rule"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Approvers are the persons who approved it, of the number Needed.
	Approvers []string  `json:"approvers,omitempty"`
	Needed    int       `json:"needed"`
	Expires   time.Time `json:"expires,omitzero"`
	// Step counts what happened to it, so that later notices have higher numbers.
	Step int `json:"step"`
}

// MaxItems bounds the findings that one message lists.
const MaxItems = 20

// A Thread has the notifications to one receiver about a group of findings.
type Thread struct {
	ID       string `json:"id"`
	Receiver string `json:"receiver"`
	// Group is what its findings have in common.
	Group string `json:"group"`
	// Opened is the time of its first message, LastSent that of the last one.
	Opened   time.Time `json:"opened"`
	LastSent time.Time `json:"said"`
	// Waits is since when there is news that is held back; zero if there is none.
	Waits time.Time `json:"waits,omitzero"`
	// Sequence counts the messages.
	Sequence int `json:"sequence"`
	// Members are by the finding's ID.
	Members map[string]Notified `json:"members"`
}

// Notified is the last notification to a receiver about a finding.
type Notified struct {
	News News `json:"news"`
	// Sequence is that of the message.
	Sequence int      `json:"sequence"`
	Basis    string   `json:"basis"`
	Flapping bool     `json:"flapping,omitempty"`
	Severity Severity `json:"severity"`
	Verdict  Verdict  `json:"verdict"`
	Key
	Name string `json:"name"`
	// Decision is the decision that ended the notifications; nil if there is none.
	Decision *Decision `json:"decision,omitempty"`
}

// Open reports whether the finding was open in the last notification.
func (t Notified) Open() bool { return !t.Ended() && !t.Muted() }

// Ended reports whether the finding was resolved or merged in the last notification.
func (t Notified) Ended() bool { return t.News == Over || t.News == WasMerged }

// Muted reports whether the finding was hidden or decided about in the last notification.
func (t Notified) Muted() bool {
	return t.News == WasAccepted || t.News == WasSnoozed || t.News == WasAcknowledged || t.News == WasHidden
}

// A Pace is the recent rate of notifications to a receiver.
type Pace struct {
	// Sent are the times of its last messages, oldest first.
	Sent []time.Time `json:"sent,omitempty"`
	// Digest is when its last daily digest was due. If the clock was set back since, it is
	// an earlier time, and LastDigest stays: that digest is not sent again.
	Digest     time.Time `json:"digest,omitzero"`
	LastDigest time.Time `json:"last_digest,omitzero"`
	// Held is since when notifications are held back by quiet hours; zero if none are.
	Held time.Time `json:"held,omitzero"`
	// Untold counts the findings whose notifications are held back by quiet hours or the
	// rate.
	Untold int `json:"untold,omitempty"`
}

// Notices are the earlier notifications that later ones depend on.
type Notices struct {
	Threads []Thread
	// Paces are by receiver.
	Paces map[string]Pace
}

// A NoticeChange is the result of planning notifications. It is saved in one transaction
// with the findings.
type NoticeChange struct {
	// Threads are new or changed; Gone are the IDs of removed ones.
	Threads []Thread
	Gone    []string
	// Paces that changed, by receiver.
	Paces map[string]Pace
	// Messages are queued in this order.
	Messages []Message
}

// Empty reports whether nothing changed.
func (c *NoticeChange) Empty() bool {
	return len(c.Threads)+len(c.Gone)+len(c.Paces)+len(c.Messages) == 0
}

// An OutboxEntry is a message that is not delivered yet.
type OutboxEntry struct {
	Message Message
	// Begun reports whether a delivery was begun before, and may have succeeded.
	Begun bool
	// Receipt is the receiver's receipt for the thread's first message; "" before. Parent is the one for
	// the first message of Message.Parent.
	Receipt, Parent string
}

// A Queue describes the messages that are queued for one receiver.
type Queue struct {
	Length int
	// Oldest is when the first message was planned; zero if there is none.
	Oldest time.Time
	// Untold counts the findings whose notifications are held back.
	Untold int
}

// A ReceiverStatus is the state of one receiver.
type ReceiverStatus struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Queued counts the queued messages; Oldest is when the first one was planned.
	Queued int       `json:"queued"`
	Oldest time.Time `json:"oldest,omitzero"`
	// Untold counts the findings whose notifications are held back by quiet hours or the
	// rate.
	Untold int `json:"untold"`
	// Delivered is when it last accepted a message; zero if it did not since the start.
	Delivered time.Time `json:"delivered,omitzero"`
	// Error is why the last delivery failed, with the next step; "" if it succeeded.
	Error string `json:"error,omitempty"`
	// Stopped reports whether deliveries, or answers, have stopped until a configuration
	// or a restart resolves the error: a retry would not.
	Stopped bool `json:"stopped,omitempty"`
}
