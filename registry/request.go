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

// WriteOptions are common to all writes.
type WriteOptions struct {
	// DryRun does everything but the write.
	DryRun bool
	// FieldManager names the writer, who comes to own the fields that change. ""
	// is the server itself, which leaves managedFields alone.
	FieldManager string
	// Version of the resource in which the client writes, "" for the hub.
	Version string
	// Sent is what the client sent of options, for admission: CreateOptions,
	// UpdateOptions, PatchOptions or DeleteOptions of metav1. Nil: nobody did.
	Sent runtime.Object
}

// CreateRequest asks for an object to be created.
type CreateRequest struct {
	// Namespace of the URL, "" for cluster scope.
	Namespace string
	// Name of the URL, for subresources only.
	Name string
	// Object belongs to the store afterwards. It is in the hub version.
	Object  runtime.Object
	Options WriteOptions
}

// UpdateRequest asks for an object to be changed.
type UpdateRequest struct {
	Namespace, Name string
	// Subresource to write, "" for the resource itself.
	Subresource string
	// UID of the object that is meant, "" for whichever has the name. It is a 409
	// if another one has it, or none that may be created.
	UID types.UID
	// Propose returns the state that the client wants, given the current one,
	// which it must not write to. It runs again after a lost race. The store
	// works on a copy of what it returns, so that may be the same object every
	// time, or share memory with current. current is nil if there is none and
	// one may be created. For a subresource with a View both are views. A
	// proposal without resourceVersion is unconditional; one that took over the
	// version of current never conflicts.
	Propose func(ctx context.Context, current runtime.Object) (runtime.Object, error)
	// CreateIfAbsent lets the kind's strategy decide whether an absent object
	// is created, as a PUT does. Without it that is a 404.
	CreateIfAbsent bool
	// ForceCreate creates an absent object whatever the strategy says, as
	// server-side apply does.
	ForceCreate bool
	// Applied says that what Propose returns comes from Apply: the field managers
	// are noted, and it belongs to the store, which makes no copy.
	Applied bool
	// Receipt is that of a storage.Proposal. An update with a transaction leaves
	// one in any case.
	Receipt bool
	Options WriteOptions
}

// DeleteRequest asks for an object to be deleted.
type DeleteRequest struct {
	Namespace, Name string
	// Options as the client sent them, validated by the caller.
	Options *metav1.DeleteOptions
	// Version of the resource in which the client asks, "" for the hub.
	Version string
}

// ListRequest selects objects to list, watch or delete.
type ListRequest struct {
	// Namespace "" is all of them.
	Namespace string
	// Label and Field select; nil selects everything. Field names are the hub's.
	Label labels.Selector
	Field fields.Selector

	ResourceVersion      string
	ResourceVersionMatch metav1.ResourceVersionMatch
	// Limit is ignored where ResourceVersion is "0".
	Limit    int64
	Continue string
	// KnownRevision of an earlier answer to the same list: if nothing has changed
	// since, the page may say so and have no entries, see storage.Page. 0 for none.
	KnownRevision int64
	// IncludeCorrupt lists and watches objects that cannot be decoded too, unless Label or Field
	// select: the error is that of their entry. Without it they are an error of the list or watch.
	IncludeCorrupt bool
	// SendInitialEvents and AllowWatchBookmarks concern Watch only.
	SendInitialEvents   *bool
	AllowWatchBookmarks bool
}

// ConnectRequest asks for a connection to what an object stands for.
type ConnectRequest struct {
	Namespace, Name string
	// Path behind the subresource's name, as in proxy.
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
