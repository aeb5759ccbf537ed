import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { CelError, Double, Uint } from '@portico/cel'
import * as fc from 'fast-check'
import { loadConfig } from '../../../sources/file.ts'
import { printProblem } from '../../../sources/print-problems.ts'
import { families } from '../../../telemetry/metrics/families.ts'
import { exchangeRaw, request } from '../../../testing/client.ts'
import { eventually, metric, useConfigFile, useProgram } from '../../../testing/process.ts'
import { httpConfig, pathPrefix, useGateway, useTcpServer } from '../../../testing/scene.ts'
import { labelValue } from './labels.ts'
import { ownLabels } from './schema.ts'
import { anyCharacter } from '../../../../../http/src/testing/any-character.ts'

const hello = { name: 'hello', ...pathPrefix('/hello'), policies: { directResponse: { status: 200, body: 'hello' } } }

const add = (labels: Record<string, string>) => ({
  metrics: { attributes: { add: Object.entries(labels).map(([name, expression]) => ({ name, expression })) } },
})
const team = add({ team: 'request.headers["x-team"]' })

test('the schema knows the labels that metrics have', () => {
  const { requests_total: requests, gen_ai_client_token_usage: tokens } = families
  for (const label of [...requests.labels, ...tokens.labels]) assert.ok(ownLabels.includes(label), label)
})

test('labels are computed at the end of each request, also of one without a route', async (t) => {
  const labels = { team: 'request.headers["x-team"]', ok: 'response.code < 400', n: 'size(request.path)' }
  const gateway = await useGateway(t, httpConfig([hello], { frontend: add(labels) }))
  await request(gateway.port(), { path: '/hello', headers: { 'x-team': 'a' } })
  await request(gateway.port(), { path: '/hello', headers: { 'x-team': 'a' } })
  await request(gateway.port(), { path: '/nowhere' })
  await gateway.finished(3)
  assert.deepEqual(customLabels(gateway.metrics(), 'portico_requests_total'), [
    'team="a",ok="true",n="6" 2',
    'team="unknown",ok="false",n="8" 1',
  ])
  for (const name of ['portico_request_duration_seconds_count', 'portico_response_bytes_total']) {
    assert.equal(customLabels(gateway.metrics(), name).length, 2, name)
  }
  checkByPromtool(gateway.metrics())
})

test('a label whose expression fails or gives no scalar is unknown', async (t) => {
  const labels = {
    a: 'jwt.sub',
    b: '[1]',
    c: '{"a": 1}',
    d: 'null',
    e: '""',
    f: 'b"x"',
    g: 'request.startTime',
    h: '1.5',
  }
  const gateway = await useGateway(t, httpConfig([hello], { frontend: add(labels) }))
  await request(gateway.port(), { path: '/hello' })
  await gateway.finished(1)
  const unknown = 'abcdefg'.split('').map((name) => `${name}="unknown"`)
  assert.deepEqual(customLabels(gateway.metrics(), 'portico_requests_total'), [`${unknown.join()},h="1.5" 1`])
})

test('connections without HTTP have the labels too', async (t) => {
  const backend = await useTcpServer(t, (socket) => socket.end('bye'))
  const listener = { protocol: 'TCP', routes: [{ backends: [{ host: backend.host }] }] }
  const labels = { client: 'source.address', path: 'request.path' }
  const gateway = await useGateway(t, { frontend: add(labels), binds: [{ port: 0, listeners: [listener] }] })
  await exchangeRaw(gateway.port(), 'x', () => false)
  await gateway.finished(1)
  assert.deepEqual(customLabels(gateway.metrics(), 'portico_request_duration_seconds_count'), [
    'client="127.0.0.1",path="unknown" 1',
  ])
})

test('a client that chooses the values finds an end', async (t) => {
  const gateway = await useGateway(t, httpConfig([hello], { frontend: add({ path: 'request.path' }) }))
  const total = 1_100
  for (let i = 0; i < total; i++) await request(gateway.port(), { path: `/hello/${i}` })
  await gateway.finished(total)
  const counted = customLabels(gateway.metrics(), 'portico_requests_total')
  assert.equal(counted.length, 1_001)
  assert.ok(counted.includes(`path="other" ${total - 1_000}`))
  assert.deepEqual(gateway.bugs, ['too many values of path'])
})

