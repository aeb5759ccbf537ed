import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { describe, it, type TestContext } from 'node:test'
import { type Ask, askHttp1, askHttp2 } from '../../packages/gateway/src/explain/testing/death-clients.ts'
import { type Death, deaths } from '../../packages/gateway/src/explain/testing/deaths.ts'
import type { DyingBackend } from '../../packages/gateway/src/explain/testing/dying-backends.ts'
import { closedPort } from '../../packages/gateway/src/testing/scene.ts'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { useShippedGateway } from '../shipped-gateway.ts'
import { checkPage } from './difference-list.ts'
import { differences, type FailureCell } from './failure-differences.ts'
import { envoyConfig, type FailingKind, failingKinds, type FailingBackend, gatewayConfig } from './failing-kinds.ts'
import { useEnvoy, withoutEnvoy as skip } from './servers.ts'

/** Backends that fail in the same way behind Envoy and behind the gateway: what clients see differs only as the page says. */

/** For a client that is told nothing. */
const PATIENCE_MS = 5000
const REFUSES: Death = { name: 'refuses connections', begin: () => {} }

interface Side {
  port: number
  backend: DyingBackend
}

describe('a backend that fails behind Envoy and behind the gateway', { skip }, () => {
  it('looks the same to clients, but for the differences of the page', async (t) => {
    const [envoys, gateways] = [await useEnvoySides(t), await useGatewaySides(t)]
    const cells: FailureCell[] = []
    for (const [at, kind] of failingKinds.entries()) cells.push(...(await cellsOf(kind, envoys[at]!, gateways[at]!)))
    const explained = cells
      .filter(({ envoy, gateway }) => envoy !== gateway)
      .map((cell) => ({ cell, why: whyOf(cell) }))
    const surprises = explained.filter(({ why }) => why === undefined).map(({ cell }) => cell)
    assert.deepEqual(surprises, [])
    const met = new Set(explained.map(({ why }) => why))
    const gone = differences.filter(({ why }) => !met.has(why))
    assert.deepEqual(gone, [])
    t.diagnostic(`${cells.length} failures, ${explained.length} of which differ`)
    checkPage('backends that fail', tableOf(explained))
  })
})

function whyOf(cell: FailureCell): string | undefined {
  return differences.find(({ is }) => is(cell))?.why
}

/** Every failure of one kind of backend, by both clients, on both sides. */
async function cellsOf(kind: FailingKind, envoy: Side, gateway: Side): Promise<FailureCell[]> {
  const cells: FailureCell[] = []
  for (const client of kind.clients) {
    for (const death of [REFUSES, ...deaths]) {
      if ((death.isHttp2 === true && kind.isHttp2 !== true) || death.name === kind.except) continue
      if (kind.isTunnel === true ? death !== REFUSES && !death.fitsTunnel : death.isTunnel) continue
      const [byEnvoy, byGateway] = await Promise.all([envoy, gateway].map((side) => seenBy(side, kind, client, death)))
      cells.push({
        backend: kind.name,
        death: death.name,
        client,
        envoy: byEnvoy ?? '',
        gateway: byGateway ?? '',
      })
    }
  }
  return cells
}

/** Envoy before a backend of each kind. */
async function useEnvoySides(t: TestContext): Promise<Side[]> {
  const backends = await useBackends(t)
  const places = await Promise.all(backends.map(async (place) => ({ ...place, listener: await closedPort() })))
  await useEnvoy(t, places[0]!.listener, envoyConfig(places))
  return places.map(({ listener, backend }) => ({ port: listener, backend }))
}

async function useGatewaySides(t: TestContext): Promise<Side[]> {
  const places = await useBackends(t)
  const gateway = await useShippedGateway(t, gatewayConfig(places))
  return places.map(({ backend }, at) => ({ port: gateway.port(at), backend }))
}

function useBackends(t: TestContext): Promise<(FailingBackend & { backend: DyingBackend })[]> {
  return Promise.all(
    failingKinds.map(async (kind) => {
      const backend = await kind.backend(t)
      return { kind, backend, live: backend.port, refused: await closedPort() }
    }),
  )
}

async function seenBy({ port, backend }: Side, kind: FailingKind, client: string, death: Death): Promise<string> {
  backend.peer = null
  backend.begin = death.begin
  const headers = {
    ...kind.ask?.headers,
    ...(death === REFUSES && { 'x-refused': '1' }),
    ...(death.isSilent === true && { 'x-limited': '1' }),
  }
  const ask: Ask = { path: '/', method: 'GET', body: '', ...kind.ask, headers }
  const sight = (client === 'HTTP/1' ? askHttp1 : askHttp2)(port, ask)
  let isOver = false
  const over = sight.over.finally(() => (isOver = true))
  if (death.then !== undefined) {
    await eventually(
      `half of the response: ${kind.name}, ${death.name}, ${client}`,
      () => isOver || (sight.hasHalf && backend.peer !== null),
    )
    const peer: DyingBackend['peer'] = backend.peer
    if (peer !== null) death.then(peer)
  }
  const seen = await Promise.race([over, setTimeout(PATIENCE_MS, 'no end', { ref: false })])
  backend.forget()
  return seen
}

/** One row for each reason and each pair of outcomes. */
function tableOf(explained: readonly { cell: FailureCell; why: string | undefined }[]): string {
  const rows = new Map<string, { backends: Set<string>; deaths: Set<string>; clients: Set<string>; tail: string }>()
  for (const { cell, why } of explained) {
    const tail = `${cell.envoy} | ${cell.gateway} | ${why}`
    const row = rows.get(tail) ?? { backends: new Set(), deaths: new Set(), clients: new Set(), tail }
    rows.set(tail, row)
    row.backends.add(cell.backend)
    row.deaths.add(cell.death)
    row.clients.add(cell.client)
  }
  const lines = [...rows.values()].map(({ backends, deaths: some, clients, tail }) =>
    [...[backends, some, clients].map((names) => [...names].join('; ')), tail].join(' | '),
  )
  const head = ['| Backend | What it does | Client | By Envoy | By the gateway | Why |', '|---|---|---|---|---|---|']
  return [...head, ...lines.map((line) => `| ${line} |`)].join('\n')
}
