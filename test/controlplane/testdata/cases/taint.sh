# A taint evicts the pods that do not tolerate it.
node one
for name in taint other; do
  if [ $name = taint ]; then effect=NoExecute; else effect=NoSchedule; fi
  kubectl apply -f - <<EOF
apiVersion: v1
kind: Pod
metadata: {name: tolerates-$name}
spec:
  nodeSelector: {case: $NAMESPACE}
  containers: [{name: web, image: web}]
  tolerations:
  - {key: case, operator: Exists}
  - {key: gone, operator: Exists, effect: $effect}
EOF
done
kubectl wait pods --all --for condition=Ready --timeout 90s
kubectl taint node "$NAMESPACE-one" gone=true:NoExecute
kubectl wait pod tolerates-other --for delete --timeout 90s
kubectl get pod tolerates-taint
