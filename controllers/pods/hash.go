package pods

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/dump"
)

// TemplateHash returns the hash of a template among the labels of pods. It equals the hash of a
// kube-controller-manager with the same version of k8s.io/api. Another number of collisions gives
// another hash.
func TemplateHash(template *corev1.PodTemplateSpec, collisions *int32) string {
	hash := fnv.New32a()
	fmt.Fprint(hash, dump.ForHash(*template))
	if collisions != nil {
		var count [8]byte
		binary.LittleEndian.PutUint32(count[:], uint32(*collisions))
		hash.Write(count[:])
	}
	return rand.SafeEncodeString(fmt.Sprint(hash.Sum32()))
}
