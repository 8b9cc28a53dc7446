package kinds_test

import "testing"

// template is the addition to the pod template of every workload.
const (
	template      = `template: {spec: {dnsPolicy: ClusterFirst, restartPolicy: Always, schedulerName: default-scheduler, securityContext: {}, terminationGracePeriodSeconds: 30}}`
	templateAdded = `spec: {` + template + `}`
)

func TestAppsDefaults(t *testing.T) {
	for _, table := range []defaulting{
		{resource: "deployments", always: `
spec:
  replicas: 1
  revisionHistoryLimit: 10
  progressDeadlineSeconds: 600
  ` + template, cases: []defaultCase{
			{"nothing", `{}`, `spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}}`},
			{"set values are kept", `spec: {replicas: 0, revisionHistoryLimit: 0, progressDeadlineSeconds: 1, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}}`, ``},
			{"recreated", `spec: {strategy: {type: Recreate}}`, ``},
			{"a strategy without a type", `spec: {strategy: {rollingUpdate: {maxSurge: 1}}}`, `spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 25%}}}`},
			{"containers", `spec: {strategy: {type: Recreate}, template: {spec: {containers: [{name: c, image: i}]}}}`,
				`spec: {template: {spec: {containers: [{imagePullPolicy: Always, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File}]}}}`},
		}},
		{resource: "replicasets", always: `spec: {replicas: 1, ` + template + `}`, cases: []defaultCase{
			{"nothing", `{}`, ``},
			{"set values are kept", `spec: {replicas: 0}`, ``},
		}},
		{resource: "daemonsets", always: `{metadata: {annotations: {deprecated.daemonset.template.generation: "0"}}, spec: {revisionHistoryLimit: 10, ` + template + `}}`, cases: []defaultCase{
			{"nothing", `{}`, `spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, maxSurge: 0}}}`},
			{"a strategy without a type", `spec: {updateStrategy: {rollingUpdate: {maxSurge: 1}}}`, `spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}}`},
			{"strategy OnDelete", `spec: {revisionHistoryLimit: 1, updateStrategy: {type: OnDelete}}`, ``},
		}},
		{resource: "statefulsets", always: `
spec:
  replicas: 1
  revisionHistoryLimit: 10
  podManagementPolicy: OrderedReady
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Retain}
  ` + template, cases: []defaultCase{
			{"nothing", `{}`, `spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}}`},
			{"set values are kept", `spec: {replicas: 0, revisionHistoryLimit: 0, podManagementPolicy: Parallel, updateStrategy: {type: OnDelete}, persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}`, ``},
			{"a rolling update without parameters", `spec: {updateStrategy: {type: RollingUpdate}}`, ``},
			{"a rolling update with parameters", `spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 2}}}`, `spec: {updateStrategy: {rollingUpdate: {partition: 0}}}`},
			{"claims", `spec: {updateStrategy: {type: OnDelete}, volumeClaimTemplates: [{metadata: {name: d}}]}`,
				`spec: {volumeClaimTemplates: [{apiVersion: v1, kind: PersistentVolumeClaim, spec: {volumeMode: Filesystem}, status: {phase: Pending}}]}`},
		}},
	} {
		table.group, table.version = "apps", "v1"
		table.run(t)
	}
}

func TestBatchDefaults(t *testing.T) {
	defaulting{group: "batch", resource: "jobs", version: "v1", always: `
spec:
  parallelism: 1
  backoffLimit: 6
  completionMode: NonIndexed
  suspend: false
  manualSelector: false
  podReplacementPolicy: TerminatingOrFailed
  ` + template, cases: []defaultCase{
		{"nothing", `{}`, `spec: {completions: 1}`},
		{"set values are kept", `spec: {completions: 5, parallelism: 0, backoffLimit: 0, completionMode: Indexed, suspend: true, manualSelector: true, podReplacementPolicy: Failed}`, ``},
		{"a work queue", `spec: {parallelism: 3}`, ``},
		{"a number of completions", `spec: {completions: 3}`, ``},
		{"limits of indexes", `spec: {completions: 2, backoffLimitPerIndex: 1}`, `spec: {backoffLimit: 2147483647}`},
		{
			"a policy for failures", `spec: {completions: 2, podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}, {type: X, status: "False"}]}]}}`,
			`spec: {podReplacementPolicy: Failed, podFailurePolicy: {rules: [{onPodConditions: [{status: "True"}]}]}}`,
		},
		{"labels of the pods", `spec: {completions: 2, template: {metadata: {labels: {a: b}}}}`, `metadata: {labels: {a: b}}`},
		{"labels of its own", `{metadata: {labels: {c: d}}, spec: {completions: 2, template: {metadata: {labels: {a: b}}}}}`, ``},
	}}.run(t)
	defaulting{group: "batch", resource: "cronjobs", version: "v1", always: `
spec:
  concurrencyPolicy: Allow
  suspend: false
  successfulJobsHistoryLimit: 3
  failedJobsHistoryLimit: 1
  jobTemplate: {spec: {` + template + `}}`, cases: []defaultCase{
		{"nothing", `{}`, ``},
		{"set values are kept", `spec: {concurrencyPolicy: Forbid, suspend: true, successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0}`, ``},
	}}.run(t)
}

func TestAutoscalingDefaults(t *testing.T) {
	const (
		metrics = `metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]`
		up      = `policies: [{type: Pods, value: 4, periodSeconds: 15}, {type: Percent, value: 100, periodSeconds: 15}]`
		down    = `policies: [{type: Percent, value: 100, periodSeconds: 15}]`
	)
	defaulting{group: "autoscaling", resource: "horizontalpodautoscalers", version: "v2", always: `spec: {minReplicas: 1, ` + metrics + `}`, cases: []defaultCase{
		{"nothing", `{}`, ``},
		{"set values are kept", `spec: {minReplicas: 0, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 5}}}]}`, ``},
		{"behavior", `spec: {behavior: {}}`, `spec: {behavior: {scaleUp: {selectPolicy: Max, stabilizationWindowSeconds: 0, ` + up + `}, scaleDown: {selectPolicy: Max, ` + down + `}}}`},
		{
			"behavior that is set", `spec: {behavior: {scaleUp: {selectPolicy: Min, stabilizationWindowSeconds: 9, policies: [{type: Pods, value: 1, periodSeconds: 1}]}, scaleDown: {stabilizationWindowSeconds: 3}}}`,
			`spec: {behavior: {scaleDown: {selectPolicy: Max, ` + down + `}}}`,
		},
	}}.run(t)
	defaulting{group: "autoscaling", resource: "horizontalpodautoscalers", version: "v1", cases: []defaultCase{
		{"nothing", `{}`, `spec: {minReplicas: 1}`},
		{"set values are kept", `spec: {minReplicas: 0, targetCPUUtilizationPercentage: 5}`, ``},
	}}.run(t)
}
