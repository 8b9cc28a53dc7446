// A Kubernetes API server for one test: see docs/host.md.
import { execFileSync } from 'node:child_process';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { KubeConfig } from '@kubernetes/client-node';

const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
const socketPath = path.join(cache, 'miniapi', 'host.sock');

// startServer returns a server that ends with stop, at the latest with this process. It starts the
// host if none runs.
export async function startServer(options = {}) {
  execFileSync(process.env.MINIAPI_BIN || 'miniapi', ['host', '--background']);
  const lease = await new Promise((resolve, reject) => {
    const request = http.request({ socketPath, path: '/v1/servers', method: 'POST', agent: false }, resolve);
    request.on('error', reject);
    request.end(JSON.stringify({ lease: 'connection', ...options }));
  });
  const lines = readline.createInterface({ input: lease })[Symbol.asyncIterator]();
  const event = JSON.parse((await lines.next()).value);
  if (!event.server) {
    throw new Error(event.error);
  }
  lease.on('error', () => {}); // of stop
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(event.server.kubeconfig);
  return { kubeConfig, url: event.server.url, stop: () => lease.destroy() };
}
