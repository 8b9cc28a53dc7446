package cast

// part is a part of the scene: commands for one shell.
type part struct {
	server   bool   // the shell is a command of miniapi run
	dir      string // in this module; empty is a temporary directory
	commands []string
	// opening and ending are lines that the shell does not print itself.
	opening, ending string
}

// scene shows a conflict, and tests with a server each.
var scene = []part{
	{
		opening: "$ miniapi run -- bash\n",
		server:  true,
		commands: []string{
			"kubectl create deployment web --image=nginx --replicas=2",
			"kubectl get deployment web -o yaml >web.yaml",
			"kubectl scale deployment web --replicas=5",
			"kubectl replace -f web.yaml     # client-go's fake accepts this",
		},
		ending: "$ exit\n",
	},
	{
		dir: "suite/plain",
		commands: []string{
			"go test -v . | grep PASS:       # an API server for each test",
		},
	},
}
