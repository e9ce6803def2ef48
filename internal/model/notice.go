package model

import "time"

// A MessageKind says why a receiver is told something.
type MessageKind string

// The kinds of messages.
const (
	NewMessage       MessageKind = "new"       // findings that nobody was told of
	ChangedMessage   MessageKind = "changed"   // what was told is different now
	ResolvedMessage  MessageKind = "resolved"  // what was told is over
	DecidedMessage   MessageKind = "decided"   // somebody, or a rule, wants no more told of it
	ReminderMessage  MessageKind = "reminder"  // what was told is still so
	UncheckedMessage MessageKind = "unchecked" // what could not be compared for too long
	DigestMessage    MessageKind = "digest"    // how it stands
	TestMessage      MessageKind = "test"      // somebody tries whether messages arrive
)

// News is what became of one finding since a receiver was last told of it.
type News string

// The news.
const (
	Appeared        News = "new"          // nobody was told of it
	Again           News = "again"        // it was over, and came back
	Altered         News = "changed"      // it shows something else, or is worse
	Reclassified    News = "reclassified" // it has another verdict
	Over            News = "resolved"     // a scan proved that it is over
	WasMerged       News = "merged"       // its fields belong to another finding now
	StartsToFlap    News = "flapping"     // it goes back and forth: single changes are not told
	Steady          News = "steady"       // it went back and forth, and stays as it is now
	WasAccepted     News = "accepted"     // somebody leaves it so
	WasSnoozed      News = "snoozed"      // somebody wants to hear of it later
	WasAcknowledged News = "acknowledged" // somebody is on it
	WasHidden       News = "ignored"      // a rule hides it now
	Returned        News = "returned"     // it was accepted, snoozed, acknowledged or ignored, and is not any more
	Standing        News = "open"         // nothing new
)

