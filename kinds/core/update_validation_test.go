package core_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func gib(n string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(n)}
}

// update is a change of a created object and the expected error.
type update[T runtime.Object] struct {
	rule   string
	change func(T)
	want   string // "": no error
}

// testUpdates creates an object for each update.
func testUpdates[T runtime.Object](t *testing.T, resource, subresource string, create func() T, updates []update[T]) {
	for _, tc := range updates {
		t.Run(tc.rule, func(t *testing.T) {
			e := newEnv(t)
			created := e.Create(resource, create()).(metav1.Object)
			_, err := put(e, resource, created.GetName(), subresource, tc.change)
			check(t, err, tc.want)
		})
	}
}

func TestNodeUpdates(t *testing.T) {
	create := func() *corev1.Node {
		n := &corev1.Node{Spec: corev1.NodeSpec{PodCIDR: "10.1.0.0/24", ProviderID: "a"}}
		n.Name = "n"
		return n
	}
	taint := corev1.Taint{Key: "a", Effect: corev1.TaintEffectNoSchedule}
	testUpdates(t, "nodes", "", create, []update[*corev1.Node]{
		{"taints and unschedulable are mutable", func(n *corev1.Node) { n.Spec.Unschedulable, n.Spec.Taints = true, []corev1.Taint{taint} }, ""},
		{"pod CIDRs and provider ID are immutable", func(n *corev1.Node) { n.Spec.PodCIDR, n.Spec.PodCIDRs, n.Spec.ProviderID = "", nil, "b" },
			`Node "n" is invalid: [spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid, ` +
				`spec.providerID: Invalid value: null: field cannot be modified once set]`},
		{"taints are unique", func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{taint, taint} },
			`Node "n" is invalid: metadata.taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair`},
	})
	testUpdates(t, "nodes", "status", create, []update[*corev1.Node]{
		{"addresses are unique", func(n *corev1.Node) {
			a := corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: "10.0.0.1"}
			n.Status.Addresses = []corev1.NodeAddress{a, a}
		}, `Node "n" is invalid: status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"10.0.0.1"}`},
		{"the number of pods is an integer", func(n *corev1.Node) {
			n.Status.Capacity = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("500m")}
		},
			`Node "n" is invalid: [status.capacity.pods: Invalid value: "500m": must be an integer, status.allocatable.pods: Invalid value: "500m": must be an integer]`},
	})
}

func TestServiceUpdates(t *testing.T) {
	balancer := func() *corev1.Service {
		return &corev1.Service{ObjectMeta: named("s"), Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeLoadBalancer, LoadBalancerClass: new("a.b/c"), Ports: []corev1.ServicePort{{Port: 80}},
		}}
	}
	testUpdates(t, "services", "", balancer, []update[*corev1.Service]{
		{"loadBalancerClass is immutable", func(s *corev1.Service) { s.Spec.LoadBalancerClass = new("d") },
			`Service "s" is invalid: spec.loadBalancerClass: Invalid value: "d": may not change once set`},
		{"loadBalancerClass needs type LoadBalancer", func(s *corev1.Service) { s.Spec.Type, s.Spec.LoadBalancerClass = corev1.ServiceTypeClusterIP, new("d") },
			"Service \"s\" is invalid: spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"},
	})
	ingress := func(points ...corev1.LoadBalancerIngress) func(*corev1.Service) {
		return func(s *corev1.Service) { s.Status.LoadBalancer.Ingress = points }
	}
	testUpdates(t, "services", "status", balancer, []update[*corev1.Service]{
		{"ingress points with addresses and names", ingress(corev1.LoadBalancerIngress{IP: "10.0.0.1"}, corev1.LoadBalancerIngress{Hostname: "a.b"}), ""},
		{"addresses and names of ingress points are valid", ingress(corev1.LoadBalancerIngress{IP: "x"}, corev1.LoadBalancerIngress{Hostname: "10.0.0.1"}),
			`Service "s" is invalid: [status.loadBalancer.ingress[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff), ` +
				`status.loadBalancer.ingress[1].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address]`},
		{"ipMode needs an IP", ingress(corev1.LoadBalancerIngress{Hostname: "a", IPMode: new(corev1.LoadBalancerIPModeProxy)}),
			"Service \"s\" is invalid: status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not set"},
	})
	testUpdates(t, "services", "status", func() *corev1.Service {
		return &corev1.Service{ObjectMeta: named("s"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	}, []update[*corev1.Service]{
		{"ingress points need type LoadBalancer", ingress(corev1.LoadBalancerIngress{IP: "10.0.0.1"}),
			"Service \"s\" is invalid: status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"},
	})
}

func TestPersistentVolumeUpdates(t *testing.T) {
	testUpdates(t, "persistentvolumes", "", newVolume, []update[*corev1.PersistentVolume]{
		{"claimRef is mutable", func(v *corev1.PersistentVolume) {
			v.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "c"}
		}, ""},
		{"the volume mode is immutable", func(v *corev1.PersistentVolume) { v.Spec.VolumeMode = new(corev1.PersistentVolumeBlock) },
			`PersistentVolume "v" is invalid: volumeMode: Invalid value: "Block": field is immutable`},
	})
}

