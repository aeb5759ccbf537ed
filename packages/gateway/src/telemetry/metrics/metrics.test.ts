import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import { exposedName, families, type FamilyName } from './families.ts'
import { Collector } from './metrics-collect.ts'
import { createRegion, Registry, type SeriesDefinition } from './metrics.ts'
import { provideProcessMetrics, watchEventLoop } from './runtime-metrics.ts'

test('the sum over all threads, living and gone, is what was recorded', () => {
  const threads = ['0', '1', '2']
  const step = fc.record({
    thread: fc.constantFrom(...threads),
    label: fc.constantFrom('a', 'b', 'with "quotes" \\ and\nlines', ''),
    act: fc.constantFrom('count', 'observe', 'gauge', 'restart'),
    amount: fc.integer({ min: 0, max: 100 }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const collector = new Collector()
      const registries = new Map(threads.map((thread) => [thread, join(collector, thread)]))
      const counted = new Map<string, number>()
      const observed = new Map<string, number[]>()
      const gauged = new Map<string, Map<string, number>>(threads.map((thread) => [thread, new Map()]))
      for (const { thread, label, act, amount } of steps) {
        const registry = registries.get(thread)!
        if (act === 'count') {
          registry.counter('config_reloads_total', [label]).inc(amount)
          counted.set(label, (counted.get(label) ?? 0) + amount)
        } else if (act === 'observe') {
          registry.histogram('upstream_connect_duration_seconds', [label]).observe(amount / 10)
          observed.set(label, [...(observed.get(label) ?? []), amount / 10])
        } else if (act === 'gauge') {
          registry.gauge('upstream_connections_active', [label]).add(amount)
          const own = gauged.get(thread)!
          own.set(label, (own.get(label) ?? 0) + amount)
        } else {
          collector.retire(thread)
          registries.set(thread, join(collector, thread))
          gauged.set(thread, new Map())
        }
      }
      const samples = scrape(collector)
      for (const [label, total] of counted) {
        assert.equal(samples.get(sampleKey('portico_config_reloads_total', { result: label })), total)
      }
      for (const [label, values] of observed) checkHistogram(samples, label, values)
      for (const label of new Set([...gauged.values()].flatMap((own) => [...own.keys()]))) {
        const total = [...gauged.values()].reduce((sum, own) => sum + (own.get(label) ?? 0), 0)
        assert.equal(samples.get(sampleKey('portico_upstream_connections_active', { transport: label })), total)
      }
    }),
    { seed: 8, numRuns: 100 },
  )
})

test('a value on the bound of a bucket belongs to it', () => {
  const collector = new Collector()
  const histogram = join(collector, '0').histogram('upstream_connect_duration_seconds', ['tls'])
  for (const bound of families.upstream_connect_duration_seconds.buckets) histogram.observe(bound)
  histogram.observe(1000)
  checkHistogram(scrape(collector), 'tls', [...families.upstream_connect_duration_seconds.buckets, 1000])
})

test('gauges of a thread that is gone are no longer shown', () => {
  const collector = new Collector()
  join(collector, '0').gauge('event_loop_lag_seconds', ['0', 'max']).set(5)
  collector.retire('0')
  assert.equal(scrape(collector).size, 0)
})

test('series beyond the bound share one that says overflow, and are counted', () => {
  const collector = new Collector()
  const registry = join(collector, '0', { maxSeries: 3 })
  for (let i = 0; i < 10; i += 1) registry.counter('config_reloads_total', [`r${i}`]).inc()
  registry.counter('config_reloads_total', ['r1']).inc()
  const samples = scrape(collector)
  assert.equal(samples.get(sampleKey('portico_config_reloads_total', { result: 'r1' })), 2)
  assert.equal(samples.get(sampleKey('portico_config_reloads_total', { result: 'overflow' })), 7)
  assert.equal(samples.get('portico_metrics_overflow_total{}'), 7)
})

test('a full region never writes outside, and every family still has its overflow', () => {
  const collector = new Collector()
  const registry = join(collector, '0', { region: createRegion(2048) })
  for (let i = 0; i < 500; i += 1) {
    registry.histogram('upstream_call_duration_seconds', ['Primary', `s${i}`]).observe(1)
    registry.histogram('tls_handshake_duration_seconds', ['b', 'g', `l${i}`, 'https']).observe(1)
    registry.counter('config_reloads_total', [`r${i}`]).inc()
  }
  const samples = scrape(collector)
  for (const name of [
    'upstream_call_duration_seconds_count',
    'tls_handshake_duration_seconds_count',
    'config_reloads_total',
  ]) {
    const total = [...samples]
      .filter(([key]) => key.startsWith(`portico_${name}{`))
      .reduce((sum, [, value]) => sum + value, 0)
    assert.equal(total, 500, name)
  }
})

test('a series is announced once', () => {
  const announced: SeriesDefinition[] = []
  const registry = new Registry({ region: createRegion(), announce: (definition) => announced.push(definition) })
  const first = registry.slot('config_reloads_total', ['ok'])
  assert.equal(registry.slot('config_reloads_total', ['ok']), first)
  assert.deepEqual(announced, [{ name: 'config_reloads_total', labels: ['ok'], custom: null, slot: first }])
})

