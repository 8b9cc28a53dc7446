package kinds_test

import "testing"

func TestNetworkDefaults(t *testing.T) {
	const group = "networking.k8s.io"
	defaulting{group: group, resource: "networkpolicies", version: "v1", cases: []defaultCase{
		{"nothing", `{}`, `spec: {policyTypes: [Ingress]}`},
		{"egress rules", `spec: {egress: [{ports: [{port: 53}]}]}`, `spec: {policyTypes: [Ingress, Egress], egress: [{ports: [{protocol: TCP}]}]}`},
		{"set values are kept", `spec: {policyTypes: [Egress], ingress: [{ports: [{port: 53, protocol: UDP}]}]}`, ``},
	}}.run(t)
	defaulting{group: group, resource: "ingressclasses", version: "v1", cases: []defaultCase{
		{"nothing", `{}`, ``},
		{"parameters", `spec: {parameters: {kind: K, name: n}}`, `spec: {parameters: {scope: Cluster}}`},
		{"set values are kept", `spec: {parameters: {kind: K, name: n, scope: Namespace, namespace: n}}`, ``},
	}}.run(t)
	defaulting{group: "discovery.k8s.io", resource: "endpointslices", version: "v1", cases: []defaultCase{
		{"ports", `ports: [{port: 80}, {name: n, port: 81, protocol: UDP}]`, `ports: [{name: "", protocol: TCP}]`},
	}}.run(t)
}

func TestBindingDefaults(t *testing.T) {
	const group = "rbac.authorization.k8s.io"
	for _, resource := range []string{"rolebindings", "clusterrolebindings"} {
		defaulting{group: group, resource: resource, version: "v1", always: `roleRef: {apiGroup: ` + group + `}`, cases: []defaultCase{
			{"role", `roleRef: {kind: Role, name: r}`, ``},
			{
				"subjects", `subjects: [{kind: User, name: u}, {kind: Group, name: g}, {kind: ServiceAccount, name: s}]`,
				`subjects: [{apiGroup: ` + group + `}, {apiGroup: ` + group + `}]`,
			},
			{"set values are kept", `{roleRef: {apiGroup: x}, subjects: [{kind: User, apiGroup: y, name: u}]}`, ``},
		}}.run(t)
	}
}

func TestStorageDefaults(t *testing.T) {
	for _, table := range []defaulting{
		{resource: "storageclasses", always: `{reclaimPolicy: Delete, volumeBindingMode: Immediate}`, cases: []defaultCase{
			{"nothing", `{}`, ``},
			{"set values are kept", `{reclaimPolicy: Retain, volumeBindingMode: WaitForFirstConsumer}`, ``},
		}},
		{resource: "csidrivers", always: `
spec:
  attachRequired: true
  podInfoOnMount: false
  storageCapacity: false
  fsGroupPolicy: ReadWriteOnceWithFSType
  requiresRepublish: false
  seLinuxMount: false`, cases: []defaultCase{
			{"nothing", `{}`, `spec: {volumeLifecycleModes: [Persistent]}`},
			{
				"set values are kept", `spec: {attachRequired: false, podInfoOnMount: true, storageCapacity: true, fsGroupPolicy: None,
				requiresRepublish: true, seLinuxMount: true, volumeLifecycleModes: [Ephemeral]}`, ``,
			},
		}},
		{resource: "volumeattachments", cases: []defaultCase{
			{"an inline volume", `spec: {source: {inlineVolumeSpec: {hostPath: {path: /x}}}}`, `spec: {source: {inlineVolumeSpec: {hostPath: {type: ""}}}}`},
		}},
	} {
		table.group, table.version = "storage.k8s.io", "v1"
		table.run(t)
	}
}

func TestAdmissionDefaults(t *testing.T) {
	const (
		hook  = `failurePolicy: Fail, matchPolicy: Equivalent, timeoutSeconds: 10, namespaceSelector: {}, objectSelector: {}`
		set   = `failurePolicy: Ignore, matchPolicy: Exact, timeoutSeconds: 1, namespaceSelector: {matchLabels: {a: b}}, objectSelector: {matchLabels: {a: b}}`
		match = `matchPolicy: Equivalent, namespaceSelector: {}, objectSelector: {}`
	)
	for _, table := range []defaulting{
		{resource: "validatingwebhookconfigurations", always: `webhooks: [{` + hook + `}]`, cases: []defaultCase{
			{"service and rule", `webhooks: [{clientConfig: {service: {name: s}}, rules: [{operations: ["*"]}]}]`, `webhooks: [{clientConfig: {service: {port: 443}}, rules: [{scope: "*"}]}]`},
			{"set values are kept", `webhooks: [{` + set + `, clientConfig: {service: {port: 1}}, rules: [{scope: Cluster}]}]`, ``},
		}},
		{resource: "mutatingwebhookconfigurations", always: `webhooks: [{` + hook + `, reinvocationPolicy: Never}]`, cases: []defaultCase{
			{"service and rule", `webhooks: [{clientConfig: {service: {name: s}}, rules: [{operations: ["*"]}]}]`, `webhooks: [{clientConfig: {service: {port: 443}}, rules: [{scope: "*"}]}]`},
			{"set values are kept", `webhooks: [{` + set + `, reinvocationPolicy: IfNeeded, clientConfig: {service: {port: 1}}, rules: [{scope: Cluster}]}]`, ``},
		}},
		{resource: "validatingadmissionpolicies", always: `spec: {failurePolicy: Fail}`, cases: policyCases("matchConstraints", match)},
		{resource: "mutatingadmissionpolicies", always: `spec: {failurePolicy: Fail}`, cases: policyCases("matchConstraints", match)},
		{resource: "validatingadmissionpolicybindings", cases: policyCases("matchResources", match)},
		{resource: "mutatingadmissionpolicybindings", cases: policyCases("matchResources", match)},
	} {
		table.group, table.version = "admissionregistration.k8s.io", "v1"
		table.run(t)
	}
}