func TestReplicationControllerStatus(t *testing.T) {
	create := func() *corev1.ReplicationController {
		r := &corev1.ReplicationController{ObjectMeta: named("r"), Spec: corev1.ReplicationControllerSpec{Template: &corev1.PodTemplateSpec{}}}
		r.Spec.Template.Labels = map[string]string{"a": "b"}
		r.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
		return r
	}
	testUpdates(t, "replicationcontrollers", "status", create, []update[*corev1.ReplicationController]{
		{"ready replicas are at most the replicas", func(r *corev1.ReplicationController) { r.Status.ReadyReplicas = 1 },
			`ReplicationController "r" is invalid: status.readyReplicas: Invalid value: 1: cannot be greater than status.replicas`},
	})
}

func TestGatedPodUpdates(t *testing.T) {
	expression := corev1.NodeSelectorRequirement{Key: "a", Operator: corev1.NodeSelectorOpExists}
	terms := func(p *corev1.Pod) []corev1.NodeSelectorTerm {
		return p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	}
	create := func() *corev1.Pod {
		p := newPod("p")
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "a"}}
		p.Spec.NodeSelector = map[string]string{"a": "b"}
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{expression}}},
		}}}
		return p
	}
	testUpdates(t, "pods", "", create, []update[*corev1.Pod]{
		{"gates can be removed", func(p *corev1.Pod) { p.Spec.SchedulingGates = nil }, ""},
		{"gates cannot be added", func(p *corev1.Pod) {
			p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: "b"})
		},
			`Pod "p" is invalid: spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'b'`},
		{"node selection can be narrowed", func(p *corev1.Pod) {
			p.Spec.NodeSelector["c"] = "d"
			terms(p)[0].MatchExpressions = append(terms(p)[0].MatchExpressions, expression)
		}, ""},
		{"node selectors cannot change", func(p *corev1.Pod) { p.Spec.NodeSelector["a"] = "c" },
			`Pod "p" is invalid: spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)`},
		{"node affinity cannot be removed", func(p *corev1.Pod) { p.Spec.Affinity = nil }, `Pod "p" is invalid: spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.` +
			`nodeSelectorTerms: Invalid value: null: no additions/deletions to non-empty NodeSelectorTerms list are allowed`},
		{"the mirror annotation is immutable", func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "a"} },
			`Pod "p" is invalid: [metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "a": must set spec.nodeName if mirror pod annotation is set, ` +
				`metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not add mirror pod annotation]`},
	})
}