test('the main thread sees the records of a worker without a message', async () => {
  const collector = new Collector()
  const region = createRegion()
  collector.attach('w', region)
  const metricsUrl = new URL('metrics.ts', import.meta.url).href
  const program = `
    import { parentPort, workerData } from 'node:worker_threads'
    import { Registry } from ${JSON.stringify(metricsUrl)}
    const registry = new Registry({ region: workerData, announce: (definition) => parentPort.postMessage(definition) })
    const counter = registry.counter('worker_restarts_total', [])
    parentPort.on('message', (by) => {
      counter.inc(by)
      parentPort.postMessage('done')
    })`
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), { workerData: region })
  const [definition] = (await once(worker, 'message')) as [SeriesDefinition]
  collector.define('w', definition)
  worker.postMessage(41)
  await once(worker, 'message')
  assert.equal(scrape(collector).get('portico_worker_restarts_total{}'), 41)
  await worker.terminate()
  collector.retire('w')
  assert.equal(scrape(collector).get('portico_worker_restarts_total{}'), 41)
})

test('the text has help and type once before the samples of each family', () => {
  const text = [...everything().render()].join('')
  for (const name of Object.keys(families) as FamilyName[]) {
    const shown = exposedName(name)
    assert.equal(text.split(`# HELP ${shown} `).length, 2, shown)
    assert.equal(text.split(`# TYPE ${shown} ${families[name].type}\n`).length, 2, shown)
    assert.equal(shown.endsWith('_total'), families[name].type === 'counter', shown)
  }
  parse(text)
})

test('promtool finds nothing to say about the text', (t) => {
  const input = [...everything().render()].join('')
  const result = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
  if (result.error !== undefined) return t.skip(`promtool is not installed: ${result.error.message}`)
  assert.equal(result.status, 0, result.stdout + result.stderr)
})

test('the lag of a blocked event loop is measured', async (t) => {
  const collector = new Collector()
  t.after(watchEventLoop(join(collector, '0'), '0', 50))
  const max = () => scrape(collector).get(sampleKey('portico_event_loop_lag_seconds', { thread: '0', stat: 'max' }))!
  // A reading lasts until the next one, so a busy machine may need a second try to see it.
  for (let tries = 0; tries < 20 && (max() < 0.1 || max() > 5); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 45))
    const end = Date.now() + 150
    while (Date.now() < end);
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.ok(max() >= 0.1 && max() < 5, String(max()))
})

function join(
  collector: Collector,
  thread: string,
  options: { maxSeries?: number; region?: SharedArrayBuffer } = {},
): Registry {
  const { region = createRegion(65_536), ...rest } = options
  collector.attach(thread, region)
  return new Registry({
    region,
    announce: (definition) => collector.define(thread, structuredClone(definition)),
    ...rest,
  })
}

/** One series of every family, with labels that need escaping. */
function everything(): Collector {
  const collector = new Collector()
  provideProcessMetrics(collector, '1.2.3')
  const registry = join(collector, '0')
  for (const name of Object.keys(families) as FamilyName[]) {
    if (name.startsWith('process_') || name === 'build_info') continue
    const labels = families[name].labels.map((label) => `${label} "x" \\ \n é`)
    registry.values[registry.slot(name, labels as never)]! += 1
  }
  return collector
}

function checkHistogram(samples: Map<string, number>, transport: string, values: readonly number[]): void {
  const name = 'portico_upstream_connect_duration_seconds'
  for (const bound of families.upstream_connect_duration_seconds.buckets) {
    const below = values.filter((value) => value <= bound).length
    assert.equal(samples.get(sampleKey(`${name}_bucket`, { transport, le: String(bound) })), below, `le ${bound}`)
  }
  assert.equal(samples.get(sampleKey(`${name}_bucket`, { transport, le: '+Inf' })), values.length)
  assert.equal(samples.get(sampleKey(`${name}_count`, { transport })), values.length)
  const sum = samples.get(sampleKey(`${name}_sum`, { transport }))!
  assert.ok(Math.abs(sum - values.reduce((total, value) => total + value, 0)) < 1e-6)
}

function scrape(collector: Collector): Map<string, number> {
  return parse([...collector.render()].join(''))
}

/** The text format, read strictly enough to notice a missing escape. */
function parse(text: string): Map<string, number> {
  const samples = new Map<string, number>()
  assert.ok(text === '' || text.endsWith('\n'))
  for (const line of text.split('\n').slice(0, -1)) {
    if (/^# (HELP [a-z_]+ .+|TYPE [a-z_]+ (counter|gauge|histogram))$/.test(line)) continue
    const [whole, name, labelText = '', value] =
      /^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\["\\n])*",?)+)\})? ([-+0-9.e]+)$/.exec(line) ?? []
    assert.ok(whole !== undefined, `not a sample: ${line}`)
    const labels = [...labelText.matchAll(/([a-z_]+)="((?:[^"\\]|\\["\\n])*)"/g)].map(([, label, escaped]) => {
      const plain = escaped!.replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))
      return [label!, plain] as const
    })
    const key = sampleKey(name!, Object.fromEntries(labels))
    assert.ok(!samples.has(key), `twice: ${line}`)
    samples.set(key, Number(value))
  }
  return samples
}

function sampleKey(name: string, labels: Record<string, string>): string {
  const entries = Object.entries(labels)
  return (
    name +
    (entries.length === 0 ? '{}' : JSON.stringify(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))).replace('[', '{'))
  )
}
