package core_test

import (
	"maps"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/miniapi/miniapi/registry"
)

func TestNewObjects(t *testing.T) {
	e := newEnv(t)
	port := func(name string, number int32) corev1.ServicePort {
		return corev1.ServicePort{Name: name, Port: number}
	}
	service := func(spec corev1.ServiceSpec) *corev1.Service {
		return &corev1.Service{ObjectMeta: named("x"), Spec: spec}
	}
	for _, tc := range []struct {
		rule, resource string
		object         runtime.Object
		want           string // "": none
	}{
		{"ports are required", "services", service(corev1.ServiceSpec{}), `Service "x" is invalid: spec.ports: Required value`},
		{"a headless service needs no ports", "services", service(corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}), ""},
		{"an external name needs no ports", "services", service(corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "a.b."}), ""},
		{"the external name is required", "services", service(corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName}),
			`Service "x" is invalid: spec.externalName: Required value`},
		{"a single port needs no name", "services", service(corev1.ServiceSpec{Ports: []corev1.ServicePort{port("", 80)}}), ""},
		{"several ports need names", "services", service(corev1.ServiceSpec{Ports: []corev1.ServicePort{port("", 80), port("a", 81)}}),
			`Service "x" is invalid: spec.ports[0].name: Required value`},
		{"port names and ports are unique", "services", service(corev1.ServiceSpec{Ports: []corev1.ServicePort{port("a", 80), port("a", 80)}}),
			`Service "x" is invalid: [spec.ports[1].name: Duplicate value: "a", spec.ports[1]: Duplicate value: ` +
				`{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}]`},
		{"target ports are in range", "services", service(corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(70000)}}}),
			`Service "x" is invalid: spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive`},
		{"an external name has no cluster IP", "services", service(corev1.ServiceSpec{
			Type: corev1.ServiceTypeExternalName, ExternalName: "a.b", ClusterIP: "10.0.0.9", IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
		}), `Service "x" is invalid: [spec.clusterIPs: Forbidden: may not be set for ExternalName services, ` +
			`spec.ipFamilies: Forbidden: may not be set for ExternalName services]`},
		{"a headless service has no node ports", "services", service(corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{port("", 80)},
		}), `Service "x" is invalid: spec.clusterIPs[0]: Invalid value: "None": may not be set to 'None' for NodePort services`},
		{"type ClusterIP has no node ports", "services", service(corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, NodePort: 30080}}}),
			"Service \"x\" is invalid: spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"},
		{"a node port is unique per protocol", "services", service(corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{
				{Name: "a", Port: 80, NodePort: 30080}, {Name: "b", Port: 80, NodePort: 30080, Protocol: corev1.ProtocolUDP}, {Name: "c", Port: 81, NodePort: 30080},
			},
		}), `Service "x" is invalid: spec.ports[2].nodePort: Duplicate value: 30080`},
		{"externalTrafficPolicy needs external traffic", "services", service(corev1.ServiceSpec{
			ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal, Ports: []corev1.ServicePort{port("", 80)},
		}), `Service "x" is invalid: spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services`},
		{"healthCheckNodePort needs type LoadBalancer", "services", service(corev1.ServiceSpec{HealthCheckNodePort: 30080, Ports: []corev1.ServicePort{port("", 80)}}),
			"Service \"x\" is invalid: spec.healthCheckNodePort: Invalid value: 30080: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"},
		{"cluster IPs have different families", "services", service(corev1.ServiceSpec{
			ClusterIP: "10.0.0.9", ClusterIPs: []string{"10.0.0.9", "10.0.0.10"}, Ports: []corev1.ServicePort{port("", 80)},
		}), `Service "x" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.9","10.0.0.10"]: may specify no more than one IP for each IP family`},
		{"IP families are known", "services", service(corev1.ServiceSpec{
			IPFamilies: []corev1.IPFamily{"IPv5"}, IPFamilyPolicy: new(corev1.IPFamilyPolicy("Any")), Ports: []corev1.ServicePort{port("", 80)},
		}), `Service "x" is invalid: [spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6", ` +
			`spec.ipFamilyPolicy: Unsupported value: "Any": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"]`},
		{"source ranges are CIDRs of load balancers", "services", service(corev1.ServiceSpec{
			LoadBalancerSourceRanges: []string{" 10.0.0.0/8 ", "10.0.0.1"}, Ports: []corev1.ServicePort{port("", 80)},
		}), "Service \"x\" is invalid: [spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer', " +
			`spec.LoadBalancerSourceRanges[1]: Invalid value: "10.0.0.1": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)]`},
		{"source ranges in the annotation are CIDRs", "services", annotated(service(corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{port("", 80)}}),
			corev1.AnnotationLoadBalancerSourceRangesKey, "10.0.0.0/8, x"), `Service "x" is invalid: metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: ` +
			`Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`},
		{"external IPs are ordinary addresses", "services", service(corev1.ServiceSpec{
			ExternalIPs: []string{"x", "127.0.0.1"}, Ports: []corev1.ServicePort{port("", 80)},
		}), `Service "x" is invalid: [spec.externalIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff), ` +
			`spec.externalIPs[1]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)]`},
		{"traffic policies are known", "services", service(corev1.ServiceSpec{
			InternalTrafficPolicy: new(corev1.ServiceInternalTrafficPolicy("x")), TrafficDistribution: new("x"), Ports: []corev1.ServicePort{port("", 80)},
		}), `Service "x" is invalid: [spec.internalTrafficPolicy: Unsupported value: "x": supported values: "Cluster", "Local", ` +
			`spec.trafficDistribution: Unsupported value: "x": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"]`},
		{"the affinity timeout is at most a day", "services", service(corev1.ServiceSpec{
			SessionAffinity: corev1.ServiceAffinityClientIP, Ports: []corev1.ServicePort{port("", 80)},
			SessionAffinityConfig: &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: new(int32(86401))}},
		}), `Service "x" is invalid: spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400`},
		{"appProtocol is a qualified name", "services", service(corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, AppProtocol: new("a/")}}}),
			`Service "x" is invalid: [spec.ports[0].appProtocol: Invalid value: "a/": name part must be non-empty, ` +
				`spec.ports[0].appProtocol: Invalid value: "a/": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end ` +
				`with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]`},
		{"finalizers of a service are qualified", "services", kept(service(corev1.ServiceSpec{Ports: []corev1.ServicePort{port("", 80)}})),
			`Service "x" is invalid: metadata.finalizers[0]: Invalid value: "nope": name is neither a standard finalizer name nor is it fully qualified`},
		{"the topology annotations are equal", "services", annotated(annotated(service(corev1.ServiceSpec{Ports: []corev1.ServicePort{port("", 80)}}),
			corev1.AnnotationTopologyMode, "auto"), corev1.DeprecatedAnnotationTopologyAwareHints, "x"),
			`Service "x" is invalid: metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "auto": ` +
				`must match annotations[service.kubernetes.io/topology-aware-hints] when both are specified`},
		{"declared features are sorted", "nodes", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Status: corev1.NodeStatus{DeclaredFeatures: []string{"B", "A", "A"}}},
			`Node "x" is invalid: [status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically, status.declaredFeatures[2]: Duplicate value: "A"]`},
		{"swap capacity is positive", "nodes", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Status: corev1.NodeStatus{
			NodeInfo: corev1.NodeSystemInfo{Swap: &corev1.NodeSwapStatus{Capacity: new(int64(0))}},
		}}, `Node "x" is invalid: metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero`},
		{"taints in the annotation are valid", "nodes", annotated(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, corev1.TaintsAnnotationKey, `[{"key":"a"}]`),
			`Node "x" is invalid: metadata.annotations.scheduler.alpha.kubernetes.io/taints[0].effect: Required value`},
		{"pods to avoid have a controller", "nodes", annotated(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "x"}},
			corev1.PreferAvoidPodsAnnotationKey, `{"preferAvoidPods":[{"podSignature":{}}]}`),
			`Node "x" is invalid: metadata.annotations.scheduler.alpha.kubernetes.io/preferAvoidPods[0].PodSignature: Required value`},
		{"keys are file names", "configmaps", &corev1.ConfigMap{ObjectMeta: named("x"), Data: map[string]string{"a/b": ""}},
			`ConfigMap "x" is invalid: data[a/b]: Invalid value: "a/b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' ` +
				`(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`},
		{"a config map of 1 MiB", "configmaps", &corev1.ConfigMap{ObjectMeta: named("x"), Data: map[string]string{"a": strings.Repeat("a", 1<<20)}}, ""},
		{"a config map of more than 1 MiB", "configmaps", &corev1.ConfigMap{ObjectMeta: named("x"), Data: map[string]string{"a": strings.Repeat("a", 1<<20+1)}},
			`ConfigMap "x" is invalid: []: Too long: may not be more than 1048576 bytes`},
		{"a TLS secret has a key", "secrets", &corev1.Secret{ObjectMeta: named("x"), Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.crt": {}}},
			`Secret "x" is invalid: data[tls.key]: Required value`},
		{"secret data is not part of the error", "secrets", &corev1.Secret{
			ObjectMeta: named("x"), Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{".dockerconfigjson": []byte("secret")},
		}, `Secret "x" is invalid: data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 's' looking for beginning of value`},
		{"endpoint addresses are ordinary addresses", "endpoints", &corev1.Endpoints{ObjectMeta: named("x"), Subsets: []corev1.EndpointSubset{
			{}, {Addresses: []corev1.EndpointAddress{{IP: "127.0.0.1"}}, Ports: []corev1.EndpointPort{{Name: "A", Port: 80}}},
		}}, `Endpoints "x" is invalid: [subsets[0]: Required value: must specify ` + "`addresses` or `notReadyAddresses`" + `, ` +
			`subsets[1].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128), ` +
			`subsets[1].ports[0].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ` +
			`and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')]`},
		{"finalizers are qualified", "configmaps", finalized("nope", "ok.example.com/x", "orphan"),
			`ConfigMap "x" is invalid: metadata.finalizers[0]: Invalid value: "nope": name is neither a standard finalizer name nor is it fully qualified`},
		{"an event is in the namespace of its object", "events", &corev1.Event{ObjectMeta: named("x"), InvolvedObject: corev1.ObjectReference{Namespace: "y"}},
			`Event "x" is invalid: involvedObject.namespace: Invalid value: "y": does not match event.namespace`},
		{"min is at most max", "limitranges", limitRange(corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Min: cpus("2"), Max: cpus("1")}),
			`LimitRange "x" is invalid: [spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1, ` +
				`spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1, ` +
				`spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1]`},
		{"limits of pods have no defaults", "limitranges", limitRange(corev1.LimitRangeItem{Type: corev1.LimitTypePod, Default: cpus("1")}),
			`LimitRange "x" is invalid: spec.limits[0].default: Forbidden: may not be specified when ` + "`type` is 'Pod'"},
		{"maxLimitRequestRatio is at most max to min", "limitranges", limitRange(corev1.LimitRangeItem{
			Type: corev1.LimitTypePod, Min: cpus("1"), Max: cpus("2"), MaxLimitRequestRatio: cpus("3"),
		}), `LimitRange "x" is invalid: spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000`},
		{"resources of a quota are known and counts are integers", "resourcequotas", quota(corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
			"foo": resource.MustParse("1"), corev1.ResourcePods: resource.MustParse("500m"),
		}}), `ResourceQuota "x" is invalid: [spec.hard[foo]: Invalid value: "foo": must be a standard resource type or fully qualified, ` +
			`spec.hard[foo]: Invalid value: "foo": must be a standard resource for quota, spec.hard[pods]: Invalid value: "500m": must be an integer]`},
		{"scopes are compatible with each other and with the resources", "resourcequotas", quota(corev1.ResourceQuotaSpec{
			Hard:   corev1.ResourceList{corev1.ResourceSecrets: resource.MustParse("1")},
			Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating},
		}), `ResourceQuota "x" is invalid: [spec.scopes: Invalid value: ["Terminating","NotTerminating"]: unsupported scope applied to resource, ` +
			`spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes]`},
		{"operators of scopes are valid", "resourcequotas", quota(corev1.ResourceQuotaSpec{ScopeSelector: &corev1.ScopeSelector{
			MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn}},
		}}), `ResourceQuota "x" is invalid: spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when ` +
			"`operator` is 'In' or 'NotIn' for scope selector"},
		{"an empty claim", "persistentvolumeclaims", &corev1.PersistentVolumeClaim{ObjectMeta: named("x")},
			`PersistentVolumeClaim "x" is invalid: [spec.accessModes: Required value: at least 1 access mode is required, spec.resources[storage]: Required value]`},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			e := env{e.With(t)}
			e.Default(tc.resource, tc.object)
			_, err := e.Store(tc.resource).Create(t.Context(), registry.CreateRequest{
				Namespace: namespaceOf(e, tc.resource), Object: tc.object, Options: registry.WriteOptions{DryRun: true},
			})
			check(t, err, tc.want)
		})
	}
}

