// Package listener serves the HTTP API of a server on its ports: plain HTTP, HTTPS, or both.
//
// [Open] binds the ports, so that their numbers are known before anything else starts.
// [Listener.Serve] answers requests until [Listener.Close]. [Listener.DisableKeepAlive] and
// [Listener.Drain] let the last bytes of responses reach their clients first.
package listener