// policyCases are the cases of the match constraints of policies and bindings.
func policyCases(field, match string) []defaultCase {
	return []defaultCase{
		{"nothing", `{}`, ``},
		{
			"rules", `spec: {` + field + `: {resourceRules: [{resources: [pods]}], excludeResourceRules: [{resources: [pods]}]}}`,
			`spec: {` + field + `: {` + match + `, resourceRules: [{scope: "*"}], excludeResourceRules: [{scope: "*"}]}}`,
		},
		{
			"set values are kept", `spec: {` + field + `: {matchPolicy: Exact, namespaceSelector: {matchLabels: {a: b}}, objectSelector: {matchLabels: {a: b}}, resourceRules: [{scope: Cluster}]}}`, ``,
		},
	}
}

func TestExtensionDefaults(t *testing.T) {
	defaulting{group: "apiextensions.k8s.io", resource: "customresourcedefinitions", version: "v1", always: `spec: {conversion: {strategy: None}}`, cases: []defaultCase{
		{"names", `spec: {names: {kind: Widget, plural: widgets}}`, `spec: {names: {singular: widget, listKind: WidgetList}}`},
		{"set values are kept", `spec: {names: {kind: Widget, singular: w, listKind: Widgets}, conversion: {strategy: Webhook, webhook: {clientConfig: {service: {port: 1}}}}}`, ``},
		{"conversion", `spec: {conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: s}}}}}`, `spec: {conversion: {webhook: {clientConfig: {service: {port: 443}}}}}`},
	}}.run(t)
	defaulting{group: "apiregistration.k8s.io", resource: "apiservices", version: "v1", cases: []defaultCase{
		{"local", `{}`, ``},
		{"service", `spec: {service: {name: s}}`, `spec: {service: {port: 443}}`},
		{"set values are kept", `spec: {service: {name: s, port: 1}}`, ``},
	}}.run(t)
}

func TestNodeAndWorkloadDefaults(t *testing.T) {
	defaulting{group: "scheduling.k8s.io", resource: "priorityclasses", version: "v1", cases: []defaultCase{
		{"nothing", `{}`, `preemptionPolicy: PreemptLowerPriority`},
		{"set values are kept", `preemptionPolicy: Never`, ``},
	}}.run(t)
	const group = "resource.k8s.io"
	cases := func(before, after string) []defaultCase {
		request := func(text string) string { return before + `{devices: {requests: [` + text + `]}}` + after }
		return []defaultCase{
			{"one device", request(`{exactly: {}}`), request(`{exactly: {allocationMode: ExactCount, count: 1}}`)},
			{"all devices", request(`{exactly: {allocationMode: All}}`), request(``)},
			{"some devices", request(`{exactly: {count: 3}}`), request(`{exactly: {allocationMode: ExactCount}}`)},
			{"one of several", request(`{firstAvailable: [{name: a}]}`), request(`{firstAvailable: [{allocationMode: ExactCount, count: 1}]}`)},
			{"tolerations", request(`{exactly: {allocationMode: All, tolerations: [{key: k}, {operator: Exists}]}}`), request(`{exactly: {tolerations: [{operator: Equal}]}}`)},
		}
	}
	defaulting{group: group, resource: "resourceclaims", version: "v1", cases: cases(`spec: `, ``)}.run(t)
	defaulting{group: group, resource: "resourceclaimtemplates", version: "v1", cases: cases(`spec: {spec: `, `}`)}.run(t)
}

func TestFlowControlDefaults(t *testing.T) {
	const group = "flowcontrol.apiserver.k8s.io"
	defaulting{group: group, resource: "flowschemas", version: "v1", cases: []defaultCase{
		{"nothing", `{}`, `spec: {matchingPrecedence: 1000}`},
		{"set values are kept", `spec: {matchingPrecedence: 1}`, ``},
	}}.run(t)
	defaulting{group: group, resource: "prioritylevelconfigurations", version: "v1", cases: []defaultCase{
		{"nothing", `{}`, ``},
		{"limited", `spec: {limited: {}}`, `spec: {limited: {nominalConcurrencyShares: 30, lendablePercent: 0}}`},
		{"exempt", `spec: {exempt: {}}`, `spec: {exempt: {nominalConcurrencyShares: 0, lendablePercent: 0}}`},
		{"queues", `spec: {limited: {limitResponse: {queuing: {}}}}`, `spec: {limited: {nominalConcurrencyShares: 30, lendablePercent: 0, limitResponse: {queuing: {queues: 64, handSize: 8, queueLengthLimit: 50}}}}`},
		{"set values are kept", `spec: {limited: {nominalConcurrencyShares: 0, lendablePercent: 5, limitResponse: {queuing: {queues: 1, handSize: 1, queueLengthLimit: 1}}}}`, ``},
	}}.run(t)
}
