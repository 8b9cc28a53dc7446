package api

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/api/encoding"
	"github.com/miniapi/miniapi/storage"
)

// watchBuffer gathers small frames into larger writes.
const watchBuffer = 16 << 10

// finalEventTimeout is the time that a client has to read an event after the shutdown began.
const finalEventTimeout = 100 * time.Millisecond

// stream writes events as frames of the negotiated media type. It belongs to
// the goroutine of its request.
type stream struct {
	call      *call
	encoder   *encoding.EntryEncoder // nil: events are encoded from objects, as for Tables
	frames    encoding.FrameEncoder
	out       *bufio.Writer
	count     func(bytes int) // counts a frame in the metrics
	control   *http.ResponseController
	bookmarks *bookmarks
	// initial: the state at the beginning is still being sent, which waits for
	// nobody, so that frames go out as the buffer fills.
	initial bool
	// endsInitial: a bookmark marks the end of the initial events.
	endsInitial bool
	release     func()
}

// newStream sends the header of the answer. A client that does not read is cut
// off when the time of its watch is up.
func (c *call) newStream(wantBookmarks bool, timeout time.Duration) *stream {
	c.w.Header().Set("Content-Type", c.format.MediaType.Stream)
	c.w.WriteHeader(http.StatusOK)
	s := &stream{
		call:      c,
		frames:    c.format.FrameEncoder(),
		out:       bufio.NewWriterSize(c.w, watchBuffer),
		count:     c.server.metrics.WatchEvents(c.Target),
		control:   http.NewResponseController(c.w),
		bookmarks: newBookmarks(wantBookmarks, timeout),
	}
	if encoder, err := c.entryEncoder(); err == nil && c.format.As.Kind != "Table" {
		s.encoder = &encoder
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(timeout + finalEventTimeout))
	s.release = c.server.responder.LimitOnShutdown(s.control.SetWriteDeadline, finalEventTimeout)
	_ = s.flush()
	return s
}

// close sends what is left in the buffer and frees what the stream holds.
func (s *stream) close() {
	_ = s.flush()
	s.bookmarks.stop()
	s.release()
}

// flush sends what was written. A failure means that the client is gone.
func (s *stream) flush() error {
	if err := s.out.Flush(); err != nil {
		return err
	}
	return s.control.Flush()
}

// run sends events until there are no more. Frames that are ready together go
// out together.
func (s *stream) run(ctx context.Context, events <-chan storage.Event) {
	for {
		select {
		case event, ok := <-events:
			if !ok || !s.send(event) {
				return
			}
			continue
		default:
		}
		if !s.initial && s.flush() != nil {
			return
		}
		select {
		case event, ok := <-events:
			if !ok || !s.send(event) {
				return
			}
		case <-s.bookmarks.next():
			if revision, ok := s.bookmarks.take(); ok && !s.sendBookmark(revision, false) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// send writes one event; false ends the stream.
func (s *stream) send(event storage.Event) bool {
	switch {
	case event.Type == watch.Error:
		s.sendError(s.call.store.EventError(event.Err))
		return false
	case event.Type != watch.Bookmark:
		s.bookmarks.recordEvent(event.Revision)
		return s.sendEntry(event.Type, event.Entry)
	case event.InitialEventsEnd:
		s.initial = false
		if s.endsInitial {
			return s.sendBookmark(event.Revision, true)
		}
	}
	s.bookmarks.recordProgress(event.Revision)
	return true
}

func (s *stream) sendBookmark(revision int64, initialEventsEnd bool) bool {
	obj, err := s.call.bookmark(revision, initialEventsEnd)
	if err != nil {
		s.sendError(err)
		return false
	}
	return s.sendObject(watch.Bookmark, obj)
}

// sendEntry writes an event of an entry. Where there is no view it is shown as
// an object.
func (s *stream) sendEntry(eventType watch.EventType, entry *storage.Entry) bool {
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

// entryError returns the error of an event whose object cannot be shown.
func entryError(eventType watch.EventType, err error) error {
	if eventType == watch.Deleted && errors.Is(err, storage.ErrCorrupt) {
		return &storage.CorruptDeletedError{Err: err}
	}
	return err
}

// sendObject writes an event of an object in the hub version.
func (s *stream) sendObject(eventType watch.EventType, obj runtime.Object) bool {
	header, converted, err := s.call.transform(obj)
	var body encoding.Body
	if err == nil {
		body, err = s.call.format.Encode(converted)
	}
	if err != nil {
		s.sendError(err)
		return false
	}
	// Columns are told once; later events would only repeat them.
	s.call.table.NoHeaders = true
	return s.write(eventType, header, body)
}

// sendError writes the event that ends a failed watch: a Status.
func (s *stream) sendError(err error) {
	status := encoding.StatusOf(err)
	if status.Code == http.StatusInternalServerError {
		s.call.server.config.Logger.ErrorContext(s.call.r.Context(), "watch failed", "path", s.call.r.URL.Path, "error", err)
	}
	if body, err := s.call.format.Encode(status); err == nil {
		s.write(watch.Error, encoding.StatusHeader, body)
	}
}

// write sends a frame. What other watches send as well is not copied but into
// the buffer.
func (s *stream) write(eventType watch.EventType, header metav1.TypeMeta, body encoding.Body) bool {
	frame := s.frames.Frame(string(eventType), header, body)
	s.count(frame.Size())
	return frame.Write(s.out) == nil
}
