package cloudtrail

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

const (
	// maxReceives bounds the requests of a scan, which return up to ten messages each.
	maxReceives = 200
	// maxDrain bounds the time in which a scan receives messages: a queue that is filled as fast is
	// never empty.
	maxDrain = 30 * time.Second
	// hidden is how long received messages are hidden: longer than a reading of the queue takes,
	// so that it receives none twice.
	hidden = 2 * time.Minute
	// retention is how long a queue keeps messages by default.
	retention = 4 * 24 * time.Hour
)

// A queueState is since when the events of a queue are known, and when it was last read.
type queueState struct {
	Of           string    `json:",omitempty"`
	Since, Until time.Time `json:",omitzero"`
}

// A drain is one reading of a queue that EventBridge fills with the events of CloudTrail.
type drain struct {
	copied

	client Client
	// region is that of the queue.
	region, url string

	// begun is when the reading began.
	begun time.Time
	// received is the number of messages.
	received int
	// late is the time at which SQS got the newest event after the scan began; zero if there is none.
	late time.Time

	found []record
	size  int
	// handled are the receipts of messages with events of the account.
	handled []string
	// strange is the number of messages that are no events of CloudTrail, and one is the ID of
	// one of them.
	strange int
	one     string
}

// sqs returns the service of queues.
func sqs() *awsapi.Service {
	return &awsapi.Service{ID: "sqs", Protocol: awsapi.JSON, Version: "1.0", Target: "AmazonSQS", Rate: 100}
}

// newDrain returns a reading of the queue of an ARN. The requests go to SQS in the region of
// the ARN.
func newDrain(c copied, client Client, arn string) *drain {
	c.place = "the queue " + arn
	d := &drain{copied: c, client: client, begun: time.Now()}
	d.region, d.url = address(client, arn)
	return d
}

// address returns the region and the URL of the queue of an ARN.
func address(client Client, arn string) (region, url string) {
	parts := strings.SplitN(arn, ":", 6)
	return parts[3], client.Endpoint(sqs(), parts[3]) + "/" + parts[4] + "/" + parts[5]
}

// read receives messages until there are none; more reports whether some may be left. After
// messages that are too large together, it receives them one by one.
func (d *drain) read(ctx context.Context) (more bool, err error) {
	number := 10
	for range maxReceives {
		answer, err := d.client.Do(ctx, d.region, &awsapi.Call{Service: sqs(), Action: "ReceiveMessage", Input: map[string]any{
			"QueueUrl": d.url, "MaxNumberOfMessages": number, "VisibilityTimeout": int(hidden / time.Second), "WaitTimeSeconds": 1,
			"AttributeNames": []string{sentAt},
		}})
		if _, large := errors.AsType[*httpclient.TooLarge](err); large && number > 1 {
			number = 1
			continue
		}
		messages := answer.At("Messages").Items()
		if err != nil || len(messages) == 0 {
			return false, err
		}
		for _, m := range messages {
			d.take(m)
		}
		if d.size > maxRead || time.Since(d.begun) > maxDrain {
			break
		}
	}
	return true, nil
}

// take decodes a message. It is left in the queue if it is no event of CloudTrail or if its event is of
// another account, because the queue may be the wrong one.
func (d *drain) take(message model.Value) {
	d.received++
	event, err := decode.JSON([]byte(message.At("Body").Str()))
	detail := event.At("detail")
	region := event.At("region").Str()
	// EventBridge accepts a source that begins with "aws." from AWS alone.
	if err != nil || !strings.HasSuffix(event.At("detail-type").Str(), " via CloudTrail") || !strings.HasPrefix(event.At("source").Str(), "aws.") ||
		detail.At("awsRegion").Str() != region || detail.At("eventID").Str() == "" {
		d.strange++
		d.one = printable.Text(message.At("MessageId").Str())
		return
	}
	if event.At("account").Text() != d.account.Number {
		return
	}
	d.handled = append(d.handled, message.At("ReceiptHandle").Str())
	sent := d.sent(message)
	if sent.After(d.now) {
		d.late = model.Later(d.late, sent)
	}
	if r, ok := d.decode(detail, region, sent); ok {
		d.found = append(d.found, r)
		d.size += r.size()
	}
}

// sentAt is the attribute with the time at which SQS got a message, in milliseconds since 1970.
const sentAt = "SentTimestamp"

// sent returns when a message was sent; now if the server does not return it.
func (d *drain) sent(message model.Value) time.Time {
	at, err := strconv.ParseInt(message.At("Attributes", sentAt).Text(), 10, 64)
	if err != nil {
		return d.now
	}
	return time.UnixMilli(at)
}

// remove deletes the handled messages, and returns how many were deleted. The others are received
// again, and their events are known then.
func (d *drain) remove(ctx context.Context) (deleted int, err error) {
	var left error
	for batch := range slices.Chunk(d.handled, 10) {
		entries := make([]map[string]string, len(batch))
		for i, receipt := range batch {
			entries[i] = map[string]string{"Id": strconv.Itoa(i), "ReceiptHandle": receipt}
		}
		answer, err := d.client.Do(ctx, d.region, &awsapi.Call{Service: sqs(), Action: "DeleteMessageBatch", Input: map[string]any{"QueueUrl": d.url, "Entries": entries}})
		if err != nil {
			return deleted, err
		}
		failed := answer.At("Failed").Items()
		deleted += len(batch) - min(len(failed), len(batch))
		if len(failed) > 0 {
			left = errors.New(printable.Text(cmp.Or(failed[0].At("Code").Str(), "the answer has no code")))
		}
	}
	return deleted, left
}

// queueReason returns why an operation on a queue failed, and what to do.
func queueReason(err error, right string) string {
	text := printable.Text(err.Error())
	switch code := awsapi.CodeOf(err); {
	case collectors.Ended(err) != "":
		return collectors.Ended(err)
	case awsapi.Denied(err) && strings.Contains(strings.ToLower(text), "kms"):
		return text + "; grant kms:Decrypt on the key of the queue"
	case awsapi.Denied(err):
		return text + "; grant " + right + ", also in the policy of a queue of another account"
	case code == "QueueDoesNotExist" || strings.HasSuffix(code, "NonExistentQueue"):
		return text + "; correct audit.queue"
	}
	return text
}
