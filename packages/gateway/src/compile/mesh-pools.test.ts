import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatMeshAddress } from '@portico/http/text'
import type { Ir } from '../ir/resources.ts'
import { request } from '../testing/client.ts'
import { TestGateway } from '../testing/gateway.ts'
import { useOrigin } from '../testing/scene.ts'
import { createTestIdentity, createTestMesh, spiffeOf, useHbonePeer } from '../testing/services/hbone-peer.ts'
import { usePicker } from '../testing/services/picker.ts'

const POOL = 'backend/pool/models/llama'
const PICKER = 'backend/service/models/picker/9002:picker'

const ir: Ir = {
  binds: [{ key: 'bind/0', port: 0, address: '' }],
  listeners: [{ key: 'bind/0/web', bind: 'bind/0', name: 'web', hostname: '', protocol: 'HTTP', tls: null }],
  routes: [
    {
      key: 'bind/0/web/models/chat/0',
      listener: 'bind/0/web',
      name: 'models/chat',
      rule: '',
      labels: {},
      hostnames: [],
      matches: [{ path: { kind: 'pathPrefix', value: '/' }, method: null, headers: [], query: [] }],
      backends: [{ key: 'bind/0/web/models/chat/0/backend/0', backend: POOL, weight: 1 }],
    },
  ],
  backends: [
    {
      key: POOL,
      name: 'models/llama',
      target: {
        kind: 'inferencePool',
        endpoints: null,
        picker: { backend: PICKER, failureMode: 'FailClosed', timeoutMs: 5_000 },
        version: 'HTTP1',
      },
    },
    {
      key: PICKER,
      name: 'models/picker:9002',
      target: { kind: 'service', host: 'picker.models.svc.cluster.local', port: 9002, version: 'HTTP2' },
    },
  ],
  policies: [],
}

test('a picked member in the mesh is called through HBONE, and the picker knows it by its plain address', async (t) => {
  const mesh = createTestMesh()
  const { identity } = createTestIdentity(mesh)
  const [peer, origin] = [await useHbonePeer(t, { mesh }), await useOrigin(t)]
  const picker = await usePicker(t, () => origin.host)
  const gateway = new TestGateway({ mesh: identity, hbonePort: peer.port })
  t.after(() => gateway.close())
  await gateway.use(ir)
  const member = formatMeshAddress(origin.host, spiffeOf('app'))
  const put: [string, string[]][] = [
    [POOL, [member]],
    [PICKER, [picker.host]],
  ]
  gateway.setEndpoints({ put, drop: [] })
  assert.equal((await request(gateway.port())).status, 200)
  assert.deepEqual([peer.authorities, origin.seen.length], [[origin.host], 1])
  const offered = picker.asked[0]?.head.metadataContext?.filterMetadata.get('envoy.lb.subset_hint')
  assert.deepEqual(offered?.['x-gateway-destination-endpoint-subset'], [origin.host])
})
