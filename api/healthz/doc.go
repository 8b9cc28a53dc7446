// Package healthz serves /healthz, /livez and /readyz with the checks and texts of kube-apiserver.
package healthz
