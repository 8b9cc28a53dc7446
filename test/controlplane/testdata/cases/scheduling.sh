# A pod waits for a node that fits.
kubectl apply -f - <<EOF
apiVersion: v1
kind: Pod
metadata: {name: waits}
spec:
  nodeSelector: {case: $NAMESPACE}
  containers: [{name: web, image: web}]
  tolerations: [{key: case, operator: Exists}]
EOF
kubectl wait pod waits --for condition=PodScheduled=False --timeout 90s
node one
kubectl wait pod waits --for condition=Ready --timeout 90s
