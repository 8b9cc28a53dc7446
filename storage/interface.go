package storage

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/versioner"
)

// Interface stores the objects of one resource. All methods are safe for
// concurrent use and honour the context's end, except that a write which was
// sent is finished although the context is canceled. A write whose outcome is
// not known because the deadline passed or the connection broke after it was
// sent returns an UnknownOutcomeError, and is not sent again.
type Interface interface {
	// Versioner returns the versioner that stamps this store's objects.
	Versioner() versioner.Versioner

	// Create writes obj under key if nothing is there: ErrExists otherwise.
	// obj is not changed; it must carry no resourceVersion.
	Create(ctx context.Context, key string, obj runtime.Object, opts CreateOptions) (*Entry, error)

	// Get returns the entry under key, or ErrNotFound.
	Get(ctx context.Context, key string, opts GetOptions) (*Entry, error)

	// GetList returns the entry under key, or everything below it, in the
	// order of keys. An empty result is not an error. ErrCompacted: the
	// revision asked for, or that of the continue token, is gone.
	// ErrFutureRevision: it is not there yet. *CorruptListError: objects below
	// key are known to be corrupt; the page has the others up to there.
	GetList(ctx context.Context, key string, opts ListOptions) (*Page, error)

	// Watch reports what happens to key, or to everything below it, from the
	// revision asked for. Errors after the start arrive as the last event.
	Watch(ctx context.Context, key string, opts WatchOptions) (Watcher, error)

	// GuaranteedUpdate brings the object under key to the state that propose
	// makes of the current one, as one atomic step: the write happens only if
	// the key has not changed since; if it has, propose is called again with
	// what is there now. So propose may run several times and must not keep
	// anything from one run to the next.
	//
	// A proposal that encodes to the bytes already stored writes nothing and
	// keeps the version. Errors of propose are returned as they are. An error,
	// or a proposal that changes nothing, which propose made of opts.Suggestion
	// counts only after a fresh read confirms that the suggestion is current.
	GuaranteedUpdate(ctx context.Context, key string, propose ProposeFunc, opts UpdateOptions) (*UpdateResult, error)

	// Delete removes key and returns its last state, stamped with the revision of the deletion. It
	// is a GuaranteedUpdate whose proposal deletes; a deletion with conditions of its own, or a
	// dry run of one, is such a proposal. The error for an absent key is ErrNotFound.
	Delete(ctx context.Context, key string, opts DeleteOptions) (*Entry, error)

	// Count returns how many keys are below key.
	Count(ctx context.Context, key string) (int64, error)
}

// Codec turns objects into the bytes at rest and back. Encode must be
// deterministic, for an update that changes nothing is found by its bytes, and
// must not change the object. Both are safe for concurrent use.
type Codec interface {
	Encode(obj runtime.Object) ([]byte, error)
	// Decode returns the object of data. An error that is a Status says that
	// data is sound, but cannot be used at present.
	Decode(data []byte) (runtime.Object, error)
}

// ContextCodec is a Codec whose Decode may wait for another process, such as a
// conversion webhook.
type ContextCodec interface {
	Codec
	// DecodeContext is Decode that does not wait longer than ctx.
	DecodeContext(ctx context.Context, data []byte) (runtime.Object, error)
}

// MessageCodec is a Codec whose bytes at rest may hold the object in protobuf.
type MessageCodec interface {
	Codec
	// Message returns the object's protobuf message, a part of data. False
	// where data holds none, or none of what Decode would return.
	Message(data []byte) ([]byte, bool)
}

// CreateOptions are the options of Interface.Create.
type CreateOptions struct {
	// TTL in seconds after which the object disappears; 0: it stays.
	TTL int64
	// DryRun checks everything and writes nothing. The entry's revision is 0.
	DryRun bool
}

// GetOptions are the options of Interface.Get.
type GetOptions struct {
	// ResourceVersion: unset reads the latest state. "0" takes whatever the
	// store has at hand. N takes any state not older than N.
	ResourceVersion string
}

