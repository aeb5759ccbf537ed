import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Events } from '../../packages/controller/src/kube/events.ts'
import { KubeClient } from '../../packages/controller/src/kube/kube-client.ts'
import { readKubeconfig } from '../../packages/controller/src/kube/kubeconfig.ts'
import type { ApiKind } from '../../packages/controller/src/kube/kinds.ts'
import { Election } from '../../packages/controller/src/kube/lease.ts'
import {
  applyObject,
  createObject,
  deleteObject,
  getObject,
  patchStatus,
  updateObject,
} from '../../packages/controller/src/kube/objects.ts'
import { Reflector } from '../../packages/controller/src/kube/reflector.ts'
import { reviewToken } from '../../packages/controller/src/kube/token-review.ts'
import { seeded } from '../../packages/gateway/src/testing/seeded.ts'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import type { Resource } from '../../packages/translate/src/index.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { compact } from './bed/compact.ts'
import { clientFor, CONFIG_MAPS, SECRETS } from './bed/kubelet/cluster.ts'
import { withoutBed } from './bed/programs.ts'

const PATIENCE_MS = 300_000
const ACCOUNTS: ApiKind = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
}
const EVENTS: ApiKind = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true }
const CUPS: ApiKind = { group: 'shop.example', version: 'v1', kind: 'Cup', plural: 'cups', namespaced: true }

