package api

import (
	"bufio"
	"context"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/miniapi/miniapi/storage"
)

// watchBuffer gathers small frames into larger writes.
const watchBuffer = 16 << 10

// stream writes events as frames of the negotiated media type. It belongs to
// the goroutine of its request.
type stream struct {
	call      *call
	out       *bufio.Writer
	control   *http.ResponseController
	bookmarks *bookmarks
	release   func()
}

// newStream sends the header of the answer. A client that does not read is cut
// off when the time of its watch is up.
func (c *call) newStream(wantBookmarks bool, timeout time.Duration) *stream {
	c.w.Header().Set("Content-Type", c.format.media.Stream)
	c.w.WriteHeader(http.StatusOK)
	s := &stream{
		call:      c,
		out:       bufio.NewWriterSize(c.w, watchBuffer),
		control:   http.NewResponseController(c.w),
		bookmarks: newBookmarks(wantBookmarks, timeout),
	}
	_ = s.control.SetWriteDeadline(time.Now().Add(timeout + lastEvent))
	s.release = c.server.cutOnShutdown(s.control.SetWriteDeadline, lastEvent)
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
		if s.flush() != nil {
			return
		}
		select {
		case event, ok := <-events:
			if !ok || !s.send(event) {
				return
			}
		case <-s.bookmarks.due():
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
		s.bookmarks.delivered(event.Revision)
		obj, err := event.Entry.Object()
		if err != nil {
			s.sendError(err)
			return false
		}
		return s.sendObject(event.Type, obj)
	case event.InitialEventsEnd:
		return !s.bookmarks.wanted || s.sendBookmark(event.Revision, true)
	}
	s.bookmarks.progress(event.Revision)
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

// sendObject writes an event of an object in the hub version.
func (s *stream) sendObject(eventType watch.EventType, obj runtime.Object) bool {
	header, shown, err := s.call.show(obj)
	var encoded []byte
	if err == nil {
		encoded, err = s.call.format.media.object(header, shown)
	}
	if err != nil {
		s.sendError(err)
		return false
	}
	// Columns are told once; later events would only repeat them.
	s.call.table.NoHeaders = true
	return s.write(eventType, encoded)
}

// sendError writes the event that ends a failed watch: a Status.
func (s *stream) sendError(err error) {
	status := statusOf(err)
	if status.Code == http.StatusInternalServerError {
		s.call.server.config.Logger.ErrorContext(s.call.r.Context(), "watch failed", "path", s.call.r.URL.Path, "error", err)
	}
	if encoded, err := s.call.format.media.object(statusHeader, status); err == nil {
		s.write(watch.Error, encoded)
	}
}

func (s *stream) write(eventType watch.EventType, encoded []byte) bool {
	frame := s.call.format.media.frame(string(eventType), encoded)
	s.call.server.metrics.watchEvent(s.call.target, len(frame))
	_, err := s.out.Write(frame)
	return err == nil
}
