import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { DATA, END_HEADERS, END_STREAM, FrameClient } from '../../../../../http/src/testing/frame-client.ts'
import { loadConfig } from '../../../sources/file.ts'
import { printProblem } from '../../../sources/print-problems.ts'
import { lineFields } from '../../../telemetry/log/access-log.ts'
import { exchangeRaw, request, sendRaw } from '../../../testing/client.ts'
import type { TestGateway, TestGatewayOptions } from '../../../testing/gateway.ts'
import { eventually, metric, useConfigFile, useProgram } from '../../../testing/process.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'
import { defaultFields } from '../../../schema/fields/line-fields.ts'

const answer = (status: number, path: string) => ({
  ...pathPrefix(path),
  policies: { directResponse: { status, body: 'x' } },
})
const routes = [answer(200, '/good'), answer(404, '/missing'), answer(503, '/bad')]

const add = (fields: Record<string, string>) => ({
  attributes: { add: Object.entries(fields).map(([name, expression]) => ({ name, expression })) },
})

test('the schema names the fields that lines have', () => {
  assert.deepEqual([...defaultFields], lineFields)
})

test('only what makes the filter true is logged', async (t) => {
  const gateway = await start(t, { filter: 'response.code >= 400' })
  for (const path of ['/good', '/missing', '/bad', '/good']) await request(gateway.port(), { path })
  await gateway.finished(4)
  assert.deepEqual(gateway.lines.map(pathOf), ['/missing', '/bad'])
})

test('a filter that fails, or gives no truth value, logs nothing', async (t) => {
  for (const filter of ['request.headers["x-no"] == "1"', 'response.code / (response.code - 200) > 0', 'dyn(1)']) {
    const gateway = await start(t, { filter })
    await request(gateway.port(), { path: '/good' })
    await gateway.finished(1)
    assert.deepEqual(gateway.lines, [], filter)
  }
})

test('a filter alone leaves lines as they are', async (t) => {
  const plain = await start(t, undefined)
  const filtered = await start(t, { filter: 'true' })
  for (const gateway of [plain, filtered]) {
    await request(gateway.port(), { path: '/good' })
    await gateway.finished(1)
  }
  const [one, two] = [plain, filtered].map(({ lines }) =>
    lines[0]!
      .replace(/^\S+/, '')
      .replace(/src\.addr=\S+/, '')
      .replace(/duration=\S+/, ''),
  )
  assert.equal(one, two)
})

test('added fields see the whole request and come last, in order', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => response.writeHead(201, { 'x-cost': '7' }).end('made'))
  const config = httpConfig([routeTo(origin, {}, { name: 'api' })], {
    frontend: {
      accessLog: add({
        user: 'request.headers["x-user"]',
        cost: 'int(response.headers["x-cost"]) + 1',
        slow: 'response.code == 201',
        route: 'proxy.route.name + "!"',
        to: 'backend.name',
        half: '0.5',
        teams: '["a", "b c"]',
        where: '{"ip": source.address}',
      }),
    },
  })
  for (const logFormat of ['text', 'json'] as const) {
    const gateway = await useGateway(t, config, { logFormat })
    await request(gateway.port(), { path: '/x', headers: { 'x-user': 'ann "the" boss' } })
    await gateway.finished(1)
    const [line = ''] = gateway.lines
    if (logFormat === 'text') {
      assert.match(line, / http\.status=201 .* duration=\d+ms user="ann \\"the\\" boss" cost=8 slow=true route=api! /)
      const ending = ` to=${origin.host} half=0.5 teams="[\\"a\\",\\"b c\\"]" where="{\\"ip\\":\\"127.0.0.1\\"}"\n`
      assert.ok(line.endsWith(ending), line)
      assert.equal(line.split(' route=').length, 2, 'the added field replaces the one of the line')
    } else {
      const { user, cost, slow, route, half, teams, where } = JSON.parse(line)
      assert.deepEqual(
        { user, cost, slow, route, half, teams, where },
        {
          user: 'ann "the" boss',
          cost: 8,
          slow: true,
          route: 'api!',
          half: 0.5,
          teams: ['a', 'b c'],
          where: { ip: '127.0.0.1' },
        },
      )
    }
  }
})

test('a field whose expression fails or gives null is left out, and replaces nevertheless', async (t) => {
  const gateway = await start(t, add({ a: 'request.headers["x-no"]', b: 'null', 'http.path': 'jwt.sub', c: '"here"' }))
  await request(gateway.port(), { path: '/good' })
  await gateway.finished(1)
  assert.match(gateway.lines[0]!, / duration=\d+ms c=here\n$/)
  assert.doesNotMatch(gateway.lines[0]!, /http\.path| a=| b=/)
})

test('removed fields are gone', async (t) => {
  const gateway = await start(t, { attributes: { remove: ['http.method', 'src.addr', 'gateway', 'duration'] } })
  await request(gateway.port(), { path: '/good' })
  await gateway.finished(1)
  assert.doesNotMatch(gateway.lines[0]!, /http\.method|src\.addr|gateway|duration/)
  assert.match(gateway.lines[0]!, /\trequest listener=\S+ route=\S+ http\.host=test\.example http\.path=\/good /)
})

