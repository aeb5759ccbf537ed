import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { checkCompile } from '../../../compile/check.ts'
import { loadConfig } from '../../../sources/file.ts'
import { printProblem } from '../../../sources/print-problems.ts'
import { request } from '../../../testing/client.ts'
import { useGrpcCollector, useHttpCollector } from '../../../testing/otlp/otlp-collector.ts'
import { asScraped, scrapedLines, type SeenMetric } from '../../../testing/otlp/otlp-metrics.ts'
import { eventually, metric, type Program, useConfigFile, useProgram } from '../../../testing/process.ts'
import { httpConfig, useTcpServer } from '../../../testing/scene.ts'

const routes = [{ name: 'hello', policies: { directResponse: { status: 200, body: 'hello' } } }]

function config(otlp: object | null, body = 'hello'): object {
  const add = [{ name: 'team', expression: 'request.headers["x-team"]' }]
  const metrics = { attributes: { add }, ...(otlp !== null && { otlp: { interval: '1s', ...otlp } }) }
  const served = [{ ...routes[0], policies: { directResponse: { status: 200, body } } }]
  return {
    config: { workers: 2, logging: { level: 'info,request=off' } },
    ...httpConfig(served, { frontend: { metrics } }),
  }
}

async function start(t: TestContext, whole: object, env: Record<string, string> = {}) {
  const file = useConfigFile(t, whole)
  return { file, program: await useProgram(t, { args: ['-f', file.file], env }) }
}

async function ask(program: Program, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, (_, i) => request(program.port(), { headers: { 'x-team': `t${i % 3}` } })),
  )
}

/** The sum over all series of the last push. */
function total(pushes: readonly SeenMetric[][], name = 'portico_requests_total'): number {
  const points = (pushes.at(-1) ?? []).filter((seen) => seen.name === name).flatMap((seen) => seen.points)
  return points.reduce((sum, { value }) => sum + (value ?? 0), 0)
}

/** Returns the lines that do not change between two scrapes of an idle gateway. */
function steady(lines: readonly string[]): string[] {
  return lines.filter((line) => !/^process_|^portico_event_loop|^portico_otlp_|^portico_upstream/.test(line))
}

for (const [protocol, use] of [
  ['GRPC', useGrpcCollector],
  ['HTTP', useHttpCollector],
] as const) {
  test(`a collector gets by ${protocol} what a scrape shows, of all workers together`, async (t) => {
    const collector = await use(t)
    const headers = [{ name: 'x-key', value: 'k' }]
    const { program } = await start(t, config({ backendRef: { host: collector.host }, protocol, headers }))
    await ask(program, 40)
    await eventually('all are pushed', () => total(collector.metrics) === 40)
    const same = async (): Promise<boolean> => {
      const scraped = steady(scrapedLines(await (await fetch(`${program.stats}/metrics`)).text()))
      return scraped.join('\n') === steady(asScraped(collector.metrics.at(-1) ?? [])).join('\n')
    }
    await eventually('a push is what a scrape shows', same)
    assert.equal(collector.asked[0]?.['x-key'], 'k')
    if (protocol === 'HTTP') assert.equal(collector.asked[0]?.['url'], '/v1/metrics')
    const last = collector.metrics.at(-1) ?? []
    const names = last.map(({ name }) => name)
    assert.equal(new Set(names).size, names.length)
    const { resource, scope } = last[0]!
    assert.match(JSON.stringify(resource['service.instance.id']), new RegExp(`:${program.child.pid}"$`))
    assert.deepEqual([resource['service.name'], scope.name], ['portico', 'portico'])
  })
}

test('counters go on over a reload, and the last values come with the end', async (t) => {
  const collector = await useGrpcCollector(t)
  const { file, program } = await start(t, config({ backendRef: { host: collector.host } }))
  await ask(program, 10)
  await eventually('all are pushed', () => total(collector.metrics) === 10)
  const startOf = () =>
    collector.metrics.at(-1)?.find(({ name }) => name === 'portico_requests_total')?.points[0]?.start
  const before = startOf()
  // So long that only the end brings what follows.
  file.replace(config({ backendRef: { host: collector.host }, interval: '1h' }, 'other'))
  await program.logged(/config 2 active/)
  await ask(program, 5)
  program.child.kill('SIGTERM')
  assert.deepEqual((await program.ended).code, 0)
  assert.equal(total(collector.metrics), 15)
  assert.equal(startOf(), before)
})

test('a reload ends it, leads it elsewhere and begins it', async (t) => {
  const [one, two] = [await useGrpcCollector(t), await useHttpCollector(t)]
  const { file, program } = await start(t, config(null))
  await ask(program, 4)
  file.replace(config({ backendRef: { host: one.host } }))
  await eventually('one gets it', () => total(one.metrics) === 4)
  file.replace(config({ backendRef: { host: two.host }, protocol: 'HTTP' }))
  await eventually('two gets it', () => total(two.metrics) === 4)
  file.replace(config(null))
  await program.logged(/config 4 active/)
  const told = await metric(program, 'portico_otlp_exported_records_total')
  assert.ok(told > 0)
})

test('a collector that is away costs points and no counts', async (t) => {
  const answer = (number: number) => (number === 1 ? { code: 3, details: 'not this' } : null)
  const collector = await useGrpcCollector(t, answer)
  const { program } = await start(t, config({ backendRef: { host: collector.host } }))
  await ask(program, 6)
  await program.logged(/otlp.*telemetry is not exported .*not this/)
  await eventually('the next has it all', () => total(collector.metrics) === 6)
  await eventually('drops are counted', async () => (await metric(program, 'portico_otlp_dropped_records_total')) > 0)
})

test('a collector that hangs does not keep the gateway from ending', async (t) => {
  const silent = await useTcpServer(t, () => {})
  const { program } = await start(t, config({ backendRef: { host: silent.host }, interval: '1h' }))
  await ask(program, 1)
  program.child.kill('SIGTERM')
  const { code } = await program.ended
  assert.equal(code, 0)
  assert.match(program.stdout(), /telemetry is not exported .*cause="the gateway ends"/)
})

test('the standard variables name a collector too', async (t) => {
  const collector = await useHttpCollector(t)
  const env = {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `http://${collector.host}/in/metrics`,
    OTEL_METRIC_EXPORT_INTERVAL: '1000',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=k',
  }
  const { program } = await start(t, httpConfig(routes), env)
  await ask(program, 3)
  await eventually('all are pushed', () => total(collector.metrics) === 3)
  const asked = collector.asked.at(-1)
  assert.deepEqual([asked?.['url'], asked?.['x-key']], ['/in/metrics', 'k'])
})

test('mistakes are found at load', () => {
  const load = (otlp: object) =>
    loadConfig(JSON.stringify({ frontend: { metrics: { otlp } }, binds: [] }), { file: 'a.yaml', dir: '.', env: {} })
  const problems = (otlp: object): string => {
    const loaded = load(otlp)
    return loaded.ok ? checkCompile(loaded.ir).map(loaded.explain).join() : loaded.problems.map(printProblem).join()
  }
  const backendRef = { host: '127.0.0.1:4317' }
  assert.match(problems({}), /backendRef/)
  assert.match(problems({ backendRef, interval: '10ms' }), /interval.*at least 1s/)
  assert.match(problems({ backendRef, interval: '2h' }), /interval.*at most 1h/)
})
