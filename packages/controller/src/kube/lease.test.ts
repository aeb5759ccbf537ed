import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { answer, failCall, useScriptedApi } from '../testing/scripted-api.ts'
import { Election } from './lease.ts'

interface Lease {
  metadata: { resourceVersion?: string }
  spec: {
    holderIdentity?: string
    leaseTransitions?: number
    leaseDurationSeconds?: number
    renewTime?: string
    acquireTime?: string
  }
}

test('one of two leads; when it stops, the other does', async (t) => {
  const server = await useLeases(t)
  const [one, two] = [server.candidate('one'), server.candidate('two')]
  await one.leads()
  two.run()
  await server.changed(() => server.writes > 3)
  assert.equal(two.isLeading(), false)
  await one.stop()
  assert.equal(one.isLeading(), false)
  await two.leads()
  assert.deepEqual([server.lease()?.spec.holderIdentity, server.lease()?.spec.leaseTransitions], ['two', 1])
  assert.match(server.lease()?.spec.renewTime ?? '', /\.\d{6}Z$/)
})

test('a silent leader is replaced when its lease expires', async (t) => {
  const server = await useLeases(t)
  server.put({ metadata: {}, spec: { holderIdentity: 'dead', leaseTransitions: 3, leaseDurationSeconds: 1 } })
  const heir = server.candidate('heir')
  await heir.leads()
  assert.equal(server.lease()?.spec.leaseTransitions, 4)
})

test('a leader that cannot renew stops leading, and reports the error', async (t) => {
  const server = await useLeases(t)
  const one = server.candidate('one', 300)
  await one.leads()
  server.break()
  await one.rests()
  assert.match(String(one.troubles[0]), /GET .*leases\/portico: 500 etcd is away/)
  server.mend()
  await one.leads()
})

test('when two take the lease at the same time, one gets it', async (t) => {
  const server = await useLeases(t)
  const candidates = Array.from({ length: 8 }, (_, index) => server.candidate(`number-${index}`))
  for (const candidate of candidates) candidate.run()
  await server.changed(() => server.writes > 5)
  assert.equal(candidates.filter(({ isLeading }) => isLeading()).length, 1)
})

async function useLeases(t: TestContext) {
  let lease: Lease | undefined
  let version = 0
  let isBroken = false
  const state = { writes: 0 }
  const waiting = new Set<() => void>()
  const look = (): void => {
    for (const check of waiting) check()
  }
  const changed = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!holds()) return
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
      check()
    })
  const put = (next: Lease): void => {
    lease = { ...next, metadata: { ...next.metadata, resourceVersion: String((version += 1)) } }
    state.writes += 1
    setImmediate(look)
  }
  const api = await useScriptedApi(t, ({ method, body }, response) => {
    const next = body as Lease
    if (isBroken) return failCall(response, 500, 'etcd is away')
    if (method === 'GET') return lease === undefined ? failCall(response, 404, 'none') : answer(response, 200, lease)
    const isStale =
      method === 'POST' ? lease !== undefined : lease?.metadata.resourceVersion !== next.metadata.resourceVersion
    if (isStale) return failCall(response, 409, 'another was faster')
    put(next)
    answer(response, 200, lease ?? {})
  })
  const candidate = (identity: string, renewMs = 60_000) => {
    const ending = new AbortController()
    const troubles: unknown[] = []
    let leading: AbortSignal | undefined
    const onError = (error: unknown): void => {
      troubles.push(error)
      look()
    }
    const times = { leaseMs: renewMs * 2, renewMs, retryMs: 5 }
    const options = {
      namespace: 'shop',
      name: 'portico',
      identity,
      ...times,
      onError,
    }
    const election = new Election(api.client, options)
    let running: Promise<void> | undefined
    const run = (): void => {
      running ??= election.run(ending.signal, (signal) => {
        leading = signal
        signal.addEventListener('abort', look)
        look()
      })
    }
    const stop = async (): Promise<void> => {
      ending.abort()
      await running
    }
    t.after(stop)
    const isLeading = (): boolean => leading?.aborted === false
    const leads = (): Promise<void> => {
      run()
      return changed(isLeading)
    }
    return { run, stop, isLeading, leads, rests: () => changed(() => !isLeading() && troubles.length > 0), troubles }
  }
  return {
    candidate,
    put,
    changed,
    lease: () => lease,
    get writes() {
      return state.writes
    },
    break: () => (isBroken = true),
    mend: () => (isBroken = false),
  }
}
