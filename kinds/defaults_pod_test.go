package kinds_test

import (
	"strings"
	"testing"
)

const (
	podAlways = `
spec:
  dnsPolicy: ClusterFirst
  restartPolicy: Always
  schedulerName: default-scheduler
  securityContext: {}
  terminationGracePeriodSeconds: 30
  enableServiceLinks: true`
	containerAlways = `imagePullPolicy: IfNotPresent, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File`
	probeAlways     = `timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3`
)

func TestPodDefaults(t *testing.T) {
	defaulting{resource: "pods", version: "v1", always: podAlways, cases: []defaultCase{
		{"nothing", `{}`, ``},
		{
			"set values are kept",
			`spec: {dnsPolicy: None, restartPolicy: Never, schedulerName: own, securityContext: {runAsUser: 0}, terminationGracePeriodSeconds: 0, enableServiceLinks: false}`,
			``,
		},
		{"the old name of the service account", `spec: {serviceAccount: a}`, `spec: {serviceAccountName: a}`},
		{"the new name of the service account", `spec: {serviceAccountName: a}`, `spec: {serviceAccount: a}`},
		{"two service accounts", `spec: {serviceAccountName: a, serviceAccount: b}`, `spec: {serviceAccount: a}`},
		{"address", `status: {podIP: 10.0.0.1}`, `status: {podIPs: [{ip: 10.0.0.1}]}`},
		{"addresses", `status: {podIPs: [{ip: 10.0.0.1}, {ip: fd00::1}]}`, `status: {podIP: 10.0.0.1}`},
		{"a negative termination grace period becomes one second", `spec: {terminationGracePeriodSeconds: -1}`, `spec: {terminationGracePeriodSeconds: 1}`},
		{"overhead is rounded", `spec: {overhead: {cpu: 1.0001, memory: 1Gi}}`, `spec: {overhead: {cpu: 1.001}}`},
	}}.run(t)
}

func TestContainerDefaults(t *testing.T) {
	cases := []defaultCase{
		{"set values are kept", `imagePullPolicy: Never, terminationMessagePath: /x, terminationMessagePolicy: FallbackToLogsOnError`, ``},
		{"port", `ports: [{containerPort: 80}, {containerPort: 53, protocol: UDP}]`, `ports: [{protocol: TCP}]`},
		{"field of the pod", `env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: B, value: b}]`, `env: [{valueFrom: {fieldRef: {apiVersion: v1}}}]`},
		{"key of a file", `env: [{name: A, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k}}}]`, `env: [{valueFrom: {fileKeyRef: {optional: false}}}]`},
		{"HTTP probe", `livenessProbe: {httpGet: {port: 80}}`, `livenessProbe: {` + probeAlways + `, httpGet: {path: /, scheme: HTTP}}`},
		{"TCP probe", `readinessProbe: {tcpSocket: {port: 80}}`, `readinessProbe: {` + probeAlways + `}`},
		{"gRPC probe", `startupProbe: {grpc: {port: 80}}`, `startupProbe: {` + probeAlways + `, grpc: {service: ""}}`},
		{
			"probe that is set",
			`livenessProbe: {timeoutSeconds: 2, periodSeconds: 3, successThreshold: 4, failureThreshold: 5, httpGet: {path: /x, port: 80, scheme: HTTPS}}`, ``,
		},
		{"lifecycle", `lifecycle: {postStart: {httpGet: {port: 80}}, preStop: {httpGet: {port: 81, path: /x}}}`, `lifecycle: {postStart: {httpGet: {path: /, scheme: HTTP}}, preStop: {httpGet: {scheme: HTTP}}}`},
		{"requests are rounded", `resources: {requests: {cpu: 0.0001}}`, `resources: {requests: {cpu: 1m}}`},
	}
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		table := defaulting{resource: "pods", version: "v1", always: podAlways + `
  ` + list + `: [{` + containerAlways + `}]`}
		for _, c := range cases {
			table.cases = append(table.cases, defaultCase{
				name:  list + "/" + c.name,
				given: `spec: {` + list + `: [{name: c, image: "i:1", ` + c.given + `}]}`,
				added: `spec: {` + list + `: [{` + c.added + `}]}`,
			})
		}
		table.run(t)
	}
}

