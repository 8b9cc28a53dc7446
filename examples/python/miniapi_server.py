"""A Kubernetes API server for one test: see docs/host.md."""

import http.client
import json
import os
import socket
import subprocess

import kubernetes
import yaml

SOCKET = os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "miniapi", "host.sock"
)


class _HostConnection(http.client.HTTPConnection):
    """A connection to the host that serves SOCKET."""

    def __init__(self):
        super().__init__("host")

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(SOCKET)


class Server:
    """A server that lives as long as the connection to its host, at most as long as this process.

    Use it in a with statement. client is a kubernetes.client.ApiClient.
    """

    def __init__(self, **options):
        command = os.environ.get("MINIAPI_BIN", "miniapi")
        subprocess.run([command, "host", "--background"], check=True)  # a running host is kept
        self._host = _HostConnection()
        self._host.request("POST", "/v1/servers", json.dumps({"lease": "connection", **options}))
        self._lease = self._host.getresponse()
        event = json.loads(self._lease.readline())
        if "server" not in event:
            raise RuntimeError(event.get("error", event))
        self.url = event["server"]["url"]
        kubeconfig = yaml.safe_load(event["server"]["kubeconfig"])
        self.client = kubernetes.config.new_client_from_config_dict(kubeconfig)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.rest_client.pool_manager.clear()
        self.client.close()
        self._lease.close()
        self._host.close()
