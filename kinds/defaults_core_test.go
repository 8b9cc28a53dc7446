package kinds_test

import "testing"

func TestServiceDefaults(t *testing.T) {
	const always = `
spec:
  type: ClusterIP
  sessionAffinity: None
  internalTrafficPolicy: Cluster`
	defaulting{resource: "services", version: "v1", always: always, cases: []defaultCase{
		{"nothing", `{}`, ``},
		{"set values are kept", `spec: {internalTrafficPolicy: Local, ports: [{port: 80, protocol: UDP, targetPort: web}]}`, ``},
		{"port", `spec: {ports: [{port: 80}, {port: 81, targetPort: ""}]}`, `spec: {ports: [{protocol: TCP, targetPort: 80}, {protocol: TCP, targetPort: 81}]}`},
		{"node port", `spec: {type: NodePort}`, `spec: {externalTrafficPolicy: Cluster}`},
		{"external address", `spec: {externalIPs: [10.0.0.1]}`, `spec: {externalTrafficPolicy: Cluster}`},
		{"local traffic", `spec: {type: NodePort, externalTrafficPolicy: Local}`, ``},
		{"load balancer", `spec: {type: LoadBalancer}`, `spec: {externalTrafficPolicy: Cluster, allocateLoadBalancerNodePorts: true}`},
		{"load balancer without node ports", `spec: {type: LoadBalancer, allocateLoadBalancerNodePorts: false}`, `spec: {externalTrafficPolicy: Cluster}`},
		{
			"points of entry", `{spec: {type: LoadBalancer}, status: {loadBalancer: {ingress: [{ip: 10.0.0.1}, {hostname: h}, {ip: 10.0.0.2, ipMode: Proxy}]}}}`,
			`{spec: {externalTrafficPolicy: Cluster, allocateLoadBalancerNodePorts: true}, status: {loadBalancer: {ingress: [{ipMode: VIP}]}}}`,
		},
		{"external name", `spec: {type: ExternalName, externalName: example.com}`, `spec: {internalTrafficPolicy: null}`},
		{"affinity", `spec: {sessionAffinity: ClientIP}`, `spec: {sessionAffinityConfig: {clientIP: {timeoutSeconds: 10800}}}`},
		{"affinity with a timeout", `spec: {sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}}`, ``},
		{"a timeout without affinity", `spec: {sessionAffinityConfig: {clientIP: {timeoutSeconds: 5}}}`, `spec: {sessionAffinityConfig: null}`},
	}}.run(t)
}

func TestVolumesAndClaimsDefaults(t *testing.T) {
	defaulting{resource: "persistentvolumes", version: "v1", always: `
spec: {persistentVolumeReclaimPolicy: Retain, volumeMode: Filesystem}
status: {phase: Pending}`, cases: []defaultCase{
		{"nothing", `{}`, ``},
		{"set values are kept", `{spec: {persistentVolumeReclaimPolicy: Delete, volumeMode: Block}, status: {phase: Bound}}`, ``},
		{"hostPath", `spec: {hostPath: {path: /x}}`, `spec: {hostPath: {type: ""}}`},
		{"iscsi", `spec: {iscsi: {targetPortal: t, iqn: q, lun: 0}}`, `spec: {iscsi: {iscsiInterface: default}}`},
		{"rbd", `spec: {rbd: {monitors: [m], image: i}}`, `spec: {rbd: {pool: rbd, user: admin, keyring: /etc/ceph/keyring}}`},
		{"azureDisk", `spec: {azureDisk: {diskName: d, diskURI: u, kind: Managed}}`, `spec: {azureDisk: {cachingMode: ReadWrite, fsType: ext4, readOnly: false}}`},
		{"scaleIO", `spec: {scaleIO: {gateway: g, system: s, secretRef: {name: s}}}`, `spec: {scaleIO: {storageMode: ThinProvisioned, fsType: xfs}}`},
	}}.run(t)
	defaulting{resource: "persistentvolumeclaims", version: "v1", always: `
spec: {volumeMode: Filesystem}
status: {phase: Pending}`, cases: []defaultCase{
		{"nothing", `{}`, ``},
		{"set values are kept", `{spec: {volumeMode: Block}, status: {phase: Bound}}`, ``},
		{"capacity is rounded", `spec: {resources: {requests: {storage: 0.0001}}}`, `spec: {resources: {requests: {storage: 1m}}}`},
	}}.run(t)
}

