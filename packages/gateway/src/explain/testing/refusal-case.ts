import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { stringify } from 'yaml'
import { loadConfig } from '../../sources/file.ts'
import type { RequestRecord } from '../../telemetry/recorder/record.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from '../../testing/gateway.ts'
import type { Origin } from '../../testing/origin.ts'
import { until, useOrigin } from '../../testing/scene.ts'
import { explain, headlineOf } from '../explain.ts'
import type { Explanation, Spending } from '../../findings/explanation.ts'

/** The objects that a case can use. */
interface Scene {
  readonly t: TestContext
  readonly origin: Origin
  readonly gateway: TestGateway
  readonly port: number
}

/** A request that is refused, and the expected explanation. */
export interface RefusalCase {
  readonly name: string
  /** The whole config, or the policies of a route to an origin that answers `ok`. */
  readonly config: (scene: Pick<Scene, 't' | 'origin'>) => object | Promise<object>
  readonly options?: (t: TestContext) => TestGatewayOptions
  /** Sends the request that is refused, possibly after others. */
  readonly send: (scene: Scene) => Promise<unknown>
  /** Selects one of several refusals; the newest by default. */
  readonly pick?: (record: RequestRecord) => boolean
  readonly code: string
  /** The text at the reported location; null when no location is reported. */
  readonly at: string | null
  /** The first change that would have passed. */
  readonly passes: string | RegExp
  /** All other changes that would have passed, in order; none by default. */
  readonly alsoPass?: readonly string[]
  /** Values that the explanation must contain, by name. */
  readonly values?: Readonly<Record<string, unknown>>
  /** The expected usage of the limit. */
  readonly spending?: Partial<Spending>
  /** The expected number of calls to backends. */
  readonly calls?: number
  /** The expected headline. */
  readonly says?: RegExp
  /** Texts that the explanation must not contain. */
  readonly hides?: readonly string[]
}

export async function explainCase(t: TestContext, refusal: RefusalCase): Promise<void> {
  const origin = await useOrigin(t)
  const text = stringify(await refusal.config({ t, origin }))
  const options = refusal.options?.(t) ?? {}
  const gateway = await startGateway(text, options)
  t.after(() => gateway.close())
  await refusal.send({ t, origin, gateway, port: gateway.port() })
  let found: RequestRecord | undefined
  await until(() => (found = gateway.recorded().find(refusal.pick ?? isRefused)) !== undefined)
  assert.ok(found)
  const loaded = loadConfig(text, { file: 'gateway.yaml', dir: options.dir ?? '.', env: {} })
  assert.ok(loaded.ok)
  const brief = headlineOf(found)
  assert.ok(brief !== '' && brief.length <= 300 && !brief.includes('undefined'), brief)
  const { ir, locate = () => null } = loaded
  const others = {
    between: (from: number, to: number) => gateway.recorded().filter(({ at }) => at >= from && at <= to),
    completeSince: 0,
  }
  hold(refusal, explain(found, { isKnown: true, isEarlier: false, live: 1, ir, locate }, others), text)
}

function isRefused({ reason, status }: RequestRecord): boolean {
  return reason !== null || status >= 500
}

function hold(refusal: RefusalCase, found: Explanation, text: string): void {
  const { code, at, passes, values = {}, hides = [], spending = null, says = /./ } = refusal
  const told = JSON.stringify(found)
  const place = found.decidedBy?.place ?? null
  const line =
    place !== null && 'line' in place ? (text.split('\n')[place.line - 1] ?? '').slice(place.column - 1) : null
  const [first] = found.wouldPass
  assert.equal(found.code, code, told)
  assert.equal(line === null || at === null ? line : line.slice(0, at.length), at, told)
  if (typeof passes === 'string') assert.equal(first?.text, passes, told)
  else assert.match(first?.text ?? '', passes, told)
  assert.deepEqual(
    found.wouldPass.slice(1).map((way) => way.text),
    refusal.alsoPass ?? [],
    told,
  )
  assert.match(found.headline, says)
  if (refusal.calls !== undefined) assert.equal(found.calls.length, refusal.calls, told)
  if (spending !== null) assert.deepEqual({ ...found.spending, ...spending }, found.spending, told)
  const read = new Map(found.values.map(({ name, value }) => [name, value]))
  for (const [name, value] of Object.entries(values)) assert.deepEqual(read.get(name), value, `${name} of ${told}`)
  for (const secret of hides) assert.ok(!told.includes(secret), `${secret} in ${told}`)
}