describe('the client of a real API server', { skip: withoutBed }, () => {
  let bed: Bed
  before(async () => {
    bed = await startBed({ parts: 'api', gatewayApi: 'none' })
    await Promise.all(['one', 'watched', 'rights', 'lead'].map((name) => bed.kubectl('create', 'namespace', name)))
  })
  after(async () => bed.stop())

  const configMap = (namespace: string, name: string, text: string) => ({
    metadata: { namespace, name },
    data: { text },
  })

  it('holds what the server has while a thousand objects change, over cut connections', async () => {
    const { client } = bed
    const own = new KubeClient(readKubeconfig({ file: bed.kubeconfig }))
    const store = watchAll(own, CONFIG_MAPS, { namespace: 'watched', pageSize: 90, watchSeconds: 1 })
    const random = seeded(7)
    const names = Array.from({ length: 1000 }, (_, index) => `map-${index}`)
    await inParts(
      names,
      async (name) => void (await createObject(client, CONFIG_MAPS, configMap('watched', name, 'first'))),
    )
    await inParts(names, async (name) => {
      const choice = random()
      if (choice < 0.4) await applyObject(client, CONFIG_MAPS, configMap('watched', name, `changed ${choice}`), 'test')
      else if (choice < 0.6) await deleteObject(client, CONFIG_MAPS, { namespace: 'watched', name })
    })
    const list = (await client.ask({ path: '/api/v1/namespaces/watched/configmaps' })) as { items: Resource[] }
    const versions = (items: Iterable<Resource>): string[] =>
      [...items].map(({ metadata: { name, resourceVersion } }) => `${name} ${resourceVersion}`).toSorted()
    const expected = versions(list.items)
    assert.ok(expected.length > 700)
    await eventually('the store is equal', () => versions(store.items()).join() === expected.join(), PATIENCE_MS)
    await store.stop()
    own.close()
  })

  it('reads everything anew when what it missed is forgotten', async () => {
    const own = new KubeClient(readKubeconfig({ file: bed.kubeconfig }))
    const store = watchAll(own, CONFIG_MAPS, { namespace: 'one' })
    await createObject(bed.client, CONFIG_MAPS, configMap('one', 'before', 'x'))
    await eventually('it is seen', () => store.keys().includes('one/before'), PATIENCE_MS)
    await bed.kill('kube-apiserver')
    await eventually('the watch is cut', () => store.troubles() > 0, PATIENCE_MS)
    store.hold()
    bed.start('kube-apiserver')
    await eventually(
      'it serves',
      () =>
        bed.kubectl('get', '--raw', '/readyz').then(
          () => true,
          () => false,
        ),
      PATIENCE_MS,
    )
    await deleteObject(bed.client, CONFIG_MAPS, { namespace: 'one', name: 'before' })
    await createObject(bed.client, CONFIG_MAPS, configMap('one', 'after', 'x'))
    const { revision } = await compact(bed)
    assert.ok(revision > 0)
    // A server that was started anew remembers nothing from before.
    await bed.kill('kube-apiserver')
    bed.start('kube-apiserver')
    await eventually(
      'it serves',
      () =>
        bed.kubectl('get', '--raw', '/readyz').then(
          () => true,
          () => false,
        ),
      PATIENCE_MS,
    )
    store.goOn()
    await eventually('it is equal', () => store.keys().join() === 'one/after', PATIENCE_MS)
    assert.ok(store.syncs() >= 2)
    await store.stop()
    own.close()
  })

  it('waits for a kind that is not there yet, and lets go of one that is no more', async () => {
    const own = new KubeClient(readKubeconfig({ file: bed.kubeconfig }))
    const store = watchAll(own, CUPS, { missingMs: 100 })
    await eventually('it is missing', () => store.misses() > 0, PATIENCE_MS)
    await bed.apply(cupDefinition())
    await bed.kubectl('wait', '--for=condition=Established', '--timeout=120s', 'crd', 'cups.shop.example')
    const cup = { metadata: { namespace: 'one', name: 'blue' }, spec: { size: 3 } }
    await eventually(
      'it can be made',
      () =>
        createObject(bed.client, CUPS, cup).then(
          () => true,
          () => false,
        ),
      PATIENCE_MS,
    )
    await eventually('it is seen', () => store.keys().join() === 'one/blue', PATIENCE_MS)
    await patchStatus(bed.client, CUPS, { namespace: 'one', name: 'blue' }, { full: true })
    const found = (await getObject(bed.client, CUPS, { namespace: 'one', name: 'blue' })) as
      | { status?: object }
      | undefined
    assert.deepEqual(found?.status, { full: true })
    const stale = { namespace: 'one', name: 'blue', resourceVersion: '1' }
    await assert.rejects(patchStatus(bed.client, CUPS, stale, { full: false }), { status: 409 })
    await bed.kubectl('delete', 'crd', 'cups.shop.example', '--wait=false')
    await eventually('it is gone', () => store.keys().length === 0, PATIENCE_MS)
    await store.stop()
    own.close()
  })

  it('applies only its own fields', async () => {
    await createObject(bed.client, CONFIG_MAPS, {
      metadata: { namespace: 'one', name: 'shared' },
      data: { theirs: '1' },
    })
    const ours = (data: object) => ({ metadata: { namespace: 'one', name: 'shared' }, data })
    await applyObject(bed.client, CONFIG_MAPS, ours({ ours: '1', more: '1' }), 'portico')
    const applied = await applyObject(bed.client, CONFIG_MAPS, ours({ ours: '2' }), 'portico')
    assert.deepEqual(applied.data, { theirs: '1', ours: '2' })
    const stale = { ...ours({}), metadata: { ...applied.metadata, resourceVersion: '1' } }
    await assert.rejects(updateObject(bed.client, CONFIG_MAPS, stale), { status: 409 })
    assert.equal(
      await deleteObject(bed.client, CONFIG_MAPS, {
        namespace: 'one',
        name: 'shared',
        uid: applied.metadata.uid ?? '',
      }),
      true,
    )
    assert.equal(await deleteObject(bed.client, CONFIG_MAPS, { namespace: 'one', name: 'shared' }), false)
  })

  it('watches names alone', async () => {
    const own = new KubeClient(readKubeconfig({ file: bed.kubeconfig }))
    const store = watchAll(own, SECRETS, { metadataOnly: true })
    await createObject(bed.client, SECRETS, {
      metadata: { namespace: 'one', name: 'hidden' },
      stringData: { key: 'sesame' },
    })
    await eventually('it is seen', () => store.keys().includes('one/hidden'), PATIENCE_MS)
    const seen = JSON.stringify([...store.items()])
    assert.doesNotMatch(seen, /c2VzYW1l|sesame/)
    await store.stop()
    own.close()
  })

  it('elects one of two, and the other when that is killed', async () => {
    const candidate = (identity: string) => {
      const ending = new AbortController()
      const own = new KubeClient(readKubeconfig({ file: bed.kubeconfig }))
      let leading: AbortSignal | undefined
      const options = { namespace: 'lead', name: 'portico', identity, leaseMs: 3_000, renewMs: 2_000, retryMs: 100 }
      // A killed process says nothing more: its requests fail from then on.
      let isDead = false
      const client = {
        ask: (ask: Parameters<KubeClient['ask']>[0]) => (isDead ? Promise.reject(new Error('dead')) : own.ask(ask)),
      }
      const running = new Election(client, options).run(ending.signal, (signal) => (leading = signal))
      return {
        isLeading: () => leading?.aborted === false,
        kill: () => (isDead = true),
        stop: async () => {
          ending.abort()
          await running
          own.close()
        },
      }
    }
    const candidates = [candidate('one'), candidate('two')]
    await eventually('one leads', () => candidates.some(({ isLeading }) => isLeading()), PATIENCE_MS)
    const leader = candidates.find(({ isLeading }) => isLeading())
    const other = candidates.find((one) => one !== leader)
    leader?.kill()
    await eventually('the other leads', () => other?.isLeading() === true, PATIENCE_MS)
    assert.equal(leader?.isLeading(), false)
    await Promise.all(candidates.map(({ stop }) => stop()))
  })

  it('knows whose token it is, and for whom', async () => {
    await createObject(bed.client, ACCOUNTS, { metadata: { namespace: 'rights', name: 'gateway' } })
    const right = await tokenFor(bed, 'gateway', ['portico'])
    assert.deepEqual(await reviewToken(bed.client, right, 'portico'), {
      ok: true,
      namespace: 'rights',
      serviceAccount: 'gateway',
      pod: undefined,
    })
    const [other, forged] = [await tokenFor(bed, 'gateway', ['others']), `${right.slice(0, -8)}AAAAAAAA`]
    for (const token of [other, forged]) assert.equal((await reviewToken(bed.client, token, 'portico')).ok, false)
    assert.equal((await reviewToken(bed.client, 'admin-token', 'portico')).ok, false)
  })

  it('says what its service account may not', async () => {
    await createObject(bed.client, ACCOUNTS, { metadata: { namespace: 'rights', name: 'nobody' } })
    const own = clientFor({ server: bed.server, ca: bed.ca, token: await tokenFor(bed, 'nobody') })
    const store = watchAll(own, CONFIG_MAPS, {})
    await eventually('it is told', () => store.troubles() > 0, PATIENCE_MS)
    assert.match(store.lastTrouble(), /^GET \/api\/v1\/configmaps: 403 .*serviceaccount:rights:nobody" cannot list/)
    await bed.apply(
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'reader' }, rules: [READ] },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'reader' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
        subjects: [{ kind: 'ServiceAccount', namespace: 'rights', name: 'nobody' }],
      },
    )
    await eventually('it may by now', () => store.syncs() > 0, PATIENCE_MS)
    await assert.rejects(createObject(own, CONFIG_MAPS, configMap('one', 'mine', 'x')), { status: 403 })
    await store.stop()
    own.close()
  })

  it('tells Events of an object', async () => {
    const about = await createObject(bed.client, CONFIG_MAPS, configMap('one', 'told', 'x'))
    const happening = { about, type: 'Warning', reason: 'Rejected', message: 'it is no cup' } as const
    await new Events(bed.client, 'portico', (error) => assert.fail(String(error))).record(happening)
    const { items } = (await bed.client.ask({ path: '/api/v1/namespaces/one/events' })) as { items: Resource[] }
    assert.ok(items.some((event) => (event as { message?: string }).message === 'it is no cup'))
    assert.ok(await getObject(bed.client, EVENTS, { namespace: 'one', name: items[0]?.metadata.name ?? '' }))
  })
})

