package versioner_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/miniapi/miniapi/versioner"
)

// An object is stored without its resourceVersion. When it is read, it gets the
// ModRevision of its key.
func Example() {
	var v versioner.Versioner = versioner.APIObjectVersioner{}
	pod := &corev1.Pod{}
	pod.Name, pod.ResourceVersion = "web", "41"

	_ = v.PrepareObjectForStorage(pod)
	fmt.Printf("stored with resourceVersion %q\n", pod.ResourceVersion)

	const modRevision = 42 // as etcd returns it
	_ = v.UpdateObject(pod, modRevision)
	fmt.Printf("read with resourceVersion %q\n", pod.ResourceVersion)

	_, err := v.ParseResourceVersion("latest")
	fmt.Println(err)
	// Output:
	// stored with resourceVersion ""
	// read with resourceVersion "42"
	// invalid resource version: resourceVersion: Invalid value: "latest": strconv.ParseUint: parsing "latest": invalid syntax
}
