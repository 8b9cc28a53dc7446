# Functions of all cases.

# node creates a node that only pods of this case use.
node() {
  kubectl apply -f - <<EOF
apiVersion: v1
kind: Node
metadata:
  name: $NAMESPACE-$1
  labels: {case: $NAMESPACE, kubernetes.io/hostname: $NAMESPACE-$1}
spec:
  taints: [{key: case, value: $NAMESPACE, effect: NoSchedule}]
status:
  capacity: {cpu: "32", memory: 256Gi, pods: "110"}
  allocatable: {cpu: "32", memory: 256Gi, pods: "110"}
EOF
}