func TestPodStatusUpdates(t *testing.T) {
	never := func() *corev1.Pod {
		p := newPod("p")
		p.Spec.RestartPolicy = corev1.RestartPolicyNever
		return p
	}
	testUpdates(t, "pods", "status", never, []update[*corev1.Pod]{
		{"pod IPs of two families", func(p *corev1.Pod) { p.Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.1"}, {IP: "fd00::1"}} }, ""},
		{"pod IPs have different families", func(p *corev1.Pod) { p.Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.1"}, {IP: "10.0.0.2"}} },
			`Pod "p" is invalid: status.podIPs: Invalid value: [{"IP":"10.0.0.1"},{"IP":"10.0.0.2"}]: may specify no more than one IP for each IP family`},
		{"the first host IP is hostIP", func(p *corev1.Pod) { p.Status.HostIPs = []corev1.HostIP{{IP: "10.0.0.1"}} },
			`Pod "p" is invalid: status.hostIPs[0].ip: Invalid value: "10.0.0.1": must be equal to ` + "`hostIP`"},
		{"generations and conditions are valid", func(p *corev1.Pod) {
			p.Status.ObservedGeneration, p.Status.Conditions = -1, []corev1.PodCondition{{Type: "a b", ObservedGeneration: -1}}
		}, `Pod "p" is invalid: [status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative integer, ` +
			`status.conditions[0].Type: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with ` +
			`an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), ` +
			`status.observedGeneration: Invalid value: -1: must be a non-negative integer]`},
		{"container statuses are valid", func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", AllocatedResourcesStatus: []corev1.ResourceStatus{
				{Name: "claim:a", Resources: []corev1.ResourceHealth{{ResourceID: "1", Health: "Fine", Message: new("")}}},
			}}}
		}, `Pod "p" is invalid: [status.containerStatuses[0].allocatedResourcesStatus[0].name: Invalid value: "claim:a": must match one of the container's resource claims ` +
			`in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty, ` +
			`status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].health: Unsupported value: "Fine": supported values: "Healthy", "Unhealthy", "Unknown", ` +
			`status.containerStatuses[0].allocatedResourcesStatus[0].resources[0].message: Required value: must be non-empty if specified]`},
		{"resource claim statuses refer to claims", func(p *corev1.Pod) {
			p.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{RequestMappings: []corev1.ContainerExtendedResourceRequest{
				{ContainerName: "c", ResourceName: "a.b/c", RequestName: "r"},
			}}
		}, `Pod "p" is invalid: [status.extendedResourceClaimStatus.requestMappings[0].resourceName: Invalid value: "a.b/c": must match the extended resource name of an entry ` +
			`in spec.initContainers.resources.requests or spec.containers.resources.requests, status.extendedResourceClaimStatus.resourceClaimName: Required value]`},
		{"finalizers are qualified", func(p *corev1.Pod) { p.Finalizers = []string{"nope"} },
			`Pod "p" is invalid: metadata.finalizers[0]: Invalid value: "nope": name is neither a standard finalizer name nor is it fully qualified`},
		{"the QoS class is immutable", func(p *corev1.Pod) { p.Status.QOSClass = corev1.PodQOSGuaranteed },
			`Pod "p" is invalid: status.qosClass: Invalid value: "Guaranteed": field is immutable`},
	})
	e := newEnv(t)
	e.Create("pods", never())
	state := func(s corev1.ContainerState) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: s}} }
	}
	mustPut(e, "pods", "p", "status", state(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1}}))
	_, err := put(e, "pods", "p", "status", state(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}))
	check(t, err, `Pod "p" is invalid: status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state`)
}