test('a flattened mapping becomes fields of their own', async (t) => {
  const expressions = {
    h: 'flatten({"a": 1, "b": {"c": 2}, "d": null})',
    r: 'flattenRecursive({"a": {"b": [true, "x"]}})',
    http: 'flatten({"path": "mine"})',
  }
  const gateway = await start(t, add(expressions), { logFormat: 'json' })
  await request(gateway.port(), { path: '/good' })
  await gateway.finished(1)
  const fields = JSON.parse(gateway.lines[0]!) as Record<string, unknown>
  assert.deepEqual([fields['h.a'], fields['h.b'], fields['h.d']], [1, { c: 2 }, undefined])
  assert.deepEqual([fields['r.a.b.0'], fields['r.a.b.1']], [true, 'x'])
  assert.equal(fields['http.path'], 'mine')
  assert.equal(gateway.lines[0]!.split('"http.path"').length, 2)
  assert.equal(fields['h'], undefined)
})

test('headers can be flattened as they came', async (t) => {
  const gateway = await start(t, add({ h: 'flatten(request.headers)' }))
  await request(gateway.port(), { path: '/good', headers: { 'X-One': '1 2', 'x-two': '2' } })
  await gateway.finished(1)
  assert.match(gateway.lines[0]!, / h\.x-one="1 2" h\.x-two=2/)
})

test('no client can forge a field of the log line', async (t) => {
  const gateway = await start(t, add({ user: 'request.headers["x-user"]' }))
  await request(gateway.port(), { path: '/good', headers: { 'x-user': 'a" http.status=500 \u00e9\t' } })
  await request(gateway.port(), { path: '/good', headers: { 'x-user': 'y'.repeat(7000) } })
  await gateway.finished(2)
  assert.match(gateway.lines[0]!, / http\.status=200 .* user="a\\" http\.status=500 [^"]+"\n$/)
  assert.ok(gateway.lines[1]!.length < 4600, 'long values are cut')
})

test('a line knows who was authenticated, and never shows with what', async (t) => {
  const authenticated = {
    apiKeyAuthentication: {
      location: { queryParameter: { name: 'key' } },
      secretRef: { data: { ann: { key: 'k-3f9a0c51d2', metadata: { group: 'staff' } } } },
    },
    directResponse: { status: 200, body: 'x' },
  }
  const frontend = {
    accessLog: add({ group: 'apiKey.group', all: 'flatten(request.headers)', q: 'request.pathAndQuery' }),
  }
  const gateway = await useGateway(t, httpConfig([{ policies: authenticated }], { frontend }))
  await request(gateway.port(), { path: '/a?key=k-3f9a0c51d2&b=1' })
  await request(gateway.port(), { path: '/a?key=k-1234567890' })
  await gateway.finished(2)
  assert.match(gateway.lines[0]!, / http\.path=\/a\?key=<redacted>&b=1 .* group=staff .* q=\/a\?b=1\n$/)
  assert.doesNotMatch(gateway.lines[0]!, /k-3f9a0c51d2/)
  assert.match(gateway.lines[1]!, / http\.path=\/a\?key=<redacted> .* http\.status=401 /)
  assert.doesNotMatch(gateway.lines[1]!, / group=/)
})

test('TCP connections have a source, a place and a backend; a filter over requests leaves them out', async (t) => {
  const echo = await useTcpServer(t, (socket) => socket.end('bye'))
  const config = (accessLog: object) => ({
    frontend: { accessLog },
    binds: [{ port: 0, listeners: [{ protocol: 'TCP', name: 'db', routes: [{ backends: [{ host: echo.host }] }] }] }],
  })
  const fields = add({
    client: 'source.address',
    place: 'proxy.listener.name',
    to: 'backend.name',
    kind: 'backend.protocol',
    path: 'default(request.path, "none")',
  })
  const gateway = await useGateway(t, config(fields))
  await exchangeRaw(gateway.port(), 'x', () => false)
  await gateway.finished(1)
  assert.match(gateway.lines[0]!, / protocol=tcp .* client=127\.0\.0\.1 place=db to=\S+ kind=tcp/)
  const filtered = await useGateway(t, config({ filter: 'response.code < 600' }))
  await exchangeRaw(filtered.port(), 'x', () => false)
  await filtered.finished(1)
  assert.deepEqual(filtered.lines, [])
})

test('messages that are no requests have a source and a status', async (t) => {
  const gateway = await start(t, {
    filter: 'response.code == 400',
    ...add({ client: 'source.address', m: 'request.method' }),
  })
  await sendRaw(gateway.port(), 'GET / HTTP/1.1\r\nhost : a\r\n\r\n')
  await gateway.finished(1)
  assert.match(
    gateway.lines[0]!,
    / http\.status=400 .* error="space_before_colon" reason=InvalidRequest .* client=127\.0\.0\.1\n$/,
  )
})

test('heads that are none of HTTP/2 have a line, though nobody answers them', async (t) => {
  const gateway = await start(t, undefined)
  const client = await FrameClient.open(gateway.port())
  t.after(() => client.destroy())
  const head = (...more: [string, string][]): [string, string][] => [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':authority', 'a.test'],
    [':path', '/good'],
    ...more,
  ]
  client.headers(1, head(['connection', 'close']))
  client.headers(3, head(...Array.from({ length: 300 }, (): [string, string] => ['x', '1'])))
  assert.deepEqual([await client.outcome(1), await client.outcome(3)], ['reset 1', 'reset 11'])
  await gateway.finished(2)
  for (const [index, code] of ['malformed_head', 'too_many_headers'].entries()) {
    const line = gateway.lines[index] ?? ''
    assert.match(line, new RegExp(` src\\.addr=127\\.0\\.0\\.1:\\d+ .* error="${code}" reason=InvalidRequest `))
    assert.doesNotMatch(line, /http\.status/)
  }
  assert.deepEqual(gateway.refusals, ['malformed_head', 'too_many_headers'])
})