func TestOtherCoreDefaults(t *testing.T) {
	for _, table := range []defaulting{
		{resource: "replicationcontrollers", cases: []defaultCase{
			{"nothing", `{}`, `spec: {replicas: 1}`},
			{"set values are kept", `{metadata: {labels: {x: y}}, spec: {replicas: 0, selector: {a: b}, template: {metadata: {labels: {a: b, c: d}}}}}`, templateAdded},
			{"labels", `spec: {replicas: 2, template: {metadata: {labels: {a: b}}}}`, `
metadata: {labels: {a: b}}
spec: {selector: {a: b}, template: {spec: {dnsPolicy: ClusterFirst, restartPolicy: Always, schedulerName: default-scheduler, securityContext: {}, terminationGracePeriodSeconds: 30}}}`},
		}},
		{resource: "secrets", cases: []defaultCase{
			{"nothing", `{}`, `type: Opaque`},
			{"set values are kept", `type: x/y`, ``},
			{"text", `{stringData: {a: b}, data: {a: eA==, c: eA==}, type: x/y}`, `{stringData: null, data: {a: Yg==}}`},
		}},
		{resource: "endpoints", cases: []defaultCase{
			{"ports", `subsets: [{ports: [{port: 80}, {port: 81, protocol: UDP}]}]`, `subsets: [{ports: [{protocol: TCP}]}]`},
		}},
		{resource: "namespaces", always: `status: {phase: Active}`, cases: []defaultCase{
			{"name", `metadata: {name: n, labels: {a: b}}`, `metadata: {labels: {kubernetes.io/metadata.name: n}}`},
			{"another label", `metadata: {name: n, labels: {kubernetes.io/metadata.name: m}}`, `metadata: {labels: {kubernetes.io/metadata.name: n}}`},
			{"no name yet", `metadata: {generateName: n-}`, ``},
			{"a terminating namespace", `status: {phase: Terminating}`, ``},
		}},
		{resource: "nodes", cases: []defaultCase{
			{"nothing", `{}`, ``},
			{"capacity", `status: {capacity: {cpu: 2}}`, `status: {allocatable: {cpu: 2}}`},
			{"less allocatable than capacity", `status: {capacity: {cpu: 2}, allocatable: {cpu: 1}}`, ``},
			{"addresses of pods", `spec: {podCIDR: 10.0.0.0/24}`, `spec: {podCIDRs: [10.0.0.0/24]}`},
			{"ranges of addresses", `spec: {podCIDRs: [10.0.0.0/24, "fd00::/64"]}`, `spec: {podCIDR: 10.0.0.0/24}`},
		}},
		{resource: "limitranges", cases: []defaultCase{
			{"most", `spec: {limits: [{type: Container, max: {cpu: 1}}]}`, `spec: {limits: [{default: {cpu: 1}, defaultRequest: {cpu: 1}}]}`},
			{"least", `spec: {limits: [{type: Container, min: {cpu: 1}}]}`, `spec: {limits: [{default: {}, defaultRequest: {cpu: 1}}]}`},
			{"default", `spec: {limits: [{type: Container, max: {cpu: 3}, default: {cpu: 2}, min: {cpu: 1, memory: 1Gi}}]}`, `spec: {limits: [{defaultRequest: {cpu: 2, memory: 1Gi}}]}`},
			{"set values are kept", `spec: {limits: [{type: Container, max: {cpu: 3}, default: {cpu: 2}, defaultRequest: {cpu: 1}}]}`, ``},
			{"limits of pods", `spec: {limits: [{type: Pod, max: {cpu: 1}}]}`, ``},
		}},
		{resource: "resourcequotas", cases: []defaultCase{
			{"quantities are rounded", `spec: {hard: {cpu: 0.0001, pods: 3}}`, `spec: {hard: {cpu: 1m}}`},
		}},
	} {
		table.version = "v1"
		table.run(t)
	}
}
