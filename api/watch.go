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
	defer context.AfterFunc(c.server.life.ending, cancel)()
	watcher, err := c.store.Watch(ctx, c.listRequest(options))
	if err != nil && !expired(err) {
		return err
	}
	stream := c.newStream(options.AllowWatchBookmarks, timeout)
	defer stream.close()
	if err != nil {
		// A revision that is gone is told inside the stream: that is where
		// clients look for it.
		stream.sendError(err)
		return nil
	}
	defer watcher.Stop()
	stream.initial = sendsInitialEvents(options)
	stream.run(ctx, watcher.Events())
	return nil
}

// sendsInitialEvents tells whether a watch begins with the state: where that is
// asked for, and where no revision to begin at is named.
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

func expired(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code == http.StatusGone
}
