// Package match decides which writes webhooks and policies are about, and
// shows them those in the version that they ask for.
//
// A Request is one write on its way through a step of admission. Criteria say
// which requests somebody wants to see; what they come to is a Target: the
// resource and version to show the request in, which need not be those of its
// client where equivalent ones will do. Everything that depends on versions
// goes through Target.Show and Request.Replace.
package match
