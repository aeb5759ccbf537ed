import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { chatAnswer, chatRequest, EVENTS, LAST_EVENT, PATHS, streamEvents } from './chat.mjs'
import { parseH2load, parseH2loadLog, parseWrk, percentile } from './load.mjs'
import { parseCoreBusy, parseProcessStat, parseResidentBytes, parseSchedstat } from './measure.mjs'
import { notFound } from './kinds/shared.mjs'
import { readOptions } from './options.mjs'
import { peers } from './peers/index.mjs'
import { portico } from './peers/portico.mjs'
import { freePort, untilAnswers } from './ports.mjs'
import { selfTimes } from './profile.mjs'
import { insertResult } from './results.mjs'
import { groups, scenarios } from './scenarios.mjs'
import { answerTo, INITIALIZED, toolCall } from './tool-call.mjs'
import { addRatios, renderBars, renderTable } from './table.mjs'

const H2LOAD = `starting benchmark...
spawning thread #0: 32 total client(s). 8000 total requests
Application protocol: http/1.1
progress: 100% done

finished in 1.00s, 7980.88 req/s, 1.58MB/s
requests: 8000 total, 8000 started, 8000 done, 8000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 8000 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 1.59MB (1664000) total, 898.44KB (920000) headers (space savings 0.00%), 421.88KB (432000) data
                     min         max         mean         sd        +/- sd
time for request:       49us       918us       270us        83us    71.65%
time for connect:       85us       826us       418us       196us    59.38%
time to 1st byte:      493us      1.35ms       863us       232us    59.38%
req/s           :     249.49      249.66      249.59        0.04    78.13%
`

const WRK = `Running 1s test @ http://127.0.0.1:18181/
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   225.40us  259.04us   3.74ms   93.78%
    Req/Sec   136.60k    40.96k  179.77k    63.64%
  Latency Distribution
     50%  164.00us
     75%  231.00us
     90%  348.00us
     99%    1.46ms
  149118 requests in 1.10s, 29.58MB read
Requests/sec: 135575.13
Transfer/sec:     26.89MB
`

test('the summary of h2load is read', () => {
  assert.deepEqual(parseH2load(H2LOAD), { total: 8000, done: 8000, failed: 0, seconds: 1, rate: 7980.88 })
})

test('failed requests and replies other than 2xx of h2load are counted together', () => {
  const text = H2LOAD.replace(
    '8000 succeeded, 0 failed, 0 errored, 0 timeout\nstatus codes: 8000 2xx, 0 3xx',
    '7990 succeeded, 10 failed, 10 errored, 0 timeout\nstatus codes: 7900 2xx, 90 3xx',
  )
  assert.equal(parseH2load(text)?.failed, 100)
})

test('units of h2load other than seconds are read', () => {
  assert.equal(parseH2load(H2LOAD.replace('in 1.00s', 'in 250.00ms'))?.seconds, 0.25)
})

test('output without a summary returns null', () => {
  assert.equal(parseH2load('starting benchmark...\n'), null)
  assert.equal(parseWrk('unable to connect to 127.0.0.1:1 Connection refused\n'), null)
})

test('request times are read from the log of h2load, ascending, without requests that got no reply', () => {
  const times = parseH2loadLog('1794709956561633\t200\t397\n1794709956561643\t200\t49\n1794709956561649\t-1\t9\n')
  assert.deepEqual([...times], [49, 397])
})

test('percentiles are by nearest rank', () => {
  const sorted = Float64Array.from({ length: 200 }, (_, i) => i + 1)
  assert.deepEqual([percentile(sorted, 50), percentile(sorted, 99), percentile([], 99)], [100, 198, 0])
})

test('the output of wrk is read, times in microseconds', () => {
  const expected = { requests: 149118, seconds: 1.1, rate: 135575.13, failed: 0, p50: 164, p99: 1460 }
  assert.deepEqual(parseWrk(WRK), expected)
})

test('socket errors and refusals of wrk are counted', () => {
  const text = `${WRK}  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 90\n`
  assert.equal(parseWrk(text)?.failed, 100)
})

test('a process name with spaces and brackets does not shift the fields of its stat line', () => {
  const line = '4242 (a) b (c)) S 17 4242 4242 0 -1 4194560 1520 0 0 0 731 269 11 13 20 0 1 0 5317 5668864 1301 0\n'
  assert.deepEqual(parseProcessStat(line), { parent: 17, userTicks: 731, systemTicks: 269 })
})

