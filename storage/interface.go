package storage

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/miniapi/miniapi/versioner"
)

// Interface stores the objects of one resource. All methods are safe for concurrent use and return
// when the context ends, except that a write that was sent is completed after a cancellation. If
// the deadline passes or the connection breaks after a write was sent, the write returns an
// UnknownOutcomeError and is not sent again.
type Interface interface {
	// Versioner returns the versioner that stamps this store's objects.
	Versioner() versioner.Versioner

	// Create writes obj under key, or returns ErrExists. It does not modify obj, which must have
	// no resourceVersion.
	Create(ctx context.Context, key string, obj runtime.Object, opts CreateOptions) (*Entry, error)

	// Get returns the entry under key, or ErrNotFound.
	Get(ctx context.Context, key string, opts GetOptions) (*Entry, error)

	// GetList returns the entry under key, or all entries below it, in the order of keys. An empty
	// result is not an error. ErrCompacted and ErrFutureRevision concern the requested revision or
	// the one of the continue token. A *CorruptListError names the corrupt objects that the list
	// has met; the page has the other objects up to the last of them.
	GetList(ctx context.Context, key string, opts ListOptions) (*Page, error)

	// Watch reports the events of key, or of all keys below it, from the requested revision on. An
	// error after the start is delivered as the last event. A watch whose context is cancelled ends
	// without an error, even before the start.
	Watch(ctx context.Context, key string, opts WatchOptions) (Watcher, error)

	// GuaranteedUpdate changes the object under key atomically from its current state to the one
	// that propose returns. If the key has changed before the write, it calls propose again with
	// the new state. So propose may run several times, and must not depend on an earlier run.
	//
	// A proposal that encodes to the stored bytes writes nothing and keeps the resourceVersion.
	// Errors of propose are returned unchanged. If propose received opts.Suggestion, an error or a
	// proposal without a change only counts after a read has confirmed that the suggestion is
	// current.
	GuaranteedUpdate(ctx context.Context, key string, propose ProposeFunc, opts UpdateOptions) (*UpdateResult, error)

	// Delete removes key and returns its last state, stamped with the revision of the deletion. It
	// is a GuaranteedUpdate whose proposal deletes; a deletion with conditions of its own, or a
	// dry run of one, is such a proposal. The error for an absent key is ErrNotFound.
	Delete(ctx context.Context, key string, opts DeleteOptions) (*Entry, error)

	// History returns the versions of key that the store keeps, in the order of revisions. A key
	// that never existed has none.
	History(ctx context.Context, key string) (*History, error)

	// Count returns the number of keys below key.
	Count(ctx context.Context, key string) (int64, error)
}

// Codec encodes objects as stored bytes and decodes them. Encode must be deterministic, because
// equal bytes are how an update without a change is detected, and must not modify the object. Both
// are safe for concurrent use.
type Codec interface {
	Encode(obj runtime.Object) ([]byte, error)
	// Decode returns the object of data. An error that is a Status means that data is not corrupt
	// but cannot be used at present.
	Decode(data []byte) (runtime.Object, error)
}

// ContextCodec is a Codec whose Decode may wait for another process, such as a
// conversion webhook.
type ContextCodec interface {
	Codec
	// DecodeContext is Decode, but waits until ctx ends at most.
	DecodeContext(ctx context.Context, data []byte) (runtime.Object, error)
}

// MessageCodec is a Codec whose stored bytes may contain the object in protobuf.
type MessageCodec interface {
	Codec
	// Message returns the protobuf message of the object, a part of data. It returns false if data
	// has none, or if Decode would return a different object.
	Message(data []byte) ([]byte, bool)
}

// CreateOptions are the options of Interface.Create.
type CreateOptions struct {
	// TTL in seconds after which the object is deleted, 0 for never.
	TTL int64
	// DryRun makes all checks and writes nothing. The revision of the entry is 0.
	DryRun bool
}

// GetOptions are the options of Interface.Get.
type GetOptions struct {
	// ResourceVersion "" reads the latest state, "0" any state, N any state not older than N.
	ResourceVersion string
}

