package encoding

import (
	"net/http"
	"sync/atomic"
)

// defaultUnreadBytes is the default of Config.MaxUnreadBytes.
const defaultUnreadBytes = 512 << 20

// responseBudget bounds the memory of responses that are built as a whole, such as Tables, YAML
// and indented objects, until their clients have read them. Streamed responses and responses from
// shared memory do not count.
type responseBudget struct {
	limit int64
	used  atomic.Int64
}

// acquire reserves size bytes and reports whether they are available. A response larger than the
// budget is allowed if it is the only one.
func (b *responseBudget) acquire(size int64) bool {
	if used := b.used.Add(size); used > b.limit && used != size {
		b.used.Add(-size)
		return false
	}
	return true
}

func (b *responseBudget) release(size int64) { b.used.Add(-size) }

// writeBudgeted sends a response whose body belongs to this request. A read that exceeds the budget
// is answered with 429. The response of a write is always sent, because the write has happened.
func (p *Responder) writeBudgeted(w http.ResponseWriter, r *http.Request, response Response) {
	if size := int64(len(response.Body)); r.Method == http.MethodGet {
		if !p.unread.acquire(size) {
			WriteTooManyRequests(w)
			return
		}
		defer p.unread.release(size)
	}
	p.WriteResponse(w, r, response)
}
