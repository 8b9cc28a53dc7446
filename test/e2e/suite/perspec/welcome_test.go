package perspec_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/miniapi/miniapi/test/e2e/suite"
)

var _ = Describe("Welcome", func() {
	It("leaves a ConfigMap in a Namespace", func(ctx SpecContext) {
		reconciler := &suite.WelcomeReconciler{Client: k8sClient}
		request := ctrl.Request{NamespacedName: client.ObjectKey{Name: "default"}}
		_, err := reconciler.Reconcile(ctx, request)
		Expect(err).NotTo(HaveOccurred())

		welcome := &corev1.ConfigMap{}
		Expect(k8sClient.Get(ctx, client.ObjectKey{Namespace: "default", Name: "welcome"}, welcome)).To(Succeed())
		Expect(welcome.Data).To(HaveKeyWithValue("text", "This is default."))
	})
})
