package conformance

import "fmt"

// The functions below repeat the requests that the recorder sent before recorded requests.

func setUpNegative(r *replay) {
	in := "/api/v1/namespaces/x-negative/"
	r.create(in+"configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n1"},"data":{"a":"1"}}`)
	r.create(in+"pods", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1"},"spec":{"containers":[{"name":"c","image":"nginx"}]}}`)
	r.create("/apis/apps/v1/namespaces/x-negative/deployments", `{"apiVersion":"apps/v1","kind":"Deployment",
		"metadata":{"name":"d1","labels":{"app":"d1"}},
		"spec":{"replicas":1,"selector":{"matchLabels":{"app":"d1"}},
			"template":{"metadata":{"labels":{"app":"d1"}},"spec":{"containers":[{"name":"web","image":"nginx"}]}}}}`)
}

func setUpLists(r *replay) {
	for i := range 7 {
		parity := []string{"even", "odd"}[i%2]
		r.create("/api/v1/namespaces/x-lists/configmaps", fmt.Sprintf(
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"l%d","labels":{"n":"%d","parity":"%s"}},"data":{"i":"%d"}}`, i, i, parity, i))
	}
}

func addToLists(r *replay) {
	r.create("/api/v1/namespaces/x-lists/configmaps", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"l1a"}}`)
}

// removeInvalidDeployment deletes an object that validation should have rejected, if it did not.
func removeInvalidDeployment(r *replay) {
	r.send(&step{Method: "DELETE", Path: "/apis/apps/v1/namespaces/x-apply/deployments/d1"})
}

// removePolicyDeployment removes the Deployment of the previous chain, as the garbage collector
// would.
func removePolicyDeployment(r *replay) {
	r.must("PATCH", "/apis/apps/v1/namespaces/x-meta/deployments/pol", "application/merge-patch+json", `{"metadata":{"finalizers":null}}`)
}

// removeGadgets deletes the gadgets of the previous chains.
func removeGadgets(r *replay) {
	r.send(&step{Method: "DELETE", Path: "/apis/crd.exam.org/v1/namespaces/x-crd/gadgets"})
}

func setUpAdmission(r *replay) {
	r.namespace("x-admission2")
	r.namespace("x-admission3")
}

func removeQuota(r *replay) {
	r.must("DELETE", "/api/v1/namespaces/x-admission/resourcequotas/q", "", "")
}

func setUpManifests(r *replay) {
	r.namespace("x-manifests-limitrange")
	r.namespace("x-manifests-resourcequota")
}

// removeVolume removes the finalizers of a deleted volume, as a controller would.
func removeVolume(r *replay) {
	r.must("PATCH", "/api/v1/persistentvolumes/pv0003", "application/merge-patch+json", `{"metadata":{"finalizers":null}}`)
}

// removeController deletes the controller of a previous chain, whose recording is incomplete.
func removeController(r *replay) {
	r.must("DELETE", "/api/v1/namespaces/x-manifests/replicationcontrollers/test-rc?propagationPolicy=Background", "", "")
}

// removeBinding deletes the RoleBinding of an earlier chain.
func removeBinding(r *replay) {
	r.must("DELETE", "/apis/rbac.authorization.k8s.io/v1/namespaces/x-lifecycle/rolebindings/rb-one", "", "")
}

// setUpDeletions defines the custom resource whose objects are deleted.
func setUpDeletions(r *replay) {
	r.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": {"name": "parts.deletions.example.com"},
		"spec": {
			"group": "deletions.example.com", "scope": "Namespaced",
			"names": {"plural": "parts", "singular": "part", "kind": "Part", "listKind": "PartList"},
			"versions": [{"name": "v1", "served": true, "storage": true, "schema": {
				"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}`)
}

// removeJob removes the finalizer of a deleted Job, as a controller of the recorded server did.
func removeJob(r *replay, name string) {
	r.must("PATCH", "/apis/batch/v1/namespaces/x-lifecycle/jobs/"+name, "application/merge-patch+json", `{"metadata":{"finalizers":null}}`)
}