test('run time of a thread, resident memory and busy ticks of a core are read', () => {
  assert.equal(parseSchedstat('98123456789 2345678 9876\n'), 98123456789)
  assert.equal(parseResidentBytes('Name:\tnginx\nVmPeak:\t   12000 kB\nVmRSS:\t    6144 kB\n'), 6144 * 1024)
  const stat = 'cpu  300 0 300 9000 0 0 30 0 0 0\ncpu0 100 1 200 4500 7 2 20 5 0 0\ncpu1 200 0 100 4500 0 0 10 0 0 0\n'
  assert.equal(parseCoreBusy(stat, 0), 100 + 1 + 200 + 2 + 20 + 5)
  assert.equal(parseCoreBusy(stat, 7), 0)
})

test('the ratio is against the nginx row of the same scenario, and bars are judged by it', () => {
  const title = scenarios[0]?.title ?? ''
  const rows = addRatios([
    { scenario: title, proxy: 'nginx', cpu: 30, notes: [] },
    { scenario: title, proxy: 'portico', cpu: 45, p50: 250, notes: ['load not held'] },
    { scenario: 'another', proxy: 'portico', cpu: 45, notes: [] },
  ])
  assert.deepEqual(
    rows.map((row) => row.ratio),
    [1, 1.5, undefined],
  )
  assert.deepEqual(renderBars([{ title, bars: [{ ratio: 1.6 }] }], rows), [
    `- ${title}: CPU against nginx ≤ 1.6x, 1.50x: met`,
  ])
  const lines = renderTable(rows).split('\n')
  assert.match(lines[3] ?? '', /portico .* 45\.0 .* 1\.50x .* 0\.25 .*load not held/)
  assert.equal(new Set(lines.map((line) => line.length)).size, 1)
})

test('a bar between two rows names both, and how far the rounds lie apart', () => {
  const scenario = { title: 'chat', bars: [{ ratio: 2, of: 'portico, native', to: 'portico, plain' }] }
  const rows = [
    { scenario: 'chat', proxy: 'portico, plain', cpu: 40, cpuByRound: [40, 30, 50], notes: [] },
    { scenario: 'chat', proxy: 'portico, native', cpu: 90, cpuByRound: [90, 60, 100], notes: [] },
  ]
  const line = '- chat: CPU of portico, native against portico, plain ≤ 2x, 2.25x: MISSED (rounds 2.00 to 2.25)'
  assert.deepEqual(renderBars([scenario], rows), [line])
})

test('a bar may compare what two rows take beyond a third', () => {
  const bar = { ratio: 1.3, of: 'portico, picker', to: 'portico, extProc', beyond: 'portico, no call' }
  const rows = Object.entries({ 'no call': 20, extProc: 60, picker: 80 }).map(([name, cpu]) => ({
    ...{ scenario: 'picker', proxy: `portico, ${name}`, cpu, cpuByRound: [cpu, cpu], notes: [] },
  }))
  const line = 'picker: CPU beyond portico, no call of portico, picker against portico, extProc ≤ 1.3x'
  assert.deepEqual(renderBars([{ title: 'picker', bars: [bar] }], rows), [`- ${line}, 1.50x: MISSED`])
  assert.deepEqual(renderBars([{ title: 'picker', bars: [bar] }], rows.slice(1)), [`- ${line}, not measured`])
})

test('a bar may apply at saturation', () => {
  const scenario = { title: 'chat', bars: [{ ratio: 0.1, of: 'portico', to: 'portkey', saturated: true }] }
  const rows = [
    { scenario: 'chat', proxy: 'portico', cpu: 80, saturatedCpu: 50, cpuByRound: [80, 90], notes: [] },
    { scenario: 'chat', proxy: 'portkey', cpu: 600, saturatedCpu: 625, cpuByRound: [600, 600], notes: [] },
  ]
  const line = '- chat: CPU when saturated of portico against portkey ≤ 0.1x, 0.08x: met'
  assert.deepEqual(renderBars([scenario], rows), [line])
})

test('requests and responses of models have the stated sizes, and streams the stated number of events', () => {
  for (const format of Object.keys(PATHS)) {
    for (const stream of [false, true]) {
      const request = chatRequest(format, { stream })
      assert.deepEqual([request.length, JSON.parse(request).stream ?? false], [300, stream])
    }
    const answer = chatAnswer(format)
    assert.deepEqual([answer.length, typeof JSON.parse(answer).usage], [400, 'object'])
    const events = streamEvents(format)
    assert.equal(events.length, EVENTS)
    assert.ok(events.at(-1)?.endsWith(LAST_EVENT[format]))
  }
})

