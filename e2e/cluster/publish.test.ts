import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { ApiKind } from '../../packages/controller/src/kube/kinds.ts'
import type { KubeClient } from '../../packages/controller/src/kube/kube-client.ts'
import { createObject, deleteObject, getObject } from '../../packages/controller/src/kube/objects.ts'
import { reviewToken } from '../../packages/controller/src/kube/token-review.ts'
import { LIFETIMES } from '../../packages/controller/src/publish/authorities.ts'
import { CertificateKeeper } from '../../packages/controller/src/publish/certificate-keeper.ts'
import { irOf, type PublisherScene, usePublisher } from '../../packages/controller/src/testing/publisher-scene.ts'
import type { StreamClient } from '../../packages/controller/src/testing/stream-client.ts'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { clientFor, SECRETS } from './bed/kubelet/cluster.ts'
import { withoutBed } from './bed/programs.ts'

const PATIENCE_MS = 300_000
const ACCOUNTS: ApiKind = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
}

describe('streams of data planes, with a real API server behind them', { skip: withoutBed }, () => {
  let bed: Bed
  before(async () => {
    bed = await startBed({ parts: 'api', gatewayApi: 'none' })
    await Promise.all(['portico-system', 'shop', 'bank'].map((name) => bed.kubectl('create', 'namespace', name)))
  })
  after(async () => bed.stop())

  it('replicas with the rights of the controller and no others have one authority, and renew it once', async () => {
    await bed.apply(RIGHTS)
    const token = await tokenFor(bed, 'portico-system', 'portico-controller')
    let now = Date.now()
    const troubles: string[] = []
    const clients: KubeClient[] = []
    const replicas = Array.from({ length: 4 }, () => {
      const client = clientFor({ server: bed.server, ca: bed.ca, token })
      clients.push(client)
      const names = ['portico-controller.portico-system.svc']
      const place = { namespace: 'portico-system', secret: 'portico-controller-ca', names }
      return new CertificateKeeper(client, { ...place, now: () => now, onError: (problem) => troubles.push(problem) })
    })
    const always = new AbortController().signal
    for (const replica of replicas) replica.lead(always)
    const bundles: (string | undefined)[] = []
    const { authorityMs, authorityRenewalMs, spreadMs } = LIFETIMES
    for (const ms of [0, authorityMs - authorityRenewalMs + 1_000, spreadMs + 1_000]) {
      now += ms
      await Promise.all(replicas.map((replica) => replica.refresh()))
      assert.equal(new Set(replicas.map(({ bundle }) => bundle)).size, 1)
      bundles.push(replicas[0]?.bundle)
    }
    assert.deepEqual(troubles, [])
    assert.equal(new Set(bundles).size, 3)
    assert.ok(replicas.every(({ serving }) => serving !== undefined))
    const secret = await getObject(bed.client, SECRETS, { namespace: 'portico-system', name: 'portico-controller-ca' })
    assert.deepEqual(Object.keys(secret?.data ?? {}).toSorted(), ['ca.crt', 'ca.key', 'previous.crt'])
    for (const client of clients) client.close()
  })

  it('a token opens the stream of its own Gateway, when it is for us, and while its account is there', async (t) => {
    await Promise.all([account('shop', 'web'), account('shop', 'api'), account('bank', 'web')])
    const scene = await useScene(t)
    scene.publisher.publish('shop/web', irOf(3))
    const own = await tokenFor(bed, 'shop', 'web', ['portico'])
    const client = await scene.connect({ token: own }).hello().received('config')
    assert.deepEqual(client.ir, irOf(3))
    for (const [token, status] of [
      [await tokenFor(bed, 'shop', 'web', ['others']), 401],
      [await tokenFor(bed, 'shop', 'web'), 401],
      [`${own.slice(0, -8)}AAAAAAAA`, 401],
      [await tokenFor(bed, 'shop', 'api', ['portico']), 403],
      [await tokenFor(bed, 'bank', 'web', ['portico']), 403],
    ] as const) {
      const refused = await scene.connect({ token }).hello({ instance: 'other' }).ended()
      assert.deepEqual([refused.status, refused.messages], [status, []])
    }
    await deleteObject(bed.client, ACCOUNTS, { namespace: 'shop', name: 'web' })
    await eventually(
      'the token is worth nothing',
      async () => (await statusFor(scene.connect({ token: own }).hello({ instance: 'late' }))) === 401,
      PATIENCE_MS,
    )
    assert.ok(!scene.logged.join().includes(own))
  })

  it('while the API server is away, connected data planes get changes, and new ones are not admitted', async (t) => {
    await account('bank', 'edge')
    const scene = await useScene(t)
    scene.publisher.publish('bank/edge', irOf(1))
    const token = await tokenFor(bed, 'bank', 'edge', ['portico'])
    const hello = { gateway: 'bank/edge', instance: 'a' }
    const client = await scene.connect({ token }).hello(hello).received('config')
    client.ack()
    await bed.kill('kube-apiserver')
    scene.publisher.publish('bank/edge', irOf(2))
    await client.received('config', 2)
    const refused = await scene
      .connect({ token })
      .hello({ ...hello, instance: 'b' })
      .ended()
    assert.deepEqual([refused.status, refused.messages], [503, []])
    bed.start('kube-apiserver')
    await eventually(
      'it is let in',
      async () => (await statusFor(scene.connect({ token }).hello({ ...hello, instance: 'b' }))) === 200,
      PATIENCE_MS,
    )
    assert.deepEqual(client.ir, irOf(2))
  })

  async function account(namespace: string, name: string): Promise<void> {
    await createObject(bed.client, ACCOUNTS, { metadata: { namespace, name } })
  }

  function useScene(t: TestContext): Promise<PublisherScene> {
    return usePublisher(t, { review: (token) => reviewToken(bed.client, token, 'portico') })
  }
})

/** The rights that a controller needs for its authorities. */
const RIGHTS = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: portico-controller, namespace: portico-system }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: portico-controller, namespace: portico-system }
rules:
  - { apiGroups: [''], resources: [secrets], verbs: [create] }
  - { apiGroups: [''], resources: [secrets], resourceNames: [portico-controller-ca], verbs: [get, update] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: portico-controller, namespace: portico-system }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: portico-controller }
subjects: [{ kind: ServiceAccount, name: portico-controller, namespace: portico-system }]
`

/** Waits for the status of the stream, closes the client, and returns the status. */
async function statusFor(client: StreamClient): Promise<number | undefined> {
  await client.until(() => client.status !== undefined).catch(() => undefined)
  client.close()
  return client.status
}

async function tokenFor(bed: Bed, namespace: string, name: string, audiences?: readonly string[]): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`
  const spec = { ...(audiences && { audiences }), expirationSeconds: 3600 }
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
  return ((await bed.client.ask({ method: 'POST', path, body })) as { status: { token: string } }).status.token
}
