"""Optimistic concurrency with the Python client: python3 -m unittest"""

import unittest

from kubernetes import client

from miniapi_server import Server


def retry_on_conflict(attempt):
    """Calls attempt until its update does not conflict."""
    while True:
        try:
            return attempt()
        except client.ApiException as error:
            if error.status != 409:
                raise


class ConflictTest(unittest.TestCase):
    def setUp(self):
        server = self.enterContext(Server(name=self.id()))
        self.config_maps = client.CoreV1Api(server.client)
        self.created = self.config_maps.create_namespaced_config_map(
            "default", {"metadata": {"name": "settings"}, "data": {"color": "red"}}
        )

    def replace(self, config_map, color):
        config_map.data["color"] = color
        return self.config_maps.replace_namespaced_config_map("settings", "default", config_map)

    def read(self):
        return self.config_maps.read_namespaced_config_map("settings", "default")

    def test_stale_update_conflicts(self):
        self.replace(self.read(), "green")
        with self.assertRaises(client.ApiException) as caught:
            self.replace(self.created, "blue")
        self.assertEqual(caught.exception.status, 409)
        self.assertIn("the object has been modified", caught.exception.body)
        self.assertEqual(self.read().data["color"], "green")

    def test_retry_starts_from_the_latest_version(self):
        self.replace(self.read(), "green")
        copies = [self.created]  # the first attempt uses the stale copy

        def attempt():
            return self.replace(copies.pop() if copies else self.read(), "blue")

        self.assertEqual(retry_on_conflict(attempt).data["color"], "blue")


if __name__ == "__main__":
    unittest.main()
