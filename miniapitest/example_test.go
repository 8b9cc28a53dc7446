package miniapitest_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/miniapi/miniapi/miniapitest"
)

func ExampleStart() {
	// In a test file: func TestStaleUpdate(t *testing.T) {
	runTest(func(t testing.TB) {
		server := miniapitest.Start(t, miniapitest.Options{})
		client, err := kubernetes.NewForConfig(server.RESTConfig())
		if err != nil {
			t.Fatal(err)
		}
		configMaps := client.CoreV1().ConfigMaps("default")
		mine, err := configMaps.Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		theirs := mine.DeepCopy()
		theirs.Data = map[string]string{"colour": "red"}
		if _, err := configMaps.Update(t.Context(), theirs, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		mine.Data = map[string]string{"colour": "blue"}
		_, err = configMaps.Update(t.Context(), mine, metav1.UpdateOptions{})
		fmt.Println("conflict:", apierrors.IsConflict(err))
	})
	// Output: conflict: true
}
