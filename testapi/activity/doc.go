// Package activity describes the present activity of a server: [Watches] are its open watches and
// their distance from the latest changes, [Requests] the numbers, errors and durations of requests
// by client, verb and resource, and [Servers] is the state of the server and its etcd. Each is a
// virtual resource of the group miniapi.dev, computed for each request.
package activity