func TestPullPolicyDependsOnTheTag(t *testing.T) {
	const digest = "@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	table := defaulting{resource: "podtemplates", version: "v1"}
	for image, policy := range map[string]string{
		"nginx":                         "Always",
		"nginx:latest":                  "Always",
		"nginx:1.25":                    "IfNotPresent",
		"nginx" + digest:                "IfNotPresent",
		"nginx:latest" + digest:         "Always",
		"localhost:5000/a/b":            "Always",
		"localhost:5000/a/b:1":          "IfNotPresent",
		"Registry.example.com/a__b/c-d": "Always",
		"[fd00::1]:5000/a:latest":       "Always",
		"Nginx":                         "IfNotPresent", // not a valid name of an image

		strings.Repeat("a", 247):                "Always", // with library/ the longest path
		strings.Repeat("a", 248):                "IfNotPresent",
		strings.Repeat("a", 248) + ":latest":    "IfNotPresent",
		strings.Repeat("a", 64):                 "IfNotPresent", // a digest
		"docker.io/" + strings.Repeat("a", 248): "IfNotPresent",
		"quay.io/" + strings.Repeat("a", 255):   "Always",
		"quay.io/" + strings.Repeat("a", 256):   "IfNotPresent",
		"a/" + strings.Repeat("a", 254):         "IfNotPresent",
		"a b":                                   "IfNotPresent",
		"":                                      "IfNotPresent",
	} {
		const rest = `terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File, imagePullPolicy: `
		table.cases = append(table.cases, defaultCase{
			name:  "image " + image,
			given: `template: {spec: {containers: [{name: c, image: "` + image + `"}], volumes: [{name: v, image: {reference: "` + image + `"}}]}}`,
			added: `template: {spec: {dnsPolicy: ClusterFirst, restartPolicy: Always, schedulerName: default-scheduler, securityContext: {},
				terminationGracePeriodSeconds: 30, containers: [{` + rest + policy + `}], volumes: [{image: {pullPolicy: ` + policy + `}}]}}`,
		})
	}
	table.run(t)
}

func TestVolumeDefaults(t *testing.T) {
	volume := func(name, given, added string) defaultCase {
		return defaultCase{name, `spec: {volumes: [{name: v, ` + given + `}]}`, `spec: {volumes: [{` + added + `}]}`}
	}
	defaulting{resource: "pods", version: "v1", always: podAlways, cases: []defaultCase{
		{"no source", `spec: {volumes: [{name: v}]}`, `spec: {volumes: [{emptyDir: {}}]}`},
		volume("secret", `secret: {secretName: s}`, `secret: {defaultMode: 420}`),
		volume("secret that is set", `secret: {secretName: s, defaultMode: 256}`, ``),
		volume("configMap", `configMap: {name: c}`, `configMap: {defaultMode: 420}`),
		volume("downwardAPI", `downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}`, `downwardAPI: {defaultMode: 420, items: [{fieldRef: {apiVersion: v1}}]}`),
		volume("projected", `projected: {sources: [{serviceAccountToken: {path: t}}, {downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}, {configMap: {name: c}}]}`,
			`projected: {defaultMode: 420, sources: [{serviceAccountToken: {expirationSeconds: 3600}}, {downwardAPI: {items: [{fieldRef: {apiVersion: v1}}]}}]}`),
		volume("hostPath", `hostPath: {path: /x}`, `hostPath: {type: ""}`),
		volume("iscsi", `iscsi: {targetPortal: t, iqn: q, lun: 0}`, `iscsi: {iscsiInterface: default}`),
		volume("rbd", `rbd: {monitors: [m], image: i, user: u}`, `rbd: {pool: rbd, keyring: /etc/ceph/keyring}`),
		volume("azureDisk", `azureDisk: {diskName: d, diskURI: u}`, `azureDisk: {cachingMode: ReadWrite, fsType: ext4, readOnly: false, kind: Shared}`),
		volume("scaleIO", `scaleIO: {gateway: g, system: s, secretRef: {name: s}}`, `scaleIO: {storageMode: ThinProvisioned, fsType: xfs}`),
		volume("ephemeral", `ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1Gi}}}}}`, `ephemeral: {volumeClaimTemplate: {spec: {volumeMode: Filesystem}}}`),
		volume("nfs", `nfs: {server: s, path: /}`, ``),
	}}.run(t)
}

