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

// defaultWatch is how long a watch lasts at least where the client does not
// say; a random part of as much again spreads the reconnects.
const defaultWatch = 30 * time.Minute

// watch answers with a stream of events, until its time is up, the client goes
// away, the store ends it or the server shuts down.
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
	// The store has to know too: it must not go on while nobody listens, or
	// while events come so fast that nobody looks at the context.
	defer context.AfterFunc(c.server.requests.Stopping(), cancel)()
	watcher, err := c.store.Watch(ctx, c.listRequest(options))
	if err != nil && !isVersionError(err) {
		return err
	}
	stream := c.newStream(options.AllowWatchBookmarks, timeout)
	defer stream.close()
	if err != nil {
		stream.sendError(err)
		return nil
	}
	defer watcher.Stop()
	stream.initial = sendsInitialEvents(options)
	stream.endsInitial = options.AllowWatchBookmarks && options.SendInitialEvents != nil && *options.SendInitialEvents
	stream.run(ctx, watcher.Events())
	return nil
}

// sendsInitialEvents returns whether a watch begins with the current state. The
// defaults of options set SendInitialEvents where no version is named, but not
// for paths that begin with /watch/.
func sendsInitialEvents(options internalversion.ListOptions) bool {
	if options.SendInitialEvents != nil {
		return *options.SendInitialEvents
	}
	return options.ResourceVersion == "" || options.ResourceVersion == "0"
}

func watchTimeout(options internalversion.ListOptions) time.Duration {
	if options.TimeoutSeconds != nil && *options.TimeoutSeconds > 0 {
		return time.Duration(min(*options.TimeoutSeconds, int64(time.Duration(1<<63-1)/time.Second))) * time.Second
	}
	return defaultWatch + rand.N(defaultWatch)
}

// isVersionError returns whether the state at the version that a watch begins at
// is gone, or is not reached yet. Clients expect these errors as an event.
func isVersionError(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusGone ||
		apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}
