import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseAdminAddress } from './admin-address.ts'
import { curlArguments } from './curl.ts'
import { pickLocalPorts, requestFilter } from './local-ports.ts'
import { planTrace, type TraceArguments } from './plan.ts'

const given: TraceArguments = {
  local: true,
  port: null,
  expression: null,
  admin: '127.0.0.1:15000',
  adminToken: null,
  operands: [],
  afterDashes: null,
}

test('a watch and an injection are planned', () => {
  const watch = planTrace(given)
  assert.ok(watch.ok)
  assert.equal(watch.value.injection, null)
  const inject = planTrace({ ...given, port: '3000', afterDashes: ['https://a.example/x', '-d', '--'] })
  assert.ok(inject.ok)
  assert.deepEqual(inject.value.injection, { port: 3000, url: 'https://a.example/x', args: ['-d', '--'] })
})

test('invalid arguments are rejected with a hint', () => {
  const cases: [Partial<TraceArguments>, RegExp][] = [
    [{ local: false }, /^name a Gateway of the cluster, gateway\/<name>, or give --local/],
    [{ operands: ['gateway/x'] }, /^--local is for a standalone gateway: leave it out, or gateway\/<name>$/],
    [{ local: false, operands: ['httproute/x'] }, /found "httproute\/x", expected gateway\/<name>/],
    [{ local: false, operands: ['gateway/x', 'y'] }, /found "y"/],
    [{ local: false, operands: ['gateway/X y'] }, /found "gateway\/X y"/],
    [{ port: '3000' }, /^--port needs a URL/],
    [{ port: '3000', afterDashes: [] }, /^--port needs a URL/],
    [{ afterDashes: ['http://x/'] }, /^a URL needs --port/],
    [{ port: '0', afterDashes: ['http://x/'] }, /port "0"/],
    [{ port: '65536', afterDashes: ['http://x/'] }, /port "65536"/],
    [{ port: '80x', afterDashes: ['http://x/'] }, /port "80x"/],
    [{ port: '80', afterDashes: ['-H', 'a: b', 'http://x/'] }, /found "-H" after --, expected first a URL/],
    [{ port: '80', afterDashes: ['file:///etc/passwd'] }, /expected first a URL/],
    [{ port: '80', afterDashes: ['http://x/', '--next', 'http://y/'] }, /--next/],
    [{ admin: 'nowhere' }, /admin address "nowhere"/],
    [{ adminToken: 'a b' }, /^the admin token may/],
    [{ adminToken: 'a\r\nx: y' }, /^the admin token may/],
    [{ expression: ' ' }, /^--expression is empty$/],
  ]
  for (const [change, problem] of cases) {
    const planned = planTrace({ ...given, ...change })
    assert.ok(!planned.ok, JSON.stringify(change))
    assert.match(planned.problem, problem)
  }
})

test('admin addresses are accepted in the forms that the gateway prints', () => {
  assert.deepEqual(parseAdminAddress('localhost:15000')?.connect, { host: 'localhost', port: 15_000 })
  assert.deepEqual(parseAdminAddress('http://127.0.0.1:15000/')?.connect, { host: '127.0.0.1', port: 15_000 })
  assert.deepEqual(parseAdminAddress('[::1]:80')?.connect, { host: '::1', port: 80 })
  assert.equal(parseAdminAddress('[::1]:80')?.label, '[::1]:80')
  assert.deepEqual(parseAdminAddress('unix:/run/admin')?.connect, { socketPath: '/run/admin' })
  for (const text of [
    '',
    'a',
    ':1',
    'a:',
    'a:0',
    'a:65536',
    '::1:80',
    'a b:1',
    'a/b:1',
    'u@a:1',
    'unix:a',
    'https://a:1',
  ]) {
    assert.equal(parseAdminAddress(text), null, text)
  }
  const port = fc.integer({ min: 1, max: 65_535 })
  fc.assert(
    fc.property(
      fc.oneof(
        fc.domain(),
        fc.ipV4(),
        fc.ipV6().map((ip) => `[${ip}]`),
      ),
      port,
      (host, port) => {
        assert.equal(parseAdminAddress(`${host}:${port}`)?.label, `${host}:${port}`)
      },
    ),
  )
  fc.assert(fc.property(fc.string(), (text) => void parseAdminAddress(text)))
})

test('curl gets the redirection to this machine first, then the arguments of the user', () => {
  const injection = { port: 3000, url: 'https://a.example/', args: ['-d', '$(x)', '-H', 'a: b c'] }
  const way = ['--silent', '--show-error', '--noproxy', '*', '--connect-to', '::127.0.0.1:3000']
  const rest = ['--url', 'https://a.example/', '-d', '$(x)', '-H', 'a: b c']
  assert.deepEqual(curlArguments({ ...injection, localPorts: null }), [...way, ...rest])
  assert.deepEqual(curlArguments({ ...injection, localPorts: { first: 61_000, last: 61_015 } }), [
    ...way,
    '--local-port',
    '61000-61015',
    ...rest,
  ])
})

test('the request is identified by its source ports, unless the user sets them', () => {
  for (let round = 0; round < 1000; round++) {
    const ports = pickLocalPorts([])
    assert.ok(ports !== null && ports.first >= 61_000 && ports.last <= 65_535 && ports.last - ports.first === 15)
  }
  for (const option of ['--local-port', '--interface', '--unix-socket']) {
    assert.equal(pickLocalPorts([option, 'x']), null)
  }
  const ports = { first: 61_000, last: 61_015 }
  const own = 'source.rawAddress == "127.0.0.1" && source.rawPort >= 61000 && source.rawPort <= 61015'
  assert.equal(requestFilter(null, null), null)
  assert.equal(requestFilter('a || b', null), 'a || b')
  assert.equal(requestFilter(null, ports), own)
  assert.equal(requestFilter('a || b // c', ports), `(\na || b // c\n) && ${own}`)
})
