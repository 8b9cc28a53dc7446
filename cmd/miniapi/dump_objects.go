package main

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// derivedResources are not dumped, for the reasons that are their values.
var derivedResources = map[string]string{
	"events":                        "they expire",
	"ipaddresses.networking.k8s.io": "the server allocates the addresses of a Service again",
}

// bootstrapNames are the names of objects that every server has, by resource.
var bootstrapNames = map[string][]string{
	"namespaces":                        {"default", "kube-system", "kube-public", "kube-node-lease"},
	"services":                          {"default/kubernetes"},
	"endpoints":                         {"default/kubernetes"},
	"endpointslices.discovery.k8s.io":   {"default/kubernetes"},
	"servicecidrs.networking.k8s.io":    {"kubernetes"},
	"priorityclasses.scheduling.k8s.io": {"system-cluster-critical", "system-node-critical"},
	"serviceaccounts":                   {"*/default"},
	"configmaps": {
		"*/kube-root-ca.crt", "kube-system/extension-apiserver-authentication",
		"kube-system/kube-apiserver-legacy-service-account-token-tracking",
	},
}

// bootstrapMarks are the labels and annotations of objects that servers create.
var bootstrapMarks = []string{
	"kubernetes.io/bootstrapping", "apf.kubernetes.io/autoupdate-spec",
	"kube-aggregator.kubernetes.io/automanaged", "apiserver.kubernetes.io/identity",
}

// isBootstrap reports whether a server creates the object at its start, or for each namespace.
func isBootstrap(resource string, obj *unstructured.Unstructured) bool {
	for _, name := range bootstrapNames[resource] {
		namespace, inNamespace, namespaced := strings.Cut(name, "/")
		if !namespaced && obj.GetName() == name ||
			namespaced && obj.GetName() == inNamespace && (namespace == "*" || obj.GetNamespace() == namespace) {
			return true
		}
	}
	labels, annotations := obj.GetLabels(), obj.GetAnnotations()
	for _, mark := range bootstrapMarks {
		if labels[mark] != "" || annotations[mark] != "" {
			return true
		}
	}
	return false
}

// clean removes the fields that the server sets, and those that refer to UIDs.
func clean(obj *unstructured.Unstructured) {
	for _, field := range []string{
		"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "ownerReferences",
		"deletionTimestamp", "deletionGracePeriodSeconds",
	} {
		unstructured.RemoveNestedField(obj.Object, "metadata", field)
	}
	switch obj.GroupVersionKind().GroupKind().String() {
	case "Namespace":
		delete(obj.Object, "spec") // finalizers, which the server sets
	case "Job.batch":
		cleanJob(obj)
	case "PersistentVolume":
		unstructured.RemoveNestedField(obj.Object, "spec", "claimRef", "uid")
		unstructured.RemoveNestedField(obj.Object, "spec", "claimRef", "resourceVersion")
	}
}

// cleanJob removes the generated selector of a Job, which contains its UID.
func cleanJob(obj *unstructured.Unstructured) {
	if manual, _, _ := unstructured.NestedBool(obj.Object, "spec", "manualSelector"); manual {
		return
	}
	unstructured.RemoveNestedField(obj.Object, "spec", "selector")
	for _, label := range []string{"controller-uid", "job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"} {
		unstructured.RemoveNestedField(obj.Object, "metadata", "labels", label)
		unstructured.RemoveNestedField(obj.Object, "spec", "template", "metadata", "labels", label)
	}
}