// An Item is one finding in a message. The finding is Public, and short: the
// worst of its changes come first, no more than MaxFields of them, with values
// cut to MaxValue characters.
type Item struct {
	News    News    `json:"news"`
	Finding Finding `json:"finding"`
	// Fields counts all changes.
	Fields int `json:"fields"`
	// Why says why it is told again, where it was accepted, snoozed,
	// acknowledged or ignored before, and what it was, where it was reclassified.
	Why string `json:"why,omitempty"`
	// WasVerdict and WasSeverity are what the receiver was last told of a finding
	// that was reclassified.
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

// A Message is what one receiver is told at one time. It holds no secret.
type Message struct {
	// Key is the same each time that the message is delivered, and no other's.
	Key      string      `json:"key"`
	Receiver string      `json:"receiver"`
	Kind     MessageKind `json:"kind"`
	At       time.Time   `json:"at"`
	// Thread is what all messages about the same findings share; First tells
	// the one that begins it.
	Thread string `json:"thread"`
	First  bool   `json:"first"`
	// Sequence numbers the messages of the thread, from 1.
	Sequence int `json:"sequence"`
	// Title says in one line what it is about, and Subject what the whole thread
	// is about as it stands.
	Title   string `json:"title"`
	Subject string `json:"subject"`
	// Severity is that of the worst of News, or else of All.
	Severity Severity `json:"severity"`
	// News are what is new, worst first; NewsCount counts those too that are
	// left out beyond MaxItems.
	News      []Item `json:"news"`
	NewsCount int    `json:"news_count"`
	// All are all findings of the thread as they stand, the open ones first, of
	// them the worst; as many as MaxItems, the counts count all.
	All           []Item `json:"all"`
	OpenCount     int    `json:"open_count"`
	MutedCount    int    `json:"muted_count"`
	ResolvedCount int    `json:"resolved_count"`
	// MergedCount counts those that were merged into a finding of another thread
	// or of this one.
	MergedCount int `json:"merged_count,omitempty"`
	// Quiet is set where nothing in News calls for attention: a finding is milder
	// than before, or was merged into another. A receiver that can edit brings
	// its earlier messages up to date; one that can only send drops the message.
	Quiet bool `json:"quiet,omitempty"`
	// Notes are lines beside the findings, as in a digest.
	Notes []string `json:"notes,omitempty"`
	// URL is where driftd's pages begin, or "".
	URL string `json:"url,omitempty"`
}

// MaxItems bounds the findings that one message lists.
const MaxItems = 20

// A Thread is what one receiver was told about findings that belong together.
type Thread struct {
	ID       string `json:"id"`
	Receiver string `json:"receiver"`
	// Group is what its findings have in common.
	Group string `json:"group"`
	// Opened is when it began, and Said when something was last said in it.
	Opened time.Time `json:"opened"`
	Said   time.Time `json:"said"`
	// Waits is since when there is news that the receiver may not get yet; zero
	// when there is none.
	Waits time.Time `json:"waits,omitzero"`
	// Sequence counts the messages.
	Sequence int `json:"sequence"`
	// Members are by the finding's ID.
	Members map[string]Notified `json:"members"`
}

// Notified is what a receiver was last told of a finding.
type Notified struct {
	News News `json:"news"`
	// Sequence is that of the message that told it.
	Sequence int      `json:"sequence"`
	Basis    string   `json:"basis"`
	Flapping bool     `json:"flapping,omitempty"`
	Severity Severity `json:"severity"`
	Verdict  Verdict  `json:"verdict"`
	Key
	Name string `json:"name"`
	// Decision is why it was told no more of it; nil where a rule hid it, or
	// nothing did.
	Decision *Decision `json:"decision,omitempty"`
}

// Open reports whether the receiver takes the finding for open.
func (t Notified) Open() bool { return !t.Ended() && !t.Muted() }

// Ended reports whether the receiver was told that the finding is over, or was
// merged into another.
func (t Notified) Ended() bool { return t.News == Over || t.News == WasMerged }

// Muted reports whether the receiver was told that somebody decided about it.
func (t Notified) Muted() bool {
	return t.News == WasAccepted || t.News == WasSnoozed || t.News == WasAcknowledged || t.News == WasHidden
}

// A Pace is how much a receiver was told lately.
type Pace struct {
	// Sent are the times of its last messages, oldest first.
	Sent []time.Time `json:"sent,omitempty"`
	// Digest is when its last daily digest was due. Where the clock was set back since, it
	// is an earlier time, and LastDigest stays: that digest is not told again.
	Digest     time.Time `json:"digest,omitzero"`
	LastDigest time.Time `json:"last_digest,omitzero"`
	// Held is since when it is not told of something because of quiet hours;
	// zero when nothing is held.
	Held time.Time `json:"held,omitzero"`
	// Untold counts the findings of which it may not be told yet, because of
	// quiet hours or its rate.
	Untold int `json:"untold,omitempty"`
}

// Notices are what receivers were told, as far as that matters for what they
// are told next.
type Notices struct {
	Threads []Thread
	// Paces are by receiver.
	Paces map[string]Pace
}

// A NoticeChange is what planning messages changes: it is kept as a whole, with
// the findings that it comes from.
type NoticeChange struct {
	// Threads are new or changed; Gone are the IDs of those to forget.
	Threads []Thread
	Gone    []string
	// Paces that changed, by receiver.
	Paces map[string]Pace
	// Messages are to be delivered, in this order.
	Messages []Message
}

// Empty reports whether nothing changed.
func (c *NoticeChange) Empty() bool {
	return len(c.Threads)+len(c.Gone)+len(c.Paces)+len(c.Messages) == 0
}

// An OutboxEntry is a message on its way.
type OutboxEntry struct {
	Message Message
	// Begun reports that a delivery was begun before, and nobody knows whether
	// the message arrived.
	Begun bool
	// Receipt is what the receiver said when the thread's first message
	// arrived; "" before.
	Receipt string
}

// A Queue is what waits to be delivered to one receiver.
type Queue struct {
	Length int
	// Oldest is when the first of it was to be said; zero for none.
	Oldest time.Time
	// Untold counts the findings of which it may not be told yet.
	Untold int
}

// A ReceiverStatus is how it stands with one receiver.
type ReceiverStatus struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Queued counts the messages that wait; Oldest is when the first of them was
	// to be said.
	Queued int       `json:"queued"`
	Oldest time.Time `json:"oldest,omitzero"`
	// Untold counts the findings of which it may not be told yet, because of
	// quiet hours or its rate.
	Untold int `json:"untold"`
	// Delivered is when it last took something; zero for never since the start.
	Delivered time.Time `json:"delivered,omitzero"`
	// Error is why the last delivery failed, with what to do; "" when it did
	// not.
	Error string `json:"error,omitempty"`
	// Stopped reports that nothing more is sent, or that answers are not heard any
	// more, until somebody has looked: no repetition would help.
	Stopped bool `json:"stopped,omitempty"`
}