const READ = { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }

/** A reflector whose server can be out of reach for a while. */
function watchAll(client: KubeClient, kind: ApiKind, options: ConstructorParameters<typeof Reflector>[3]) {
  const ending = new AbortController()
  const counts = { syncs: 0, misses: 0, troubles: 0, last: '' }
  let release: (() => void) | undefined
  let held: Promise<void> | undefined
  const watcher = {
    changed: () => undefined,
    synced: (isMissing: boolean) => (counts[isMissing ? 'misses' : 'syncs'] += 1),
    onError: (error: Error) => {
      counts.troubles += 1
      counts.last = error.message
    },
  }
  const gate = new Proxy(client, {
    get(target, name) {
      if (name === 'ask') return async (ask: Parameters<KubeClient['ask']>[0]) => (await held, target.ask(ask))
      return name === 'stream'
        ? async function* (ask: Parameters<KubeClient['stream']>[0]) {
            await held
            yield* target.stream(ask)
          }
        : undefined
    },
  })
  const reflector = new Reflector(gate, kind, watcher, { backoff: { firstMs: 50, mostMs: 500 }, ...options })
  const running = reflector.run(ending.signal)
  return {
    items: () => reflector.items.values(),
    keys: () => [...reflector.items.keys()].toSorted(),
    syncs: () => counts.syncs,
    misses: () => counts.misses,
    troubles: () => counts.troubles,
    lastTrouble: () => counts.last,
    hold: () => {
      held = new Promise((resolve) => (release = resolve))
    },
    goOn: () => release?.(),
    stop: async () => {
      ending.abort()
      await running
    },
  }
}

async function tokenFor(bed: Bed, account: string, audiences?: readonly string[]): Promise<string> {
  const path = `/api/v1/namespaces/rights/serviceaccounts/${account}/token`
  const spec = { expirationSeconds: 3600, ...(audiences !== undefined && { audiences }) }
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
  return ((await bed.client.ask({ method: 'POST', path, body })) as { status: { token: string } }).status.token
}

/** Ten at a time. */
async function inParts<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items]
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item)
    }),
  )
}

function cupDefinition(): object {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'cups.shop.example' },
    spec: {
      group: CUPS.group,
      scope: 'Namespaced',
      names: { kind: CUPS.kind, plural: CUPS.plural },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  }
}
