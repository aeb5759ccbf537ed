import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request, sendRaw } from '../../testing/client.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../testing/scene.ts'

test('TRACE that may go no further is answered here, without the secrets it carries', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const answer = await request(gateway.port(), {
    method: 'TRACE',
    path: '/a?b',
    headers: { host: 'a.test', 'max-forwards': '0', via: '1.1 edge', authorization: 'Bearer x', cookie: 'y=z' },
  })
  assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'message/http'])
  assert.equal(answer.body, 'TRACE /a?b HTTP/1.1\r\nhost: a.test\r\nmax-forwards: 0\r\nvia: 1.1 edge\r\n\r\n')
  assert.equal(origin.seen.length, 0)
  await gateway.finished(1)
  assert.deepEqual([gateway.records[0]?.reason, gateway.records[0]?.status], ['DirectResponse', 200])
})

/** A prefix fits paths only; an asterisk is none. */
const ANY_TARGET = { matches: [{ path: { regex: '.*' } }] }

test('OPTIONS that may go no further is answered here, in every form', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, {}, ANY_TARGET)]))
  for (const target of ['/a', '*', 'http://a.test']) {
    const head = `OPTIONS ${target} HTTP/1.1\r\nHost: a.test\r\nMax-Forwards: 0\r\nConnection: close\r\n\r\n`
    assert.match((await sendRaw(gateway.port(), head)).text, /^HTTP\/1\.1 200 [^]*content-length: 0\r\n/, target)
  }
  assert.equal(origin.seen.length, 0)
})

test('each hop takes one off, of these methods alone', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  for (const [method, value] of [
    ['TRACE', '1'],
    ['OPTIONS', '007'],
    ['OPTIONS', 'many'],
    ['GET', '0'],
  ] as const) {
    await request(gateway.port(), { method, headers: { 'max-forwards': value } })
  }
  assert.deepEqual(
    origin.seen.map((seen) => seen.headers['max-forwards']),
    ['0', '6', 'many', '0'],
  )
})

test('a request that a policy denies is not reflected', async (t) => {
  const origin = await useOrigin(t)
  const policies = { authorization: { action: 'Deny', policy: { matchExpressions: ['request.method == "TRACE"'] } } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  const answer = await request(gateway.port(), { method: 'TRACE', headers: { 'max-forwards': '0' } })
  assert.equal(answer.status, 403)
})

test('OPTIONS about the whole server goes on as an asterisk, in absolute form too', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, {}, ANY_TARGET)]))
  for (const target of ['*', 'http://a.test']) {
    await sendRaw(gateway.port(), `OPTIONS ${target} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n`)
  }
  assert.deepEqual(
    origin.seen.map((seen) => seen.url),
    ['*', '*'],
  )
})
