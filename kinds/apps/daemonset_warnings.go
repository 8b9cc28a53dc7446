package apps

import (
	appsv1 "k8s.io/api/apps/v1"
)

func warningsForDaemonSet(d *appsv1.DaemonSet) []string { return warningsForTemplate(&d.Spec.Template) }
