package api

import (
	"net/http"
	"sync/atomic"
)

// defaultUnread is the default of Config.MaxUnreadBytes.
const defaultUnread = 512 << 20

// budget bounds the memory of responses that were built as a whole, such as
// Tables, YAML and formatted objects, and that wait for their clients to read
// them. Responses that are streamed, or sent from memory which requests share,
// do not count.
type budget struct {
	limit int64
	used  atomic.Int64
}

// take reserves size bytes. A response larger than the budget passes if it is
// the only one.
func (b *budget) take(size int64) bool {
	if used := b.used.Add(size); used > b.limit && used != size {
		b.used.Add(-size)
		return false
	}
	return true
}

func (b *budget) give(size int64) { b.used.Add(-size) }

// writeOwned sends a response that belongs to this request alone. Beyond the
// budget reads are answered with 429; a write has happened by now, and is
// answered in any case.
func (s *Server) writeOwned(w http.ResponseWriter, r *http.Request, contentType string, a answer) {
	if size := int64(len(a.body)); r.Method == http.MethodGet {
		if !s.unread.take(size) {
			tooManyRequests(w)
			return
		}
		defer s.unread.give(size)
	}
	s.writeBytes(w, r, contentType, a)
}