// ListOptions are the options of Interface.GetList. Plan returns their meaning.
type ListOptions struct {
	// Recursive lists all keys below key.
	Recursive            bool
	Predicate            Predicate
	ResourceVersion      string
	ResourceVersionMatch metav1.ResourceVersionMatch
	// Limit is the maximum number of entries on a page, 0 for no limit.
	Limit int64
	// Continue is the token of the previous page. With it, ResourceVersion must be "" or "0".
	Continue string
	// KnownRevision is the revision of an earlier answer to the same list, 0 for none. If no key of
	// the list has changed since, the store may answer with Page.Unchanged. It applies to lists of
	// the latest state without a limit.
	KnownRevision int64
}

// Page is the result of GetList.
type Page struct {
	Entries []*Entry
	// Unchanged is set, and Entries is empty, if no key of the list has changed between
	// ListOptions.KnownRevision and Revision.
	Unchanged bool
	// Revision at which the list was read. It is the same for all pages of the list.
	Revision int64
	// Continue is the token for the next page, "" on the last one.
	Continue string
	// Remaining is the number of entries on later pages, nil if unknown. With a predicate that is
	// not empty it is unknown.
	Remaining *int64
}

// WatchOptions are the options of Interface.Watch.
type WatchOptions struct {
	// Recursive watches all keys below key.
	Recursive bool
	Predicate Predicate
	// ResourceVersion N reports every event after revision N. With "" and "0" the watch begins with
	// the current state as Added events, or at the latest revision if SendInitialEvents is false.
	ResourceVersion string
	// SendInitialEvents, if true, begins the watch with a state not older than ResourceVersion, as
	// Added events in the order of keys.
	SendInitialEvents *bool
	// ProgressNotify requests periodic Bookmark events, which report the revision of the store to
	// an idle watcher.
	ProgressNotify bool
	// ProgressRequests requests a Bookmark event with each value. It reports the present revision
	// of the store, for a store with a cache the one that the cache has applied. Nil: no requests.
	ProgressRequests <-chan struct{}
}

// ProposeFunc returns the next state of an object. current is nil for an absent object. The object
// of current must not be modified.
type ProposeFunc func(ctx context.Context, current *Entry) (Proposal, error)

// Proposal is a proposed change of an object.
type Proposal struct {
	// Object is the state to write. The store owns it afterwards.
	Object runtime.Object
	// TTL in seconds. Nil keeps the time to live.
	TTL *int64
	// Delete deletes the key and ignores Object.
	Delete bool
	// Receipt makes the write leave a receipt, which distinguishes it from an equal write of
	// another client when its outcome is resolved. It costs a second, small write.
	Receipt bool
}

// UpdateOptions are the options of Interface.GuaranteedUpdate.
type UpdateOptions struct {
	// CreateIfAbsent calls propose with a nil entry for an absent key. Without it the error is
	// ErrNotFound.
	CreateIfAbsent bool
	// Preconditions are checked on the current state before propose runs.
	Preconditions *Preconditions
	// Suggestion is an entry from a cache, which replaces the first read. It is ignored without
	// stored bytes and in a dry run.
	Suggestion *Entry
	// DryRun does everything except the write.
	DryRun bool
}

// UpdateResult is the result of GuaranteedUpdate.
type UpdateResult struct {
	// Entry is the stored state. If the outcome is Deleted, it is the last stored state, stamped
	// with the revision of the deletion.
	Entry   *Entry
	Outcome Outcome
}

// Outcome is the effect of an update.
type Outcome int

const (
	Unchanged Outcome = iota // the proposal equals the stored object
	Created
	Updated
	Deleted
)

// DeleteOptions are the options of Interface.Delete.
type DeleteOptions struct {
	// Preconditions are checked on the current state.
	Preconditions *Preconditions
	// Suggestion has the meaning of UpdateOptions.Suggestion.
	Suggestion *Entry
	// OnlyCorrupt deletes an object that cannot be decoded. For any other object the error is
	// ErrNotCorrupt. Preconditions and Suggestion are ignored, and the Object of the entry that
	// Delete returns is an error.
	OnlyCorrupt bool
	// Receipt has the meaning of Proposal.Receipt.
	Receipt bool
}
