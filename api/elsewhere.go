package api

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// orElsewhere passes requests to the group versions of other servers on to those.
func (s *Server) orElsewhere(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		info := infoOf(r)
		remote, ok := s.config.Catalog.Snapshot().Remote(schema.GroupVersion{Group: info.Group, Version: info.Version})
		if !ok {
			next(w, r)
			return
		}
		// What may run for hours ends with this server: a watch when it is told so, a
		// stream in both directions when nothing more comes from its client.
		if info.isLongRunning() {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(s.life.ending, cancel)()
			r = r.WithContext(ctx)
		}
		if r.Header.Get("Upgrade") != "" {
			defer s.cutOnShutdown(http.NewResponseController(w).SetReadDeadline, lastRead)()
		}
		remote.Handler.ServeHTTP(w, r)
	}
}