func TestPodResourceDefaults(t *testing.T) {
	const two = `containers: [{` + containerAlways + `}, {` + containerAlways + `}]`
	pod := func(name, given, added string) defaultCase {
		return defaultCase{name, `spec: {containers: [{name: a, image: "i:1"}, {name: b, image: "i:1"}], ` + given + `}`, `spec: {` + two + `, ` + added + `}`}
	}
	defaulting{resource: "pods", version: "v1", always: podAlways, sums: true, cases: []defaultCase{
		{
			"a container requests what it is limited to",
			`spec: {containers: [{name: a, image: "i:1", resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}}], initContainers: [{name: b, image: "i:1", resources: {limits: {cpu: 2}}}]}`,
			`spec: {containers: [{` + containerAlways + `, resources: {requests: {memory: 1Gi}}}], initContainers: [{` + containerAlways + `, resources: {requests: {cpu: 2}}}]}`,
		},
		{
			"in the host's network ports are the host's",
			`spec: {hostNetwork: true, containers: [{name: a, image: "i:1", ports: [{containerPort: 80}, {containerPort: 81, hostPort: 82}]}]}`,
			`spec: {containers: [{` + containerAlways + `, ports: [{hostPort: 80, protocol: TCP}, {protocol: TCP}]}]}`,
		},
		pod("a pod requests what it is limited to", `resources: {limits: {cpu: 2}}`, `resources: {requests: {cpu: 2}}`),
		pod("a pod which only requests", `resources: {requests: {cpu: 2}}`, ``),
		{
			"a pod requests what its containers do",
			`spec: {resources: {limits: {cpu: 4, memory: 1Gi}}, containers: [{name: a, image: "i:1", resources: {requests: {cpu: 1}}}, {name: b, image: "i:1", resources: {requests: {cpu: 500m}}}],
				initContainers: [{name: c, image: "i:1", restartPolicy: Always, resources: {requests: {cpu: 1}}}, {name: d, image: "i:1", resources: {requests: {cpu: 1}}}]}`,
			`spec: {resources: {requests: {cpu: 2500m, memory: 1Gi}}, ` + two + `, initContainers: [{` + containerAlways + `}, {` + containerAlways + `}]}`,
		},
		{
			"a pod is limited to the huge pages of its containers",
			`spec: {resources: {limits: {cpu: 4}}, containers: [{name: a, image: "i:1", resources: {limits: {hugepages-2Mi: 2Mi}}}]}`,
			`spec: {resources: {limits: {hugepages-2Mi: 2Mi}, requests: {cpu: 4, hugepages-2Mi: 2Mi}}, containers: [{` + containerAlways + `, resources: {requests: {hugepages-2Mi: 2Mi}}}]}`,
		},
		{
			"huge pages that the pod requests have no limit",
			`spec: {resources: {requests: {hugepages-2Mi: 2Mi}}, containers: [{name: a, image: "i:1", resources: {limits: {hugepages-2Mi: 2Mi}}}]}`,
			`spec: {containers: [{` + containerAlways + `, resources: {requests: {hugepages-2Mi: 2Mi}}}]}`,
		},
	}}.run(t)
}

// A template has the defaults of a pod, but for the fields that derive from others.
func TestTemplateDefaults(t *testing.T) {
	defaulting{
		resource: "podtemplates", version: "v1",
		always: `template: {spec: {dnsPolicy: ClusterFirst, restartPolicy: Always, schedulerName: default-scheduler, securityContext: {}, terminationGracePeriodSeconds: 30}}`,
		cases: []defaultCase{
			{"nothing", `{}`, ``},
			{
				"limits and ports",
				`template: {spec: {hostNetwork: true, containers: [{name: a, image: "i:1", ports: [{containerPort: 80}], resources: {limits: {cpu: 1}}}]}}`,
				`template: {spec: {containers: [{` + containerAlways + `, ports: [{protocol: TCP}]}]}}`,
			},
		},
	}.run(t)
}
