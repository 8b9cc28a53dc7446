package registry

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/storage"
)

// WriteOptions are the options of all writes.
type WriteOptions struct {
	// DryRun processes the request without the write.
	DryRun bool
	// FieldManager is the manager that owns the changed fields. "" is the server itself, which
	// does not change managedFields.
	FieldManager string
	// Version is the version of the request, "" for the hub.
	Version string
	// Sent are the options that the client sent, for admission: CreateOptions, UpdateOptions,
	// PatchOptions or DeleteOptions of metav1. Nil for writes of the server.
	Sent runtime.Object
}

// CreateRequest is a request to create an object.
type CreateRequest struct {
	// Namespace of the URL, "" for cluster scope.
	Namespace string
	// Name of the URL, for subresources only.
	Name string
	// Object is in the hub version. The store may modify it.
	Object  runtime.Object
	Options WriteOptions
}

// ActionRequest is a request to execute an action: a POST that stores no object of its own, such
// as a binding or a review.
type ActionRequest struct {
	CreateRequest
	// Validate runs validating admission on Object, with the changes that the action has made to
	// it. Every action calls it once: after its own checks, and before it has an effect.
	Validate func() error
}

// UpdateRequest is a request to change an object.
type UpdateRequest struct {
	Namespace, Name string
	// Subresource to write, "" for the resource itself.
	Subresource string
	// UID is the UID of the object to update, "" for any. It is a 409 if the object has another
	// UID, or would be created.
	UID types.UID
	// Propose returns the new state, given the current one, which it must not modify. It runs
	// again after a lost race. The result may be the same object every time or share memory with
	// current, unless Owned is set. current is nil if the object does not exist and may be
	// created. For a subresource with a View both are views. A proposal without resourceVersion
	// is unconditional; a proposal with the resourceVersion of current never conflicts.
	Propose func(ctx context.Context, current runtime.Object) (runtime.Object, error)
	// CreateIfAbsent creates an absent object if the strategy of the kind allows it, as a PUT
	// does. Otherwise an absent object is a 404.
	CreateIfAbsent bool
	// ForceCreate creates an absent object independently of the strategy, as server-side apply
	// does.
	ForceCreate bool
	// Owned is set if Propose returns a new object every time, which shares no memory with current.
	// The store modifies the object instead of a copy.
	Owned bool
	// Applied is set if Propose returns the result of Apply: the managed fields are set, and the
	// object is owned.
	Applied bool
	// Receipt requests a receipt, see storage.Proposal. An update with a transaction always
	// leaves one.
	Receipt bool
	Options WriteOptions
}

// DeleteRequest is a request to delete an object.
type DeleteRequest struct {
	Namespace, Name string
	// Options are the options of the client, validated by the caller.
	Options *metav1.DeleteOptions
	// Version is the version of the request, "" for the hub.
	Version string
}

// ListRequest selects objects to list, watch or delete.
type ListRequest struct {
	// Namespace "" selects all namespaces.
	Namespace string
	// Label and Field select objects; nil selects all. Field names belong to the hub version.
	Label labels.Selector
	Field fields.Selector

	ResourceVersion      string
	ResourceVersionMatch metav1.ResourceVersionMatch
	// Limit is ignored if ResourceVersion is "0".
	Limit    int64
	Continue string
	// KnownRevision is the revision of an earlier answer to the same list, 0 for none. If nothing
	// has changed since, the page may say so and have no entries, see storage.Page.
	KnownRevision int64
	// IncludeCorrupt includes objects that cannot be decoded if Label and Field select all objects:
	// the Object method of their entry returns the error. Otherwise the list or watch fails.
	IncludeCorrupt bool
	// SendInitialEvents and AllowWatchBookmarks apply to Watch only.
	SendInitialEvents   *bool
	AllowWatchBookmarks bool
	// ProgressRequests is storage.WatchOptions.ProgressRequests, for Watch only.
	ProgressRequests chan struct{}
}

// ConnectRequest is a request for a connection, such as exec or proxy.
type ConnectRequest struct {
	Namespace, Name string
	// Path is the path after the name of the subresource, as in proxy.
	Path string
	// Query of the URL.
	Query map[string][]string
	// Method of the request.
	Method string
}

// Result is the outcome of a create or an update.
type Result struct {
	// Entry is the object after the write. Of a subresource with a View it is the view.
	Entry   *storage.Entry
	Created bool
}

// DeleteResult is the outcome of a deletion.
type DeleteResult struct {
	// Entry is the last state of a removed object, or the stored state of an object that
	// finalizers or a grace period keep.
	Entry *storage.Entry
	UID   types.UID
	// Removed is set if the object no longer exists.
	Removed bool
	// ReturnObject is set if the response is the object, and not a Status.
	ReturnObject bool
}
