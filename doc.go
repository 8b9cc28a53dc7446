// Package miniapi is a Kubernetes API server that is small enough to run inside a test: one Go
// process with an embedded etcd, real optimistic concurrency, and a REST API that curl, kubectl,
// client-go and controller-runtime use unchanged.
//
//	srv, err := miniapi.Start(ctx, miniapi.Config{})
//	if err != nil { ... }
//	defer srv.Stop(ctx)
//	client, err := kubernetes.NewForConfig(srv.RESTConfig())
//
// [Start] returns when the server answers requests. [Server.Stop] ends open watches, completes
// writes in progress, and leaves no goroutine and no file behind. A process can run any number of
// servers. They share no state, and without a Listen address each one takes a free port on
// loopback. In tests, package miniapitest starts a server that ends with the test and logs to it.
//
// Every client is the administrator unless the [Config] says otherwise: Authorization selects
// authorization modes such as RBAC, Secure adds HTTPS with authentication, and [Server.AddUser]
// returns a client config for another user.
//
// For tests, [Server.Settle] and [Server.WaitFor] wait without polling, [Server.Advance] advances
// the clock, [Server.Faults] injects failures, and [Server.Reset] and [Server.Fork] restore and
// copy the objects.
//
// This package only composes a server from the packages below it: api (HTTP), auth
// (authentication and authorization), admission, kinds (the built-in kinds), crd (custom
// resources), aggregator (APIServices), registry (the semantics of reads and writes), storage (the
// contract, and its implementations over etcd) and versioner (etcd revisions as resource versions).
package miniapi
