package lifecycle

import (
	"time"

	"github.com/miniapi/miniapi/api/request"
)

// OpenWatch is a watch in progress.
type OpenWatch struct {
	// Number is unique among the requests of a server.
	Number    int64
	UserAgent string
	Since     time.Time
	Target    request.Target
	*request.Watch
}

// OpenWatches returns the watches in progress, oldest first.
func (t *Tracker) OpenWatches() []OpenWatch {
	var open []OpenWatch
	t.each(func(r *Request, info *request.Info) {
		if watch := info.Watch(); watch != nil {
			open = append(open, OpenWatch{Number: r.number, UserAgent: r.userAgent, Since: r.since, Target: info.Target, Watch: watch})
		}
	})
	return open
}
