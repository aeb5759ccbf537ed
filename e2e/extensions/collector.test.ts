import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { KeepAliveClient } from '../../packages/gateway/src/testing/keep-alive-client.ts'
import {
  eventually,
  metric,
  type Program,
  useConfigFile,
  useProgram,
} from '../../packages/gateway/src/testing/process.ts'
import { scrapedLines } from '../../packages/gateway/src/testing/otlp/otlp-metrics.ts'
import { httpConfig } from '../../packages/gateway/src/testing/scene.ts'
import {
  asScraped,
  attributesOf,
  type LogRequest,
  type Metric,
  type MetricRequest,
  type OtlpValue,
} from './otlp-json.ts'
import { type Collector, useCollector, withoutCollector as skip } from './servers.ts'

const protocols = ['GRPC', 'HTTP'] as const
type Protocol = (typeof protocols)[number]

/** A collector that is away is asked again after pauses that grow. */
const LONG_MS = 120_000
const CONNECTIONS = 16
const ROUTES = [{ policies: { directResponse: { status: 200, body: 'ok' } } }]

describe('the collector of OpenTelemetry', { skip }, () => {
  for (const protocol of protocols) {
    it(`gets by ${protocol} what the access log says, restarted in between or not`, async (t) => {
      const collector = await useCollector(t)
      const added = [
        { name: 'teams', expression: '["a", "ä"]' },
        { name: 'half', expression: 'double(response.code) / 3.0' },
        { name: 'odd', expression: 'request.path.endsWith("1")' },
        { name: 'asked', expression: '{"path": request.path, "size": size(request.path)}' },
      ]
      const program = await useProgramWith(t, { collector, protocol, added, level: 'info' })
      await drive(program, 'first', 300)
      await eventually('the first are exported', async () => (await exported(program)) === 300)
      await collector.stop()
      await drive(program, 'while-away', 300)
      await collector.start()
      await drive(program, 'back', 300)
      await eventually('all are exported', async () => (await exported(program)) === 900, LONG_MS)
      assert.equal(await metric(program, 'portico_otlp_dropped_records_total'), 0)
      await collector.stop()
      const written = linesByPath(program)
      const arrived = recordsByPath(collector)
      assert.equal(written.size, 900)
      assert.deepEqual(arrived, written)
    })
  }

  for (const protocol of protocols) {
    it(`gets by ${protocol} the metrics that a scrape shows, restarted in between or not`, async (t) => {
      const collector = await useCollector(t)
      const host = protocol === 'GRPC' ? collector.grpc : collector.http
      const frontend = { metrics: { otlp: { backendRef: { host }, protocol, interval: '1s' } } }
      const { file } = useConfigFile(t, {
        config: { workers: 2, logging: { level: 'info,request=off' } },
        ...httpConfig(ROUTES, { frontend }),
      })
      const program = await useProgram(t, { args: ['-f', file] })
      await drive(program, 'first', 200)
      await eventually('something arrives', () => pushes(collector).length > 0)
      await collector.stop()
      await drive(program, 'away', 200)
      await collector.start()
      const isSame = async (): Promise<boolean> => {
        const text = await (await fetch(`${program.stats}/metrics`)).text()
        const scraped = steady(scrapedLines(text))
        return scraped.join('\n') === steady(asScraped(pushes(collector).at(-1) ?? [])).join('\n')
      }
      await eventually('a push is what a scrape shows', isSame, LONG_MS)
      const counted = pushes(collector).map((metrics) => metrics.find(({ name }) => name === 'portico_requests_total'))
      const points = counted.flatMap((metric) => metric?.sum?.dataPoints ?? [])
      assert.equal(points.at(-1)?.asDouble, 400)
      assert.equal(new Set(points.map(({ startTimeUnixNano }) => startTimeUnixNano)).size, 1)
      assert.deepEqual([counted.at(-1)?.sum?.aggregationTemporality, counted.at(-1)?.sum?.isMonotonic], [2, true])
    })
  }

  it('away for longer than a queue lasts, it misses as many as the gateway says', async (t) => {
    const collector = await useCollector(t)
    const added = [{ name: 'long', expression: `"${'x'.repeat(4096)}"` }]
    const program = await useProgramWith(t, { collector, protocol: 'GRPC', added, level: 'info,request=off' })
    await collector.stop()
    const total = 6_000
    await drive(program, 'away', total)
    await eventually('some found no room', async () => (await dropped(program)) > 0)
    await collector.start()
    await eventually(
      'each is exported or dropped',
      async () => (await exported(program)) + (await dropped(program)) === total,
      LONG_MS,
    )
    const taken = await exported(program)
    await collector.stop()
    assert.equal(recordsByPath(collector).size, taken)
    assert.ok(taken > 0)
  })
})

interface Scene {
  collector: Collector
  protocol: Protocol
  added: object[]
  level: string
}

function useProgramWith(t: TestContext, { collector, protocol, added, level }: Scene): Promise<Program> {
  const host = protocol === 'GRPC' ? collector.grpc : collector.http
  const accessLog = { attributes: { add: added }, otlp: { backendRef: { host }, protocol } }
  const { file } = useConfigFile(t, {
    config: { workers: 2, logging: { level, format: 'json' } },
    ...httpConfig(ROUTES, { frontend: { accessLog } }),
  })
  return useProgram(t, { args: ['-f', file] })
}

/** So many requests with paths of their own, over connections of both workers. */
async function drive(program: Program, name: string, count: number): Promise<void> {
  let next = 0
  const load = Array.from({ length: CONNECTIONS }, async () => {
    const client = new KeepAliveClient(program.port())
    while (next < count) assert.equal((await client.get(`/${name}/${next++}`)).status, 200)
    client.close()
  })
  await Promise.all(load)
}

async function exported(program: Program): Promise<number> {
  return metric(program, 'portico_otlp_exported_records_total')
}

async function dropped(program: Program): Promise<number> {
  return metric(program, 'portico_otlp_dropped_records_total')
}

/** Metrics of each push. */
function pushes(collector: Collector): Metric[][] {
  return collector
    .received()
    .map((request) =>
      (request as MetricRequest).resourceMetrics
        .flatMap(({ scopeMetrics }) => scopeMetrics)
        .flatMap(({ metrics }) => metrics),
    )
}

/** Lines that are the same whenever one looks, once nothing happens any more. */
function steady(lines: readonly string[]): string[] {
  return lines.filter((line) => !/^process_|^portico_event_loop|^portico_otlp_|^portico_upstream/.test(line))
}

type Fields = Record<string, OtlpValue>

function linesByPath(program: Program): Map<unknown, Fields> {
  const lines = program.stdout().split('\n')
  const found = lines
    .filter((line) => line.includes('"scope":"request"'))
    .map((line) => {
      const { level: _level, time: _time, scope: _scope, ...fields } = JSON.parse(line) as Fields
      return [fields['http.path'], fields] as const
    })
  return new Map(found.toSorted(byPath))
}

/** One that came twice, because its answer was lost, counts once. */
function recordsByPath(collector: Collector): Map<unknown, Fields> {
  const found = collector.received().flatMap((request) =>
    (request as LogRequest).resourceLogs
      .flatMap(({ scopeLogs }) => scopeLogs)
      .flatMap(({ logRecords }) => logRecords)
      .map(({ attributes }) => attributesOf(attributes))
      .map((fields) => [fields['http.path'], fields] as const),
  )
  return new Map(found.toSorted(byPath))
}

function byPath([a]: readonly [unknown, Fields], [b]: readonly [unknown, Fields]): number {
  return String(a) < String(b) ? -1 : 1
}
