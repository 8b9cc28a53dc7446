package filters

import (
	"net/http"
	"time"

	"github.com/miniapi/miniapi/api/request"
	"github.com/miniapi/miniapi/api/requestlog"
)

// WithRequestLog adds a record of each request to the log when its response is complete. Later
// filters and handlers complete the record, which request.RecordFrom returns. It does nothing if
// log is nil.
func WithRequestLog(log *requestlog.Log) Filter {
	return func(next http.Handler) http.Handler {
		if log == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info, recorder := request.InfoFrom(r), recorderOf(w)
			record := request.NewRecord(r, info)
			info.Record = record
			defer func() {
				record.Duration, record.Code = time.Since(record.Time), recorder.Status
				record.AuditID = w.Header().Get(AuditIDHeader)
				log.Add(r.Context(), record)
			}()
			next.ServeHTTP(recorder, r)
		})
	}
}
