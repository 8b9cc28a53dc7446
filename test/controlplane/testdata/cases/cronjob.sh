# A CronJob creates a Job each minute.
kubectl create cronjob tick --image tick --schedule '* * * * *'
kubectl wait cronjob tick --for jsonpath='{.status.lastScheduleTime}' --timeout 120s
kubectl wait job --all --for condition=Complete --timeout 90s
kubectl wait cronjob tick --for jsonpath='{.status.lastSuccessfulTime}' --timeout 90s
