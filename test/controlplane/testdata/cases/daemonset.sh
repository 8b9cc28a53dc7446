# A DaemonSet has a pod on each node, also on a new one.
kubectl apply -f - <<EOF
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: agent}]
      nodeSelector: {case: $NAMESPACE}
      tolerations: [{operator: Exists}]
EOF
node one
kubectl wait daemonset agent --for jsonpath='{.status.numberReady}'=1 --timeout 90s
node two
kubectl wait daemonset agent --for jsonpath='{.status.numberReady}'=2 --timeout 90s
