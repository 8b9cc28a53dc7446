package apps

import (
	appsv1 "k8s.io/api/apps/v1"
)

func warnOfDaemonSet(d *appsv1.DaemonSet) []string { return warnOfTemplate(&d.Spec.Template) }