func annotated[T metav1.Object](obj T, key, value string) T {
	annotations := maps.Clone(obj.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	obj.SetAnnotations(annotations)
	return obj
}

func kept[T metav1.Object](obj T) T {
	obj.SetFinalizers([]string{"nope"})
	return obj
}

func finalized(names ...string) *corev1.ConfigMap {
	c := &corev1.ConfigMap{ObjectMeta: named("x")}
	c.Finalizers = names
	return c
}

func cpus(n string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(n)}
}

func limitRange(item corev1.LimitRangeItem) *corev1.LimitRange {
	return &corev1.LimitRange{ObjectMeta: named("x"), Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{item}}}
}

func quota(spec corev1.ResourceQuotaSpec) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{ObjectMeta: named("x"), Spec: spec}
}

func check(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Error(err)
	case want != "" && (err == nil || err.Error() != want):
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestClaimUpdates(t *testing.T) {
	e := newEnv(t)
	e.Create("persistentvolumeclaims", newClaim())
	grow := func(c *corev1.PersistentVolumeClaim) {
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}
	}
	_, err := put(e, "persistentvolumeclaims", "c", "", grow)
	check(t, err, `PersistentVolumeClaim "c" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims
@@ -6,7 +6,7 @@
  "Resources": {
   "Limits": null,
   "Requests": {
-   "storage": "1Gi"
+   "storage": "2Gi"
   }
  },
  "VolumeName": "",
`)
	mustPut(e, "persistentvolumeclaims", "c", "", func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "v" })
	mustPut(e, "persistentvolumeclaims", "c", "status", func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimBound })
	mustPut(e, "persistentvolumeclaims", "c", "", grow)
}
