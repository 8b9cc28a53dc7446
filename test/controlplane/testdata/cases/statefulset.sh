# A StatefulSet gets a claim for each pod, which stays when the set is scaled down.
for i in 0 1; do
  kubectl apply -f - <<EOF
apiVersion: v1
kind: PersistentVolume
metadata: {name: $NAMESPACE-$i}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: $NAMESPACE
  hostPath: {path: /tmp}
EOF
done
kubectl apply -f - <<EOF
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: db}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      storageClassName: $NAMESPACE
      resources: {requests: {storage: 1Gi}}
EOF
kubectl rollout status statefulset db --timeout 90s
kubectl wait pvc data-db-0 data-db-1 --for jsonpath='{.status.phase}'=Bound --timeout 90s
kubectl scale statefulset db --replicas 1
kubectl wait pod db-1 --for delete --timeout 90s
kubectl get pvc data-db-1
