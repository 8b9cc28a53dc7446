// Package miniapi is a Kubernetes API server small enough to live inside a
// test: one Go process with an embedded etcd, real optimistic concurrency, and
// a REST API that curl, kubectl, client-go and controller-runtime use unchanged.
//
//	srv, err := miniapi.Start(ctx, miniapi.Config{})
//	if err != nil { ... }
//	defer srv.Stop(ctx)
//	client, err := kubernetes.NewForConfig(srv.RESTConfig())
//
// [Start] returns when the server answers requests; [Server.Stop] ends open
// watches, lets writes in flight finish, and leaves no goroutine and no file
// behind. Any number of servers can live in one process, each a world of its
// own: nothing is global, and without a Listen address each takes a free port
// on loopback. In a test, package miniapitest starts one that ends with the
// test and logs through it.
//
// Everybody is the administrator unless the [Config] says otherwise:
// Authorization lets roles decide, Secure speaks TLS to users with credentials,
// and [Server.AddUser] returns a config for one more user.
//
// The layers below, each a package that can be read by itself: api (HTTP),
// kinds (the built-in kinds as data), registry (what a write means), storage
// (the contract; storage/etcd and storage/embedded implement it), versioner
// (etcd's revisions as resource versions). Beside them, auth (who asks, and what
// they may do).
package miniapi