test('a tool call returns its argument', () => {
  const { params, id } = JSON.parse(toolCall(7))
  const { result } = JSON.parse(answerTo({ id, method: 'tools/call', params }))
  assert.deepEqual(result, { content: [{ type: 'text', text: params.arguments.message }] })
  assert.equal(answerTo(JSON.parse(INITIALIZED)), null)
})

test('a bar without numbers is not called met', () => {
  assert.match(renderBars(scenarios.slice(0, 1), [])[0] ?? '', /not measured/)
})

test('a config change has a limit for its time and for the memory after many', () => {
  const [scenario] = scenarios.filter(({ name }) => name === 'reload')
  assert.ok(scenario)
  const row = { scenario: scenario.title, proxy: 'portico, 5,000 routes', effectiveMs: 90, growth: 1.2, notes: [] }
  const lines = renderBars([scenario], [row]).map((line) => line.slice(scenario.title.length + 4))
  assert.deepEqual(lines, [
    'change effective, portico, 1 route ≤ 60 ms, not measured',
    'change effective, portico, 5,000 routes ≤ 150 ms, 90 ms: met',
    'RSS after changes, portico, 5,000 routes ≤ 1.15x, 1.20x: MISSED',
  ])
})

test('a load after a rest is compared with the one before', () => {
  const [scenario] = scenarios.filter(({ name }) => name === 'rest-get')
  assert.ok(scenario)
  const row = { scenario: scenario.title, proxy: 'portico', overEmptyMb: 31, againstBefore: 1.2, notes: [] }
  const lines = renderBars([scenario], [row]).map((line) => line.slice(scenario.title.length + 4))
  assert.deepEqual(lines, [
    'RSS over an empty program ≤ 60 MB, 31.0 MB: met',
    'CPU against that before the rest ≤ 1.1x, 1.20x: MISSED',
  ])
})

test('a result is inserted at the top and replaces one with the same heading', () => {
  const one = insertResult('# Results\n', { heading: 'day 1', body: 'a' })
  const two = insertResult(one, { heading: 'day 2', body: 'b' })
  assert.equal(insertResult(two, { heading: 'day 1', body: 'c' }), '# Results\n\n## day 1\n\nc\n\n## day 2\n\nb\n')
})

test('unknown scenarios, peers and numbers on the command line are rejected', () => {
  const known = { scenarios: ['get', 'tls'], peers: ['nginx'] }
  assert.equal(readOptions(['--only', 'tls'], known).problem, undefined)
  for (const args of [
    ['--only', 'gets'],
    ['--peers', 'x'],
    ['--rounds', 'x'],
    ['--seconds', '0'],
    ['--profile', 'x'],
    ['-z'],
  ]) {
    assert.ok(readOptions(args, known).problem, args.join(' '))
  }
})

test('the name of a group stands for its scenarios, which all exist', () => {
  const known = { scenarios: scenarios.map(({ name }) => name), peers: ['nginx'], groups }
  const { only } = readOptions(['--only', 'last-rows,post'], known)
  assert.deepEqual(only, [...groups['last-rows'], 'post'])
  for (const name of Object.values(groups).flat()) assert.ok(known.scenarios.includes(name), name)
})

test('self time of a profile is summed by function and idle time is left out', () => {
  const frame = (functionName, url = '') => ({ functionName, url, lineNumber: 4 })
  const nodes = [
    { id: 1, callFrame: frame('(root)') },
    { id: 2, callFrame: frame('(idle)') },
    { id: 3, callFrame: frame('parse', 'node:net') },
    { id: 4, callFrame: frame('parse', 'node:net') },
    { id: 5, callFrame: frame('(program)') },
  ]
  assert.deepEqual(selfTimes({ nodes, samples: [2, 3, 4, 5, 3], timeDeltas: [900, 10, 20, 15, 5] }), [
    { place: 'parse node:net:5', micros: 35 },
    { place: '(program)', micros: 15 },
  ])
})

