// Optimistic concurrency with the JavaScript client: npm install && npm test
import assert from 'node:assert';
import { afterEach, beforeEach, test } from 'node:test';
import { CoreV1Api } from '@kubernetes/client-node';
import { startServer } from './server.js';

const namespace = 'default';
const name = 'settings';
let server, client, created;

beforeEach(async (t) => {
  server = await startServer({ name: t.name });
  client = server.kubeConfig.makeApiClient(CoreV1Api);
  const body = { metadata: { name }, data: { color: 'red' } };
  created = await client.createNamespacedConfigMap({ namespace, body });
});

afterEach(() => server.stop());

const read = () => client.readNamespacedConfigMap({ namespace, name });

const replace = (configMap, color) =>
  client.replaceNamespacedConfigMap({ namespace, name, body: { ...configMap, data: { color } } });

// retryOnConflict calls attempt until its update does not conflict.
async function retryOnConflict(attempt) {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (error.code !== 409) throw error;
    }
  }
}

test('a stale update conflicts', async () => {
  await replace(await read(), 'green');
  await assert.rejects(replace(created, 'blue'), (error) => {
    assert.strictEqual(error.code, 409);
    assert.match(error.body, /the object has been modified/);
    return true;
  });
  assert.strictEqual((await read()).data.color, 'green');
});

test('a retry starts from the latest version', async () => {
  await replace(await read(), 'green');
  const copies = [created]; // the first attempt uses the stale copy
  const updated = await retryOnConflict(async () => replace(copies.pop() ?? (await read()), 'blue'));
  assert.strictEqual(updated.data.color, 'blue');
});
