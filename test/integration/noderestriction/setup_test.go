package noderestriction_test

// setup returns the objects that exist in all cases, by the path of their collection. Pods and
// slices are on node n1 if they are named own, and on node n2 if they are named other.
func setup() map[string][]string {
	return map[string][]string{
		"/api/v1/nodes": {"{metadata: {name: n1, labels: {a: b, kubernetes.io/role: x}}}", "{metadata: {name: n2}}"},
		"/api/v1/namespaces/default/serviceaccounts": {"{metadata: {name: sa}}"},
		"/api/v1/namespaces/default/pods": {
			pod("own", "n1", `{serviceAccountName: sa, volumes: [`+
				`{name: token, projected: {sources: [{serviceAccountToken: {path: t, audience: projected}}]}}, `+
				`{name: certificate, projected: {sources: [{podCertificate: {signerName: example.com/own, keyType: ED25519, keyPath: k}}]}}, `+
				`{name: inline, csi: {driver: inline.example.com}}, {name: claim, persistentVolumeClaim: {claimName: claim}}, `+
				`{name: ebs, awsElasticBlockStore: {volumeID: v}}, `+
				`{name: template, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]}`, ""),
			pod("plain", "n1", "{serviceAccountName: sa}", ""),
			pod("other", "n2", "{serviceAccountName: sa}", ""),
			pod("mirror", "n1", "{}", "{kubernetes.io/config.mirror: x}"),
		},
		"/api/v1/namespaces/default/persistentvolumeclaims": {claim("claim", "volume"), claim("own-template", "disk")},
		"/api/v1/persistentvolumes":                         {volume("volume", "csi: {driver: claimed.example.com, volumeHandle: h}"), volume("disk", "gcePersistentDisk: {pdName: d}")},
		"/apis/storage.k8s.io/v1/csidrivers": {
			driver("inline.example.com", "inline"), driver("claimed.example.com", "claimed"), driver("ebs.csi.aws.com", "ebs"), driver("pd.csi.storage.gke.io", "disk"),
		},
		"/apis/storage.k8s.io/v1/csinodes":                               {csiNode("n1", ""), csiNode("n2", "")},
		"/apis/resource.k8s.io/v1/resourceslices":                        {slice("own", "n1"), slice("other", "n2")},
		"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases": {"{metadata: {name: n1}}", "{metadata: {name: n2}}"},
		// The authorizer of nodes would reject some of the requests that the plugin rejects.
		"/apis/rbac.authorization.k8s.io/v1/clusterroles": {`{metadata: {name: nodes}, rules: [{apiGroups: ["*"], ` +
			`resources: [pods, pods/status, pods/eviction, pods/binding, pods/resize, nodes, nodes/status, persistentvolumeclaims, persistentvolumeclaims/status, serviceaccounts, serviceaccounts/token, ` +
			`leases, csinodes, csinodes/status, resourceslices, certificatesigningrequests, podcertificaterequests, podcertificaterequests/status, configmaps], ` +
			`verbs: [create, update, patch, delete, get, deletecollection]}, ` +
			`{apiGroups: [""], resources: [permitted], verbs: [request-serviceaccounts-token-audience], resourceNames: [sa]}, ` +
			`{apiGroups: [certificates.k8s.io], resources: ["example.com:permitted"], verbs: [request-serviceaccounts-podcertificate-signer], resourceNames: [sa]}]}`},
		"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings": {`{metadata: {name: nodes}, ` +
			`roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: nodes}, ` +
			`subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:nodes"}]}`},
	}
}

// pod returns a pod whose spec, with one container, is extended by more.
func pod(name, node, more, annotations string) string {
	if annotations == "" {
		annotations = "{}"
	}
	return "{metadata: {name: " + name + ", annotations: " + annotations + "}, spec: {nodeName: " + node +
		", containers: [{name: c, image: i}]" + inner(more) + "}}"
}

// inner returns the fields of a map in braces, after a comma.
func inner(fields string) string {
	if fields == "" || fields == "{}" {
		return ""
	}
	return ", " + fields[1:len(fields)-1]
}

func claim(name, volume string) string {
	return "{metadata: {name: " + name + "}, spec: {accessModes: [ReadWriteOnce], volumeName: " + volume +
		", storageClassName: '', resources: {requests: {storage: 1Gi}}}}"
}

func volume(name, source string) string {
	return "{metadata: {name: " + name + "}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], " + source + "}}"
}

func driver(name, audience string) string {
	return "{metadata: {name: " + name + "}, spec: {tokenRequests: [{audience: " + audience + "}]}}"
}

func csiNode(name, more string) string {
	return "{metadata: {name: " + name + "}, spec: {drivers: []}" + inner(more) + "}"
}

func slice(name, node string) string {
	return "{metadata: {name: " + name + "}, spec: {nodeName: " + node + ", driver: d.example.com, pool: {name: p, resourceSliceCount: 1}, devices: []}}"
}
