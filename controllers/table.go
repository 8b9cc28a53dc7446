package controllers

import (
	"github.com/miniapi/miniapi/controllers/cronjob"
	"github.com/miniapi/miniapi/controllers/csrcleaner"
	"github.com/miniapi/miniapi/controllers/daemonset"
	"github.com/miniapi/miniapi/controllers/deployment"
	"github.com/miniapi/miniapi/controllers/disruption"
	"github.com/miniapi/miniapi/controllers/endpointslice"
	"github.com/miniapi/miniapi/controllers/flowschema"
	"github.com/miniapi/miniapi/controllers/garbagecollector"
	"github.com/miniapi/miniapi/controllers/job"
	"github.com/miniapi/miniapi/controllers/namespace"
	"github.com/miniapi/miniapi/controllers/reconcile"
	"github.com/miniapi/miniapi/controllers/replicaset"
	"github.com/miniapi/miniapi/controllers/resourcequota"
	"github.com/miniapi/miniapi/controllers/rootca"
	"github.com/miniapi/miniapi/controllers/serviceaccount"
	"github.com/miniapi/miniapi/controllers/statefulset"
	"github.com/miniapi/miniapi/controllers/ttlafterfinished"
)

// controller describes a controller.
type controller struct {
	// name and alias are the names of the controller in kube-controller-manager. The controller of
	// FlowSchemas, which is a part of kube-apiserver, has a name in the same style.
	name, alias string
	// named is set for a controller that "*" does not include.
	named bool
	make  func(reconcile.Config) reconcile.Controller
}

// table holds all controllers in alphabetical order.
var table = []controller{
	{name: "certificatesigningrequest-cleaner-controller", alias: "csrcleaner", make: csrcleaner.New},
	{name: "cronjob-controller", alias: "cronjob", named: true, make: cronjob.New},
	{name: "daemonset-controller", alias: "daemonset", named: true, make: daemonset.New},
	{name: "deployment-controller", alias: "deployment", named: true, make: deployment.New},
	{name: "disruption-controller", alias: "disruption", named: true, make: disruption.New},
	{name: "endpointslice-controller", alias: "endpointslice", named: true, make: endpointslice.New},
	{name: "flowschema-controller", alias: "flowschema", make: flowschema.New},
	{name: "garbage-collector-controller", alias: "garbagecollector", make: garbagecollector.New},
	{name: "job-controller", alias: "job", named: true, make: job.New},
	{name: "namespace-controller", alias: "namespace", make: namespace.New},
	{name: "replicaset-controller", alias: "replicaset", named: true, make: replicaset.New},
	{name: "resourcequota-controller", alias: "resourcequota", named: true, make: resourcequota.New},
	{name: "root-ca-certificate-publisher-controller", alias: "root-ca-cert-publisher", named: true, make: rootca.New},
	{name: "serviceaccount-controller", alias: "serviceaccount", named: true, make: serviceaccount.New},
	{name: "statefulset-controller", alias: "statefulset", named: true, make: statefulset.New},
	{name: "ttl-after-finished-controller", alias: "ttl-after-finished", make: ttlafterfinished.New},
}
