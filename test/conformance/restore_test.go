package conformance

import "strings"

// restorations insert the parts of requests that are missing in their recordings, by the beginning
// of an id.
var restorations = []struct {
	id, release string // release "": all
	restore     *strings.Replacer
}{
	// The recorder has dropped the first one of duplicate keys.
	{"negative/requests/duplicate field", "", strings.NewReplacer(
		`"data":{"a":"2"}`, `"data":{"a":"1","a":"2"}`, `"immutable":false`, `"immutable":true,"immutable":false`)},
	{"negative/requests/put unknown", "", strings.NewReplacer(`"data":{"a":"2"}`, `"data":{"a":"1","a":"2"}`)},
	// The recorded requests to v1.37 are cut, and requests to v1.36 are in their place.
	{"lifecycle/storage.k8s.io.v1.CSIDriver-csi.exam.org/update", latest, strings.NewReplacer(
		`"f:podInfoOnMount":{}`, `"f:podInfoOnMount":{},"f:preventPodSchedulingIfMissing":{}`)},
	{"manifests/test/fixtures/doc-yaml/user-guide/multi-pod.yaml-2/", latest, strings.NewReplacer("agnhost:2.63.0", "agnhost:2.66.1")},
	// The recorder has replaced resourceVersions of manifests by ordinals.
	{"manifests/hack/testdata/deployment-label-change2.yaml-1/create", "", strings.NewReplacer(`"RV1"`, `"99"`)},
	{"manifests/test/fixtures/pkg/kubectl/cmd/apply/deploy-serverside.yaml-1/create", "", strings.NewReplacer(`"RV1"`, `"355959"`)},
	{"manifests/testdata/apply/deploy-serverside.yaml-1/create", "", strings.NewReplacer(`"RV1"`, `"355959"`)},
}

// restore returns the complete body of a recorded request.
func restore(id, release, body string) string {
	for _, r := range restorations {
		if strings.HasPrefix(id, r.id) && (r.release == "" || r.release == release) {
			body = r.restore.Replace(body)
		}
	}
	return body
}
