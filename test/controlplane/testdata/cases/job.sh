# A Job runs its pods to completion.
kubectl apply -f - <<EOF
apiVersion: batch/v1
kind: Job
metadata: {name: work}
spec:
  completions: 3
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{name: work, image: work}]
EOF
kubectl wait job work --for condition=Complete --timeout 90s
test "$(kubectl get job work --output jsonpath='{.status.succeeded}')" = 3