test('memory is reported above that of an empty program with as many workers, and per further worker', () => {
  const row = (proxy, workers, residentMb) => ({ scenario: 'idle', proxy, workers, residentMb, notes: [] })
  const rows = addRatios([
    row('empty, 1', 1, 70),
    row('empty, 3', 3, 92),
    row('before, 3', 3, 150),
    row('portico, 1', 1, 85),
    row('portico, 3', 3, 113),
  ])
  assert.deepEqual(
    rows.map(({ overEmptyMb }) => overEmptyMb),
    [0, 0, 58, 15, 21],
  )
  assert.match(renderTable(rows), /over empty/)
  const scenario = { title: 'idle', bars: [{ furtherWorkerMb: 5 }, { overEmptyMb: 20, of: 'portico, 3' }] }
  assert.deepEqual(renderBars([scenario], rows), [
    '- idle: each further worker over an empty one ≤ 5 MB, 3.0 MB: met',
    '- idle: RSS over an empty program ≤ 20 MB, 21.0 MB: MISSED',
  ])
})

test('a service lets everything pass, and distinguishes headers of requests and of responses', async (t) => {
  const port = await freePort()
  const server = spawn(process.execPath, [join(import.meta.dirname, 'services.mjs'), String(port)])
  t.after(() => server.kill())
  assert.equal(await untilAnswers(`tcp://127.0.0.1:${port}`, { hasEnded: () => server.exitCode !== null }), null)
  const session = connect(`http://127.0.0.1:${port}`)
  t.after(() => session.destroy())
  const ask = async (path, message) => {
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' })
    const trailers = once(stream, 'trailers')
    stream.end(message)
    const answer = await buffer(stream)
    assert.equal((await trailers)[0]['grpc-status'], '0')
    return answer.toString('hex')
  }
  const empty = Buffer.alloc(5)
  assert.equal(await ask('/envoy.service.auth.v3.Authorization/Check', empty), '00000000021a00')
  assert.equal(await ask('/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit', empty), '00000000020801')
  assert.equal(await ask('/opentelemetry.proto.collector.logs.v1.LogsService/Export', empty), '0000000000')
  // A message of two bytes for the request, then one for the response, with another field before it.
  const both = Buffer.from('000000000412020a0000000000074a01001a021200', 'hex')
  const mayPass = '00000000020a0000000000021200'
  assert.equal(await ask('/envoy.service.ext_proc.v3.ExternalProcessor/Process', both), mayPass)
})

test('a missing program is reported with its environment variable', () => {
  assert.equal(notFound({ variable: 'BENCH_BIFROST' }), 'not found (set BENCH_BIFROST)')
  assert.equal(notFound({}), 'not found')
})

test('a backend in a mesh is called through HBONE, with a certificate of the CA', () => {
  const mesh = { ca: 5, hbone: 6, tls: 7, token: '/t', root: '/ca.crt' }
  const setup = { dir: '/d', port: 1, readinessPort: 2, origin: 3, workers: 1, routes: 1, protocol: 'http', mesh }
  const configOf = (backend) => JSON.parse(portico.plan({ ...setup, backend }).files['gateway.yaml'])
  const backendOf = ({ binds }) => binds[0].listeners[0].routes[0].backends[0]
  const hbone = configOf('hbone')
  assert.deepEqual(backendOf(hbone), { host: '127.0.0.1:3', policies: { tunnel: { hbone: { port: 6 } } } })
  assert.equal(hbone.config.mesh.caAddress, 'https://127.0.0.1:5')
  const tls = configOf('tls')
  assert.equal(backendOf(tls).host, '127.0.0.1:7')
  assert.equal(tls.config.mesh, undefined)
})

test('every peer writes a config for each kind of traffic that it serves', () => {
  const certificate = { cert: '/c.pem', key: '/k.pem', both: '/b.pem' }
  const found = { command: '/program', args: [], version: '1' }
  const common = {
    dir: '/d',
    port: 1,
    readinessPort: 2,
    origin: 3,
    services: 4,
    certificate,
    found,
    workers: 1,
    routes: 1,
  }
  for (const peer of peers.filter(({ onlyNamed }) => !onlyNamed)) {
    for (const protocol of ['http', 'https', 'h2c']) {
      const { files, args } = peer.plan({ ...common, protocol })
      assert.ok(Object.values(files).every((text) => text.includes('127.0.0.1:3') || text.includes('"port_value":3')))
      assert.ok(
        args.some((arg) => arg.startsWith('/d')),
        peer.name,
      )
    }
  }
  for (const peer of peers.filter(({ variable, name }) => variable && name !== 'envoy')) {
    const { files } = peer.plan({ ...common, protocol: 'http', provider: 'openai' })
    assert.match(Object.values(files).join(''), /key-of-the-gateway/)
  }
})
