import assert from 'node:assert/strict'
import { it } from 'node:test'
import { request } from '../../packages/gateway/src/testing/client.ts'
import { useGrpcCollector } from '../../packages/gateway/src/testing/otlp/otlp-collector.ts'
import { eventually, useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'
import { httpConfig } from '../../packages/gateway/src/testing/scene.ts'
import { usePrometheus, withoutPrometheus } from './servers.ts'

interface Target {
  health: string
  lastError: string
}

interface ExemplarSeries {
  exemplars: { labels: { trace_id: string }; value: string }[]
}

it('a real Prometheus reads the metrics, and finds the traces behind them', { skip: withoutPrometheus }, async (t) => {
  const collector = await useGrpcCollector(t)
  const tracing = { backendRef: { host: collector.host }, randomSampling: true }
  const routes = [{ policies: { directResponse: { status: 200, body: 'x' } } }]
  const config = { config: { workers: 2 }, ...httpConfig(routes, { frontend: { tracing } }) }
  const program = await useProgram(t, { args: ['-f', useConfigFile(t, config).file] })
  for (let asked = 0; asked < 20; asked++) assert.equal((await request(program.port())).status, 200)

  const prometheus = await usePrometheus(t, [new URL(program.stats).host])
  const ask = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`http://${prometheus.host}/api/v1/${path}`)
    return answer.status === 200 ? ((await answer.json()) as { data: T }).data : assert.fail(await answer.text())
  }

  const scraped = async (): Promise<Target | undefined> =>
    (await ask<{ activeTargets: Target[] }>('targets')).activeTargets[0]
  await eventually('a scrape', async () => {
    const found = await scraped()
    return found !== undefined && found.health !== 'unknown'
  })
  const target = await scraped()
  assert.deepEqual([target?.lastError, target?.health], ['', 'up'])

  const range = `start=${Math.floor(Date.now() / 1000) - 3600}&end=${Math.ceil(Date.now() / 1000) + 3600}`
  const query = 'query=portico_request_duration_seconds_bucket'
  const series = async (): Promise<ExemplarSeries[]> => ask<ExemplarSeries[]>(`query_exemplars?${query}&${range}`)
  await eventually('exemplars', async () => (await series()).length > 0)
  await collector.taken(20)
  const traces = new Set(collector.spans.map(({ traceId }) => traceId))
  for (const { exemplars } of await series()) {
    for (const { labels } of exemplars) assert.ok(traces.has(labels.trace_id), labels.trace_id)
  }
  const counted = await ask<{ result: { value: [number, string] }[] }>('query?query=sum(portico_requests_total)')
  assert.equal(counted.result[0]?.value[1], '20')
})
