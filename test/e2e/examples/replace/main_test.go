package main

import (
	"os"
	"testing"

	"github.com/miniapi/miniapi/test/e2e/kubectl"
)

func TestMain(m *testing.M) {
	kubectl.BeIfAsked()
	os.Exit(m.Run())
}

func Example() {
	main()
	// Output:
	// $ kubectl apply -f -
	// deployment.apps/web created
	// $ kubectl scale deployment web --replicas=3
	// deployment.apps/web scaled
	// $ kubectl replace -f -
	// Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply your changes to the latest version and try again
	// $ kubectl apply -f -
	// deployment.apps/web configured
	// $ kubectl get deployment web -o jsonpath={.spec.template.spec.containers[0].image}
	// nginx:2
}
