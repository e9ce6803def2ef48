package model

import "time"

// A MessageKind is the reason for sending a message.
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

// A News is the change of one finding since the last message to a receiver.
type News string

// The kinds of news.
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

// An Item is one finding in a message. Finding is in its published form, with only the MaxFields
// worst changes, and with values cut to MaxValue characters.
type Item struct {
	News    News    `json:"news"`
	Finding Finding `json:"finding"`
	// Fields is the number of all changes.
	Fields int `json:"fields"`
	// Why is the reason why the finding is reported again after a decision or a rule, or the
	// earlier verdict if the finding was reclassified.
	Why string `json:"why,omitempty"`
	// WasVerdict and WasSeverity are the verdict and severity in the last message, if the finding
	// was reclassified since.
	WasVerdict  Verdict  `json:"was_verdict,omitempty"`
	WasSeverity Severity `json:"was_severity,omitempty"`
}

// Worse reports whether the finding was reclassified and has a worse severity than before.
func (it *Item) Worse() bool {
	return it.WasSeverity != "" && it.Finding.Severity.Rank() < it.WasSeverity.Rank()
}

// These constants limit an Item: the number of changes, and the length of a value in characters.
const (
	MaxFields = 10
	MaxValue  = 500
)

// A Message is one notification to one receiver. It contains no secrets.
type Message struct {
	// Key identifies the message. It is the same in repeated deliveries.
	Key      string      `json:"key"`
	Receiver string      `json:"receiver"`
	Kind     MessageKind `json:"kind"`
	At       time.Time   `json:"at"`
	// Thread is the ID that all messages about the same findings share. First reports whether the
	// message is the first of the thread.
	Thread string `json:"thread"`
	First  bool   `json:"first"`
	// Sequence is the number of the message within the thread, starting at 1.
	Sequence int `json:"sequence"`
	// Title is one line that summarizes the message, and Subject one line that summarizes the
	// current state of the thread.
	Title   string `json:"title"`
	Subject string `json:"subject"`
	// Severity is the worst severity in News or, if News is empty, in All.
	Severity Severity `json:"severity"`
	// News lists the changed findings, worst first, at most MaxItems. NewsCount is the number of
	// all changed findings.
	News      []Item `json:"news"`
	NewsCount int    `json:"news_count"`
	// All lists the findings of the thread in their current state, at most MaxItems: open ones
	// first, and then by severity, worst first. The counts include the findings that are not
	// listed.
	All           []Item `json:"all"`
	OpenCount     int    `json:"open_count"`
	MutedCount    int    `json:"muted_count"`
	ResolvedCount int    `json:"resolved_count"`
	// MergedCount is the number of findings that were merged into another one.
	MergedCount int `json:"merged_count,omitempty"`
	// Quiet reports whether nothing in News requires attention, because findings only became less
	// severe or were merged. A receiver that can edit messages updates its earlier ones; other
	// receivers drop the message.
	Quiet bool `json:"quiet,omitempty"`
	// Notes lists additional lines, as in a digest.
	Notes []string `json:"notes,omitempty"`
	// URL is the address of the web page of the message; "" if there is none.
	URL string `json:"url,omitempty"`
	// Action is the action of an ActionMessage; nil for other kinds. Parent is the ID of the thread
	// of the action's finding; "" if the receiver has no such thread.
	Action *ActionNotice `json:"action,omitempty"`
	Parent string        `json:"parent,omitempty"`
}

// ActionThread is the prefix of the ID of the thread of an action's messages. The ID of the action
// follows it.
const ActionThread = "action-"