test('a reload changes the labels, and what was counted before stays as it was', async (t) => {
  const config = (frontend: object) => JSON.stringify(httpConfig([hello], { frontend }))
  const gateway = await useGateway(t, httpConfig([hello]))
  const steps = [{}, team, add({ squad: '"s"' }), add({ team: '"fixed"' }), team, {}]
  for (const [index, frontend] of steps.entries()) {
    await gateway.reload(config(frontend))
    await request(gateway.port(), { path: '/hello', headers: { 'x-team': 'a' } })
    await gateway.finished(index + 1)
  }
  assert.deepEqual(customLabels(gateway.metrics(), 'portico_requests_total'), [
    ' 2',
    'team="a" 2',
    'squad="s" 1',
    'team="fixed" 1',
  ])
  checkByPromtool(gateway.metrics())
})

test('mistakes are found at load', () => {
  const problems = (metrics: object): string => {
    const loaded = loadConfig(JSON.stringify({ frontend: { metrics } }), { file: 'a.yaml', dir: '.', env: {} })
    return loaded.ok ? '' : loaded.problems.map(printProblem).join('\n')
  }
  const named = (...names: unknown[]) =>
    problems({ attributes: { add: names.map((name) => ({ name, expression: '1' })) } })
  assert.equal(named('team', '_x', 'A1_', '_1'), '')
  for (const name of ['1a', 'a-b', '__a', 'é', 'a.b', '_', 'a b']) assert.match(named(name), /expected a label/, name)
  for (const name of ['status', 'route', 'le']) assert.match(named(name), /have this label already/, name)
  assert.match(named('a', 'a'), /a second time/)
  assert.match(named(), /1 to 16/)
  assert.match(named(...Array.from({ length: 17 }, (_, i) => `l${i}`)), /1 to 16/)
  assert.match(problems({}), /`attributes`.*`otlp`/)
  assert.match(problems({ attributes: {} }), /`add` is missing/)
})

test('every value is one that scrapers can tell apart', () => {
  assert.equal(labelValue(new CelError('failed', 'no')), 'unknown')
  assert.equal(labelValue(new Uint(7n)), '7')
  assert.equal(labelValue(12345678901234567890n), '12345678901234567890')
  assert.match(labelValue(new Double(2)), /^2(\.0)?$/)
  assert.equal(labelValue('x'.repeat(1000)), `${'x'.repeat(128)}…`)
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const value = labelValue(text)
      assert.ok(value.isWellFormed() && value !== '' && value.length <= 130)
      assert.doesNotMatch(value, /[\0-\x1f\x7f-\x9f]/)
    }),
    { seed: 21, numRuns: 500 },
  )
})

test('the labels of all workers are summed, over a reload too', async (t) => {
  const config = (frontend: object) => ({ config: { workers: 2 }, ...httpConfig([hello], { frontend }) })
  const configFile = useConfigFile(t, config(team))
  const program = await useProgram(t, { args: ['-f', configFile.file] })
  const send = (name: string) => request(program.port(), { path: '/hello', headers: { 'x-team': name } })
  for (let i = 0; i < 8; i++) await send(i % 2 === 0 ? 'a' : 'b')
  const scrape = async () =>
    customLabels(await (await fetch(`${program.stats}/metrics`)).text(), 'portico_requests_total')
  await eventually('all are counted', async () => (await metric(program, 'portico_requests_total')) === 8)
  assert.deepEqual((await scrape()).toSorted(), ['team="a" 4', 'team="b" 4'])
  configFile.replace(config(add({ squad: 'request.headers["x-team"]' })))
  await program.logged(/config 2 active/)
  await send('c')
  await eventually('the new label is there', async () => (await scrape()).includes('squad="c" 1'))
  assert.deepEqual((await scrape()).toSorted(), ['squad="c" 1', 'team="a" 4', 'team="b" 4'])
  checkByPromtool(await (await fetch(`${program.stats}/metrics`)).text())
})

/** The labels after those that every series of the family has, with the value. */
function customLabels(text: string, name: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))
    .map((line) => /route="[^"]*",?(.*)\}( \d+)$/.exec(line)!)
    .map(([, labels, value]) => `${labels}${value}`)
}

function checkByPromtool(input: string): void {
  const result = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' })
  // Not every machine has it.
  if (result.error === undefined) assert.equal(result.status, 0, result.stdout + result.stderr)
}