// ListOptions are the options of Interface.GetList; their meaning is that of
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions.
type ListOptions struct {
	// Recursive: key is a prefix and ends in a slash.
	Recursive            bool
	Predicate            Predicate
	ResourceVersion      string
	ResourceVersionMatch metav1.ResourceVersionMatch
	// Limit is the greatest number of entries on a page; 0: no limit.
	Limit int64
	// Continue is the token of the page before. The resourceVersion must be
	// unset or "0" with it.
	Continue string
	// KnownRevision is that of an earlier answer to the same list, 0 for none. A
	// store that can tell that nothing below the key has changed since says so, see
	// Page.Unchanged. It applies to whole lists of the latest state.
	KnownRevision int64
}

// Page is what GetList returns.
type Page struct {
	Entries []*Entry
	// Unchanged says that nothing has changed between ListOptions.KnownRevision
	// and Revision. There are no entries then.
	Unchanged bool
	// Revision at which all of the list was read, the same for all its pages.
	Revision int64
	// Continue is the token for the next page, "" on the last one.
	Continue string
	// Remaining counts the entries on later pages; nil where it is not known,
	// which is so with a predicate that is not empty.
	Remaining *int64
}

// WatchOptions are the options of Interface.Watch.
type WatchOptions struct {
	// Recursive: key is a prefix and ends in a slash.
	Recursive bool
	Predicate Predicate
	// ResourceVersion N reports every event after revision N. Unset and "0"
	// begin with the current state as Added events, unless SendInitialEvents
	// is false: then the watch begins now.
	ResourceVersion string
	// SendInitialEvents true begins with the current state, not older than
	// ResourceVersion, as Added events in the order of keys.
	SendInitialEvents *bool
	// ProgressNotify asks for Bookmark events from time to time, so that an
	// idle watcher learns how far the store has come.
	ProgressNotify bool
}

// ProposeFunc makes the next state of an object. current is nil if there is
// none; current.Object() must not be written to.
type ProposeFunc func(ctx context.Context, current *Entry) (Proposal, error)

// Proposal is what is to be stored.
type Proposal struct {
	// Object is the state to write. It belongs to the store afterwards.
	Object runtime.Object
	// TTL in seconds. Nil keeps the time to live as it is.
	TTL *int64
	// Delete removes the key instead; Object is ignored.
	Delete bool
	// Receipt makes the write leave a receipt, so that it can be told from an
	// equal one of another client when its outcome is unknown. It costs a small
	// second write.
	Receipt bool
}

// UpdateOptions are the options of Interface.GuaranteedUpdate.
type UpdateOptions struct {
	// CreateIfAbsent lets propose run with a nil entry where nothing is under
	// the key. Without it that is ErrNotFound.
	CreateIfAbsent bool
	// Preconditions are checked on the current state before propose runs.
	Preconditions *Preconditions
	// Suggestion, from a cache, saves the first read. One without stored bytes
	// is ignored.
	Suggestion *Entry
	// DryRun does everything but the write.
	DryRun bool
}

// UpdateResult is what an update came to.
type UpdateResult struct {
	// Entry is the state that is stored now. If the outcome is Deleted it is
	// the last stored one, stamped with the revision of the deletion.
	Entry   *Entry
	Outcome Outcome
}

// Outcome says what an update did.
type Outcome int

const (
	Unchanged Outcome = iota // the proposal was what is stored already
	Created
	Updated
	Deleted
)

// DeleteOptions are the options of Interface.Delete.
type DeleteOptions struct {
	// Preconditions are checked on the current state.
	Preconditions *Preconditions
	// Suggestion is that of UpdateOptions.
	Suggestion *Entry
	// OnlyCorrupt deletes an object that cannot be decoded. For any other object the error is
	// ErrNotCorrupt. Preconditions and Suggestion are ignored, and the Object of the entry that
	// Delete returns is an error.
	OnlyCorrupt bool
	// Receipt is that of Proposal.
	Receipt bool
}
