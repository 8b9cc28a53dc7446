package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/storage"
)

// watchStream writes events as frames of the negotiated media type. It is used by the goroutine of
// its request only.
type watchStream struct {
	call      *call
	encoder   *encoding.EntryEncoder // nil: events are encoded from objects, as for Tables
	frames    encoding.FrameEncoder
	out       watchOutput
	count     func(bytes int) // counts a frame in the metrics
	bookmarks *bookmarks
	// initial is set while the initial events are sent. Frames are flushed only when the buffer is
	// full.
	initial bool
	// endsInitial is set if a bookmark marks the end of the initial events.
	endsInitial bool
	injection   *request.Injection // nil: no failure is injected
	watch       *request.Watch     // counts the events; nil: the watch has failed
	info        *request.Info
	release     func()
}

// newWatchStream returns the stream of a watch. The timeout of the watch is also the deadline for a
// client that does not read.
func (c *call) newWatchStream(out watchOutput, allowBookmarks bool, timeout time.Duration) *watchStream {
	info := request.InfoFrom(c.r)
	s := &watchStream{
		call:      c,
		frames:    out.frames(),
		out:       out,
		count:     c.server.metrics.WatchEvents(c.Target),
		bookmarks: newBookmarks(allowBookmarks, timeout),
		injection: info.Injection,
		watch:     info.Watch(),
		info:      info,
	}
	if encoder, err := c.entryEncoder(); err == nil && c.format.As.Kind != "Table" {
		s.encoder = &encoder
	}
	_ = out.SetWriteDeadline(time.Now().Add(timeout + encoding.FinalWriteTimeout))
	s.release = c.server.responder.LimitOnShutdown(out.SetWriteDeadline, encoding.FinalWriteTimeout)
	_ = out.flush()
	return s
}

// close flushes the buffer and releases the resources of the stream. The end of the response has a
// deadline of its own: on a loaded machine the stream may end after the deadline of its events.
func (s *watchStream) close() {
	s.release()
	_ = s.out.SetWriteDeadline(time.Now().Add(encoding.FinalWriteTimeout))
	_ = s.out.flush()
	s.bookmarks.stop()
}

// run sends events until the channel or ctx ends. Events that are ready at the same time are
// flushed together.
func (s *watchStream) run(ctx context.Context, events <-chan storage.Event) {
	for {
		select {
		case event, ok := <-events:
			if !ok || !s.send(ctx, event) {
				return
			}
			continue
		default:
		}
		if !s.initial {
			if s.out.flush() != nil {
				return
			}
			s.info.SetInitialized()
			if s.watch.SetComplete(s.bookmarks.progress) {
				s.call.server.requests.Notify()
			}
		}
		select {
		case event, ok := <-events:
			if !ok || !s.send(ctx, event) {
				return
			}
		case <-s.bookmarks.next():
			if revision, ok := s.bookmarks.take(); ok && !s.sendBookmark(ctx, revision, false) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// send writes an event and reports whether the stream continues.
func (s *watchStream) send(ctx context.Context, event storage.Event) bool {
	switch {
	case event.Type == watch.Error:
		s.sendError(s.call.resource.EventError(event.Err))
		return false
	case event.Type != watch.Bookmark:
		if send, err := s.inject(ctx, false); err != nil || !send {
			return s.skip(err)
		}
		s.bookmarks.recordEvent(event.Revision)
		if !s.sendEntry(event.Type, event.Entry) {
			return false
		}
		s.watch.Sent(event.Revision)
		return true
	case event.InitialEventsEnd && s.endsInitial:
		sent := s.sendBookmark(ctx, event.Revision, true)
		s.initial = false
		return sent
	case event.InitialEventsEnd:
		s.initial = false
	}
	s.bookmarks.recordProgress(event.Revision)
	return true
}

// inject calls the injected failure, if there is one, before an event.
func (s *watchStream) inject(ctx context.Context, bookmark bool) (send bool, err error) {
	if s.injection == nil || s.injection.Event == nil {
		return true, nil
	}
	return s.injection.Event(ctx, request.WatchEvent{Bookmark: bookmark, Initial: s.initial && s.endsInitial})
}

// skip handles an event that an injected failure suppresses.
func (s *watchStream) skip(err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, http.ErrAbortHandler):
		_ = s.out.flush()
		panic(http.ErrAbortHandler)
	case !errors.Is(err, io.EOF):
		s.sendError(err)
	}
	return false
}

func (s *watchStream) sendBookmark(ctx context.Context, revision int64, initialEventsEnd bool) bool {
	if send, err := s.inject(ctx, true); err != nil || !send {
		return s.skip(err)
	}
	obj, err := s.call.bookmark(revision, initialEventsEnd)
	if err != nil {
		s.sendError(err)
		return false
	}
	if !s.sendObject(watch.Bookmark, obj) {
		return false
	}
	s.watch.Sent(revision)
	return true
}

// sendEntry writes an event of an entry.
func (s *watchStream) sendEntry(eventType watch.EventType, entry *storage.Entry) bool {
	if s.encoder == nil {
		obj, err := entry.ObjectContext(s.call.r.Context())
		if err != nil {
			s.sendError(entryError(eventType, err))
			return false
		}
		return s.sendObject(eventType, obj)
	}
	body, err := s.encoder.Body(s.call.r.Context(), entry)
	if err != nil {
		s.sendError(entryError(eventType, err))
		return false
	}
	return s.write(eventType, s.encoder.Header, body)
}

// entryError returns the error of an event whose object cannot be decoded.
func entryError(eventType watch.EventType, err error) error {
	if eventType == watch.Deleted && errors.Is(err, storage.ErrCorrupt) {
		return &storage.CorruptDeletedError{Err: err}
	}
	return err
}

// sendObject writes an event of an object in the hub version.
func (s *watchStream) sendObject(eventType watch.EventType, obj runtime.Object) bool {
	header, converted, err := s.call.transform(obj)
	var body encoding.Body
	if err == nil {
		body, err = s.call.format.Encode(converted)
	}
	if err != nil {
		s.sendError(err)
		return false
	}
	// Only the first Table of a watch has column definitions.
	s.call.table.NoHeaders = true
	return s.write(eventType, header, body)
}

// sendError writes the event that ends a failed watch: a Status.
func (s *watchStream) sendError(err error) {
	status := encoding.StatusOf(err)
	s.call.record.SetReason(string(status.Reason))
	if status.Code == http.StatusInternalServerError {
		s.call.server.config.Logger.ErrorContext(s.call.r.Context(), "watch failed", "path", s.call.r.URL.Path, "error", err)
	}
	if body, err := s.call.format.Encode(status); err == nil {
		s.write(watch.Error, encoding.StatusHeader, body)
	}
}

// write writes the frame of an event.
func (s *watchStream) write(eventType watch.EventType, header metav1.TypeMeta, body encoding.Body) bool {
	frame := s.frames.Frame(string(eventType), header, body)
	s.count(frame.Size())
	return s.out.write(frame) == nil
}
