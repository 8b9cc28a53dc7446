package api

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

// minWatchTimeout is the minimum duration of a watch without a timeout. A random duration of up to
// the same length is added, which spreads the reconnects of clients.
const minWatchTimeout = 30 * time.Minute

// watch handles a watch. It sends events until the timeout, until the client closes the connection,
// until the store ends the watch, or until the server shuts down.
func (c *call) watch() error {
	if !slices.Contains(c.resource.Verbs, "watch") {
		return apierrors.NewMethodNotSupported(c.resource.GroupResource(), "watch")
	}
	options, err := c.listOptions()
	if err != nil {
		return err
	}
	timeout := watchTimeout(options)
	ctx, cancel := context.WithTimeout(c.r.Context(), timeout)
	defer cancel()
	// The shutdown cancels the context of the store's watch as well: while events are ready, run
	// does not check the context.
	defer context.AfterFunc(c.server.requests.Stopping(), cancel)()
	req := c.listRequest(options)
	if c.resource.Virtual == nil && c.resource.Storage == nil { // with the revisions of the store
		req.ProgressRequests = make(chan struct{}, 1)
	}
	watcher, err := c.store.Watch(ctx, req)
	if err != nil && !isVersionError(err) {
		return err
	}
	if err == nil {
		described := c.describeWatch(options, watcher)
		described.Requests = req.ProgressRequests
		request.InfoFrom(c.r).SetWatch(described)
	}
	serve := func(out watchOutput) {
		stream := c.newWatchStream(out, options.AllowWatchBookmarks, timeout)
		defer stream.close()
		if err != nil {
			stream.sendError(err)
			return
		}
		stream.initial = sendsInitialEvents(options)
		stream.endsInitial = isWatchList(options)
		stream.run(ctx, watcher.Events())
	}
	if err == nil {
		defer watcher.Stop()
	}
	if isWebSocket(c.r) {
		c.watchOverWebSocket(cancel, serve)
	} else {
		serve(c.newHTTPOutput(options))
	}
	return nil
}

// describeWatch returns the description of an open watch.
func (c *call) describeWatch(options internalversion.ListOptions, watcher storage.Watcher) *request.Watch {
	start, _ := versioner.APIObjectVersioner{}.ParseResourceVersion(options.ResourceVersion) // the store has validated it
	w := &request.Watch{User: c.userName(), Start: start}
	if options.LabelSelector != nil {
		w.LabelSelector = options.LabelSelector.String()
	}
	if options.FieldSelector != nil {
		w.FieldSelector = options.FieldSelector.String()
	}
	w.Backlog = func() request.Backlog {
		progress := watcher.Progress()
		return request.Backlog{Latest: progress.Latest, Waiting: progress.Unread + int64(len(watcher.Events()))}
	}
	return w
}

// userName returns the name of the user who sent the request.
func (c *call) userName() string {
	if user := registry.UserFrom(c.r.Context()); user != nil {
		return user.Username
	}
	return ""
}

// sendsInitialEvents reports whether a watch begins with the current state. Defaulting sets
// SendInitialEvents if there is no resourceVersion, except for paths that begin with /watch/.
func sendsInitialEvents(options internalversion.ListOptions) bool {
	if options.SendInitialEvents != nil {
		return *options.SendInitialEvents
	}
	return options.ResourceVersion == "" || options.ResourceVersion == "0"
}

// isWatchList reports whether a watch begins with the current state, followed by a bookmark that
// marks its end.
func isWatchList(options internalversion.ListOptions) bool {
	return options.AllowWatchBookmarks && options.SendInitialEvents != nil && *options.SendInitialEvents
}

// watchTimeout returns the duration of a watch.
func watchTimeout(options internalversion.ListOptions) time.Duration {
	if options.TimeoutSeconds != nil && *options.TimeoutSeconds > 0 {
		return time.Duration(min(*options.TimeoutSeconds, int64(time.Duration(1<<63-1)/time.Second))) * time.Second
	}
	return minWatchTimeout + rand.N(minWatchTimeout)
}

// isVersionError reports whether the resourceVersion of a watch is compacted or in the future.
// Clients expect these errors in an event.
func isVersionError(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusGone ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}
