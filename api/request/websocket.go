package request

import (
	"net/http"
	"strings"
)

// IsWebSocket reports whether a client requests an upgrade of its connection to WebSocket.
func IsWebSocket(r *http.Request) bool {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return false
	}
	for option := range strings.SplitSeq(r.Header.Get("Connection"), ",") {
		if strings.EqualFold(strings.TrimSpace(option), "upgrade") {
			return true
		}
	}
	return false
}
