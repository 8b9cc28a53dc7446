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
	watcher, err := c.store.Watch(ctx, c.listRequest(options))
	if err != nil && !isVersionError(err) {
		return err
	}
	serve := func(out watchOutput) {
		stream := c.newWatchStream(out, options.AllowWatchBookmarks, timeout)
		defer stream.close()
		if err != nil {
			stream.sendError(err)
			return
		}
		stream.initial = sendsInitialEvents(options)
		stream.endsInitial = options.AllowWatchBookmarks && options.SendInitialEvents != nil && *options.SendInitialEvents
		stream.run(ctx, watcher.Events())
	}
	if err == nil {
		defer watcher.Stop()
	}
	if isWebSocket(c.r) {
		c.watchOverWebSocket(cancel, serve)
	} else {
		serve(c.newHTTPOutput())
	}
	return nil
}

// sendsInitialEvents reports whether a watch begins with the current state. Defaulting sets
// SendInitialEvents if there is no resourceVersion, except for paths that begin with /watch/.
func sendsInitialEvents(options internalversion.ListOptions) bool {
	if options.SendInitialEvents != nil {
		return *options.SendInitialEvents
	}
	return options.ResourceVersion == "" || options.ResourceVersion == "0"
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