// An ActionNotice describes an action in a message. It contains no secrets.
type ActionNotice struct {
	ID string `json:"id"`
	// State is the state of the action, and Outcome its result as text.
	State   string `json:"state"`
	Outcome string `json:"outcome,omitempty"`
	// Waits reports whether the action waits for an approval, Converged whether the resource is now
	// as declared, Alarm whether a person must check the result, and Known whether a person ended
	// the action before it changed anything.
	Waits     bool `json:"waits"`
	Converged bool `json:"converged"`
	Alarm     bool `json:"alarm"`
	Known     bool `json:"known,omitempty"`
	// Digest is the digest of the planned changes, which an approval refers to.
	Digest string `json:"digest"`
	// Finding is the ID of the finding that the action puts back, and Resource the key of the
	// resource.
	Finding  string `json:"finding"`
	Resource Key    `json:"resource"`
	Name     string `json:"name"`
	// Changes lists the fields that the action changes, at most MaxFields. Recorded is the value
	// before and Live the value after the action; nil means absent. Fields is the number of all
	// changed fields.
	Changes []Change `json:"changes"`
	Fields  int      `json:"fields"`
	// Also lists the resources of the findings that the action puts back in addition, at most
	// MaxFields. Others is the number of all of them.
	Also   []Key `json:"also,omitempty"`
	Others int   `json:"others,omitempty"`
	// Creates reports whether the action creates the resource, and Deletes whether it deletes it.
	// Restarts describes what the action restarts. Unseen reports whether driftd never observed the
	// declared values live.
	Creates bool `json:"creates,omitempty"`
	Deletes bool `json:"deletes,omitempty"`
	// Asks describes the tool that makes the changes and the request to it; "" if driftd makes
	// them.
	Asks string `json:"asks,omitempty"`
	// Records reports whether the action changes the declaration instead of the resource.
	Records  bool   `json:"records,omitempty"`
	Restarts string `json:"restarts,omitempty"`
	// AfterRestart describes the changes that take effect only after a restart.
	AfterRestart string `json:"after_restart,omitempty"`
	// Requests describes the requests in the order in which they are sent; empty if one request
	// makes all changes.
	Requests []string `json:"requests,omitempty"`
	Unseen   bool     `json:"unseen,omitempty"`
	// Endpoint is the address of the system, and Identity the user that writes to it.
	Endpoint string `json:"endpoint"`
	Identity string `json:"identity"`
	// Author is the actor that caused the drift; "" if unknown. Rule is the rule that allows the
	// action. By is the person who requested it; "" for driftd itself. Reason is the reason that
	// the person gave.
	Author string `json:"author,omitempty"`
	Rule   string `json:"rule"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Approvers lists the persons who approved the action. Needed is the number of approvals that
	// it needs.
	Approvers []string  `json:"approvers,omitempty"`
	Needed    int       `json:"needed"`
	Expires   time.Time `json:"expires,omitzero"`
	// Step increases with each event of the action, so that later notices have higher numbers.
	Step int `json:"step"`
}

// Whole reports whether the notice contains all that the action does.
func (n *ActionNotice) Whole() bool { return n.Fields == len(n.Changes) && n.Others == len(n.Also) }

// MaxItems is the maximum number of findings that one list of a message contains.
const MaxItems = 20

// A Thread describes the notifications to one receiver about a group of findings.
type Thread struct {
	ID       string `json:"id"`
	Receiver string `json:"receiver"`
	// Group is the key by which the findings are grouped.
	Group string `json:"group"`
	// Opened is the time of the first message, and LastSent that of the last one.
	Opened   time.Time `json:"opened"`
	LastSent time.Time `json:"said"`
	// Waits is the time since which news is held back; zero if none is.
	Waits time.Time `json:"waits,omitzero"`
	// Sequence is the number of messages so far.
	Sequence int `json:"sequence"`
	// Members maps the IDs of findings to the last notification about each.
	Members map[string]Notified `json:"members"`
}

// A Notified is the last notification to a receiver about a finding.
type Notified struct {
	News News `json:"news"`
	// Sequence is the Sequence of the message.
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

// Muted reports whether the last notification about the finding was that a decision or a rule ends
// the notifications.
func (t Notified) Muted() bool {
	return t.News == WasAccepted || t.News == WasSnoozed || t.News == WasAcknowledged || t.News == WasHidden
}

// A Pace is the recent rate of notifications to a receiver.
type Pace struct {
	// Sent lists the times of the last messages, oldest first.
	Sent []time.Time `json:"sent,omitempty"`
	// Digest is the time at which the last daily digest was due. If the clock is set back, Digest
	// becomes earlier but LastDigest does not, so that the digest is not sent twice.
	Digest     time.Time `json:"digest,omitzero"`
	LastDigest time.Time `json:"last_digest,omitzero"`
	// Held is the time since which quiet hours hold notifications back; zero if they do not.
	Held time.Time `json:"held,omitzero"`
	// Untold is the number of findings whose notifications are held back by quiet hours or by the
	// rate limit.
	Untold int `json:"untold,omitempty"`
}

// Notices is the state of earlier notifications that planning depends on.
type Notices struct {
	Threads []Thread
	// Paces maps the names of receivers to their paces.
	Paces map[string]Pace
}

// A NoticeChange is the result of planning notifications. It is saved in one transaction with the
// findings.
type NoticeChange struct {
	// Threads lists new and changed threads, and Gone the IDs of removed ones.
	Threads []Thread
	Gone    []string
	// Paces contains the changed paces, by receiver.
	Paces map[string]Pace
	// Messages lists the messages to queue, in this order.
	Messages []Message
}

// Empty reports whether nothing changed.
func (c *NoticeChange) Empty() bool {
	return len(c.Threads)+len(c.Gone)+len(c.Paces)+len(c.Messages) == 0
}

// An OutboxEntry is a message that was not delivered yet.
type OutboxEntry struct {
	Message Message
	// Begun reports whether an earlier delivery was begun, which may have succeeded.
	Begun bool
	// Receipt is the receiver's receipt for the first message of the thread; "" before that message
	// is delivered. Parent is the receipt for the first message of Message.Parent.
	Receipt, Parent string
}

// A Queue describes the messages that are queued for one receiver.
type Queue struct {
	Length int
	// Oldest is the time at which the oldest queued message was planned; zero if the queue is
	// empty.
	Oldest time.Time
	// Untold is the number of findings whose notifications are held back.
	Untold int
}

// A ReceiverStatus is the state of one receiver.
type ReceiverStatus struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Queued is the number of queued messages, and Oldest the time at which the oldest one was
	// planned; zero if there is none.
	Queued int       `json:"queued"`
	Oldest time.Time `json:"oldest,omitzero"`
	// Untold is the number of findings whose notifications are held back by quiet hours or by the
	// rate limit.
	Untold int `json:"untold"`
	// Delivered is the time of the last successful delivery; zero if there was none since the
	// start.
	Delivered time.Time `json:"delivered,omitzero"`
	// Error is the reason why the last delivery failed, with the next step; "" if it succeeded.
	Error string `json:"error,omitempty"`
	// Stopped reports whether deliveries or answers have stopped until the configuration is changed
	// or driftd is restarted, because a retry cannot resolve the error.
	Stopped bool `json:"stopped,omitempty"`
}
