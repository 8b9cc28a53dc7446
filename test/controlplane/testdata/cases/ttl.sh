# A finished Job is deleted after its time to live, with its pods.
kubectl apply -f - <<EOF
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec:
  ttlSecondsAfterFinished: 1
  template:
    spec:
      restartPolicy: Never
      containers: [{name: work, image: work}]
EOF
kubectl wait job work --for delete --timeout 90s
kubectl wait pods --all --for delete --timeout 90s
