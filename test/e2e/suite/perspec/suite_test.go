package perspec_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/miniapi/miniapi/miniapitest"
)

var k8sClient client.Client

func TestControllers(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Controller Suite")
}

var _ = BeforeEach(func() {
	server := miniapitest.Start(GinkgoTB(), miniapitest.Options{})
	var err error
	k8sClient, err = client.New(server.RESTConfig(), client.Options{Scheme: scheme.Scheme})
	Expect(err).NotTo(HaveOccurred())
})
