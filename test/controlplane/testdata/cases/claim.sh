# A claim is bound to a volume, is protected while a pod uses it, and releases the volume.
kubectl apply -f - <<EOF
apiVersion: v1
kind: PersistentVolume
metadata: {name: $NAMESPACE}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: $NAMESPACE
  hostPath: {path: /tmp}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: $NAMESPACE
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: user}
spec:
  containers: [{name: user, image: user}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
EOF
kubectl wait pvc data --for jsonpath='{.status.phase}'=Bound --timeout 90s
kubectl wait pod user --for condition=Ready --timeout 90s
kubectl delete pvc data --wait=false
kubectl get pvc data
kubectl delete pod user
kubectl wait pvc data --for delete --timeout 90s
kubectl wait pv "$NAMESPACE" --for jsonpath='{.status.phase}'=Released --timeout 90s
