package apps

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/miniapi/miniapi/kinds/kind"
)

func warnOfNewDeployment(d *appsv1.Deployment) []string {
	return append(kind.WarnOfName(d.Name), warnOfDeployment(d)...)
}

func warnOfDeployment(d *appsv1.Deployment) []string { return warnOfTemplate(&d.Spec.Template) }