func TestPodResizes(t *testing.T) {
	list := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("1Gi")}
	}
	create := func() *corev1.Pod {
		p := newPod("p")
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: list("2"), Limits: list("9")}
		p.Spec.Containers[0].Resources.Requests = list("1")
		init := *p.Spec.Containers[0].DeepCopy()
		init.Name = "i"
		p.Spec.InitContainers = []corev1.Container{init}
		return p
	}
	testUpdates(t, "pods", "resize", create, []update[*corev1.Pod]{
		{"requests of a container can grow", func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = list("2") }, ""},
		{"requests of a sidecar can grow", func(p *corev1.Pod) { p.Spec.InitContainers[0].Resources.Requests = list("2") }, ""},
		{"requests of the pod can grow", func(p *corev1.Pod) { p.Spec.Resources.Requests = list("3") }, ""},
		{"other resources of a container cannot change", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceEphemeralStorage] = resource.MustParse("1Gi")
		}, `Pod "p" is invalid: spec: Forbidden: only cpu and memory resources are mutable`},
		{"other resources of a sidecar cannot change", func(p *corev1.Pod) {
			p.Spec.InitContainers[0].Resources.Requests[corev1.ResourceEphemeralStorage] = resource.MustParse("1Gi")
		}, `Pod "p" is invalid: spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable`},
		{"other resources of the pod cannot change", func(p *corev1.Pod) {
			p.Spec.Resources.Limits["hugepages-2Mi"], p.Spec.Resources.Requests["hugepages-2Mi"] = resource.MustParse("2Mi"), resource.MustParse("2Mi")
		}, `Pod "p" is invalid: spec: Forbidden: only cpu and memory resources are mutable at pod-level`},
		{"requests of a container cannot be removed", func(p *corev1.Pod) { delete(p.Spec.Containers[0].Resources.Requests, corev1.ResourceCPU) },
			`Pod "p" is invalid: spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed`},
		{"requests of sidecars cannot be removed", func(p *corev1.Pod) { p.Spec.InitContainers[0].Resources.Requests = nil },
			`Pod "p" is invalid: spec.initContainers[0].resources.requests: Forbidden: resource requests cannot be removed`},
		{"the resize policy is immutable", func(p *corev1.Pod) {
			p.Spec.Containers[0].ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.RestartContainer}}
		}, `Pod "p" is invalid: spec: Forbidden: only cpu and memory resources are mutable`},
		{"container names are immutable", func(p *corev1.Pod) { p.Spec.InitContainers[0].Name, p.Spec.Containers[0].Name = "j", "d" },
			`Pod "p" is invalid: [spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize, ` +
				`spec.initContainers[0].name: Forbidden: initContainers may not be renamed or reordered on resize]`},
		{"containers cannot be removed", func(p *corev1.Pod) { p.Spec.InitContainers = nil },
			`Pod "p" is invalid: spec.initContainers: Forbidden: initContainers may not be added or removed on resize`},
		{"requests are at most the limits", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
		}, `Pod "p" is invalid: spec.containers[0].resources.requests: Invalid value: "1": must be less than or equal to cpu limit of 500m`},
	})
}

func TestPodLevelResizes(t *testing.T) {
	create := func() *corev1.Pod {
		p := newPod("p")
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}}
		p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "i"}}
		return p
	}
	testUpdates(t, "pods", "resize", create, []update[*corev1.Pod]{
		{"requests of the pod can grow", func(p *corev1.Pod) { p.Spec.Resources.Requests[corev1.ResourceCPU] = resource.MustParse("2") }, ""},
		{"requests of an init container can change", func(p *corev1.Pod) {
			p.Spec.InitContainers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		}, ""},
		{"requests of the pod cannot be removed", func(p *corev1.Pod) { delete(p.Spec.Resources.Requests, corev1.ResourceCPU) },
			`Pod "p" is invalid: spec.resources.requests: Forbidden: pod-level resource requests cannot be removed`},
		{"resources of the pod that are left out are kept", func(p *corev1.Pod) { p.Spec.Resources = nil }, ""},
	})
}

func TestClaimsShrinkToCapacity(t *testing.T) {
	e := newEnv(t)
	e.Create("persistentvolumeclaims", newClaim())
	mustPut(e, "persistentvolumeclaims", "c", "status", func(c *corev1.PersistentVolumeClaim) {
		c.Status.Phase, c.Status.Capacity = corev1.ClaimBound, gib("1Gi")
	})
	mustPut(e, "persistentvolumeclaims", "c", "", func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = gib("3Gi") })
	mustPut(e, "persistentvolumeclaims", "c", "", func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = gib("2Gi") })
	_, err := put(e, "persistentvolumeclaims", "c", "", func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = gib("1Gi") })
	check(t, err, `PersistentVolumeClaim "c" is invalid: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity`)
}
