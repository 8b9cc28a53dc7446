package apps

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func warningsForNewDeployment(d *appsv1.Deployment) []string {
	return append(kind.WarningsForName(d.Name), warningsForDeployment(d)...)
}

func warningsForDeployment(d *appsv1.Deployment) []string {
	return warningsForTemplate(&d.Spec.Template)
}