test('a request of HTTP/2 whose body is not as long as it said has a line that says so', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const client = await FrameClient.open(gateway.port())
  t.after(() => client.destroy())
  const fields: [string, string][] = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':authority', 'a.test'],
    [':path', '/'],
    ['content-length', '5'],
  ]
  client.headers(1, fields, END_HEADERS)
  client.send(DATA, END_STREAM, 1, Buffer.from('abc'))
  assert.equal(await client.outcome(1), 'reset 1')
  await gateway.finished(1)
  assert.match(gateway.lines[0] ?? '', / error="request body is not as long as announced" reason=ClientGone /)
})

test('a reload changes lines from the next request on', async (t) => {
  const config = (accessLog: object | undefined) =>
    httpConfig(routes, accessLog === undefined ? {} : { frontend: { accessLog } })
  const gateway = await useGateway(t, config(undefined))
  for (const log of [add({ v: '1' }), add({ v: '2' }), { filter: 'false' }, undefined]) {
    await gateway.reload(JSON.stringify(config(log)))
    await request(gateway.port(), { path: '/good' })
  }
  await gateway.finished(4)
  assert.deepEqual(
    gateway.lines.map((line) => /( v=\d)?\n$/.exec(line)![0].trim()),
    ['v=1', 'v=2', ''],
  )
})

test('mistakes are found at load', () => {
  const problems = (accessLog: object): string => {
    const loaded = loadConfig(JSON.stringify({ frontend: { accessLog } }), { file: 'a.yaml', dir: '.', env: {} })
    return loaded.ok ? '' : loaded.problems.map(printProblem).join('\n')
  }
  assert.equal(problems({}), '')
  assert.equal(
    problems({ filter: 'true', attributes: { remove: ['http.method'], add: [{ name: 'a', expression: '1' }] } }),
    '',
  )
  assert.match(problems({ attributes: { remove: ['http.methd'] } }), /did you mean `http\.method`/)
  assert.match(problems({ attributes: { remove: [] } }), /1 to 32/)
  assert.match(problems({ attributes: { add: [{ name: 'time', expression: '1' }] } }), /other than/)
  assert.match(problems({ attributes: { add: [{ name: '', expression: '1' }] } }), /1 to 256/)
  const twice = [
    { name: 'a', expression: '1' },
    { name: 'a', expression: '2' },
  ]
  assert.match(problems({ attributes: { add: twice } }), /found "a" a second time/)
  assert.match(problems({ filter: 'request.body == b""' }), /body/)
  assert.match(problems({ filter: 'respons.code == 200' }), /did you mean.*response/)
})

test('workers write edited lines in the format of the process', async (t) => {
  const config = {
    config: { workers: 2, logging: { format: 'json' } },
    ...httpConfig(routes, {
      frontend: { accessLog: { filter: 'response.code >= 500', ...add({ why: '"it is " + request.path' }) } },
    }),
  }
  const program = await useProgram(t, { args: ['-f', useConfigFile(t, config).file] })
  for (const path of ['/good', '/bad', '/missing']) await request(program.port(), { path })
  await program.logged(/"why":"it is \/bad"\}\n/)
  assert.doesNotMatch(program.stdout(), /\/missing|\/good/)
  // A request is counted at its end, which may follow the end of the response.
  const areCounted = async () => (await metric(program, 'portico_requests_total')) === 3
  await eventually('the requests that are not logged are counted', areCounted)
})

async function start(
  t: TestContext,
  accessLog: object | undefined,
  options?: TestGatewayOptions,
): Promise<TestGateway> {
  const frontend = accessLog === undefined ? {} : { accessLog }
  const gateway = await useGateway(t, httpConfig(routes, { frontend }), options)
  return gateway
}

function pathOf(line: string): string {
  return / http\.path=(\S+)/.exec(line)![1]!
}
