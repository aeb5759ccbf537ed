import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { sendRaw } from '../../../testing/client.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'
import { openTls } from '../../../testing/tls-client.ts'
import { useTlsFiles } from '../../../testing/tls-files.ts'

async function setUp(t: TestContext, csrf: object = {}) {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { csrf })]))
  return { origin, gateway, port: gateway.port() }
}

/** The head of a request; names may repeat. */
function head(fields: readonly string[], method = 'POST'): string {
  const host = fields.some((field) => field.startsWith('Host:')) ? [] : ['Host: shop.test']
  return [`${method} /orders HTTP/1.1`, ...host, 'Connection: close', ...fields, '', ''].join('\r\n')
}

async function statusOf(port: number, fields: readonly string[], method?: string): Promise<number> {
  return (await sendRaw(port, head(fields, method))).status
}

const passes: Record<string, string[]> = {
  'a program that sends neither header': [],
  'a page of the same origin': ['Sec-Fetch-Site: same-origin', 'Origin: http://shop.test'],
  'the user alone': ['Sec-Fetch-Site: none'],
  'Sec-Fetch-Site before Origin: the browser sees the name, not what a rewrite made of it': [
    'Sec-Fetch-Site: same-origin',
    'Origin: https://public.test',
  ],
  'without Sec-Fetch-Site, an origin that is the host': ['Origin: http://shop.test'],
  'letter case': ['Origin: HTTP://Shop.Test', 'Host: sHOP.test'],
  'the default port in the origin': ['Origin: http://shop.test:80'],
  'the default port in the host': ['Origin: http://shop.test', 'Host: shop.test:80'],
  'https on a plain listener: a hop before may have ended TLS': ['Origin: https://shop.test'],
  'the default port of https in the host': ['Origin: https://shop.test', 'Host: shop.test:443'],
  'another port in both': ['Origin: http://shop.test:8080', 'Host: shop.test:8080'],
  'an IPv6 address': ['Origin: http://[2001:db8::1]', 'Host: [2001:DB8::1]:80'],
  'an additional origin of another site': ['Sec-Fetch-Site: cross-site', 'Origin: https://app.test'],
  'an additional origin of a sibling': ['Sec-Fetch-Site: same-site', 'Origin: https://app.test:443'],
  'an additional origin, from an old browser': ['Origin: https://APP.test'],
  'an additional origin with a port': ['Origin: http://[::1]:3000'],
  'an additional origin of an app': ['Origin: capacitor://localhost'],
}

const refused: Record<string, string[]> = {
  'another site': ['Sec-Fetch-Site: cross-site', 'Origin: https://evil.test'],
  'another site that hides its origin': ['Sec-Fetch-Site: cross-site'],
  'a sibling': ['Sec-Fetch-Site: same-site', 'Origin: http://blog.shop.test'],
  'a sibling with the origin of the host': ['Sec-Fetch-Site: same-site', 'Origin: http://shop.test'],
  'a value that nobody knows': ['Sec-Fetch-Site: Same-Origin'],
  'an empty value': ['Sec-Fetch-Site: '],
  'another host': ['Origin: http://evil.test'],
  'a host that ends the same': ['Origin: http://evilshop.test'],
  'a host that begins the same': ['Origin: http://shop.test.evil.test'],
  'another scheme': ['Origin: ftp://shop.test'],
  'https with the port of http': ['Origin: https://shop.test:80'],
  'another port': ['Origin: http://shop.test:81'],
  'the default port of another scheme': ['Origin: http://shop.test:443'],
  'a sandboxed page': ['Origin: null'],
  'a sandboxed page of another site': ['Sec-Fetch-Site: cross-site', 'Origin: null'],
  'an empty origin': ['Origin: '],
  'a path': ['Origin: http://shop.test/'],
  'a user': ['Origin: http://shop.test@evil.test'],
  'two origins in one line': ['Origin: http://shop.test http://evil.test'],
  'two lines of origin': ['Origin: http://shop.test', 'Origin: http://evil.test'],
  'two equal lines of origin': ['Origin: http://shop.test', 'Origin: http://shop.test'],
  'two lines of Sec-Fetch-Site': ['Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: cross-site'],
  'bytes that are no text': ['Origin: http://shop.test\xff'],
  'an additional origin with another port': ['Origin: https://app.test:8443'],
  'an additional origin with another scheme': ['Origin: http://app.test'],
}

const additionalOrigins = ['https://App.test', 'http://[::1]:3000', 'capacitor://localhost']

test('lets requests through that no other site can have made', async (t) => {
  const { port, origin } = await setUp(t, { additionalOrigins })
  for (const [name, fields] of Object.entries(passes)) {
    assert.equal((await sendRaw(port, Buffer.from(head(fields), 'latin1'))).status, 200, name)
  }
  assert.equal(origin.seen.length, Object.keys(passes).length)
})

test('refuses requests that another site may have made', async (t) => {
  const { port, origin } = await setUp(t, { additionalOrigins })
  for (const [name, fields] of Object.entries(refused)) {
    const { status, headers, body } = await sendRaw(port, Buffer.from(head(fields), 'latin1'))
    assert.equal(status, 403, name)
    assert.equal(body, 'CSRF validation failed', name)
    assert.equal(headers['content-type'], 'text/plain', name)
  }
  assert.equal(origin.seen.length, 0)
})

test('methods that change nothing need no check, all others do', async (t) => {
  const { port } = await setUp(t)
  const evil = ['Sec-Fetch-Site: cross-site', 'Origin: https://evil.test']
  for (const method of ['GET', 'HEAD', 'OPTIONS']) assert.equal(await statusOf(port, evil, method), 200, method)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'get', 'X']) {
    assert.equal(await statusOf(port, evil, method), 403, method)
  }
})

test('on a TLS listener the own origin is https', async (t) => {
  const { dir, authority } = useTlsFiles(t, ['shop.test'])
  const origin = await useOrigin(t)
  const tls = { cert: 'shop.test.crt', key: 'shop.test.key' }
  const listener = { protocol: 'HTTPS', tls, routes: [routeTo(origin, { csrf: {} })] }
  const gateway = await useGateway(t, { binds: [{ port: 0, listeners: [listener] }] }, { dir })
  const answers: string[] = []
  for (const fields of [['https://shop.test'], ['https://shop.test:443'], ['http://shop.test']]) {
    const socket = await openTls(gateway.port(), { servername: 'shop.test', ca: authority.cert })
    socket.write(head([`Origin: ${fields[0]!}`]))
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    answers.push(text.slice(9, 12))
  }
  assert.deepEqual(answers, ['200', '200', '403'])
})

test('a trusted hop says what the client spoke, nobody else does', async (t) => {
  const origin = await useOrigin(t)
  const config = (forwardedHeaders: object) =>
    httpConfig([routeTo(origin, { csrf: {} })], { frontend: { forwardedHeaders } })
  const behindHop = (await useGateway(t, config({ trustedProxies: ['127.0.0.1'] }))).port()
  const spoke = (scheme: string) => `X-Forwarded-Proto: ${scheme}`
  assert.equal(await statusOf(behindHop, ['Origin: https://shop.test', spoke('https')]), 200)
  assert.equal(await statusOf(behindHop, ['Origin: http://shop.test', spoke('https')]), 403)
  assert.equal(await statusOf(behindHop, ['Origin: http://shop.test', spoke('http')]), 200)
  const alone = (await useGateway(t, config({}))).port()
  assert.equal(await statusOf(alone, ['Origin: http://shop.test', spoke('https')]), 200)
})

test('a refusal is in the log, and the trace says why', async (t) => {
  const { port, gateway } = await setUp(t)
  const watched = gateway.trace()
  await sendRaw(port, head(['Sec-Fetch-Site: cross-site', 'Origin: https://evil.test']))
  const events = await watched
  const found = events.find(({ message }) => message.type === 'policy' && message['kind'] === 'csrf')
  assert.deepEqual(found?.message['result'], {
    type: 'stop',
    reason: 'Csrf',
    status: 403,
    details: { code: 'cross_origin', origin: 'https://evil.test', site: 'cross-site' },
  })
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.reason, 'Csrf')
})

test('a gRPC client gets a status it can read', async (t) => {
  const { port } = await setUp(t)
  const fields = ['Origin: https://evil.test', 'Content-Type: application/grpc']
  const { status, headers } = await sendRaw(port, head(fields))
  assert.equal(status, 200)
  assert.equal(headers['grpc-status'], '7')
})

test('agrees with a reference that takes URLs apart', async (t) => {
  const others = ['https://app.test', 'http://api.test:8080']
  const { port } = await setUp(t, { additionalOrigins: others })
  const host = fc.constantFrom('shop.test', 'SHOP.test', 'app.test', 'api.test', '[::1]')
  const at = fc.record({ host, port: fc.constantFrom('', ':80', ':443', ':8080') })
  const request = fc.record({
    method: fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE'),
    site: fc.option(fc.constantFrom('same-origin', 'none', 'same-site', 'cross-site')),
    origin: fc.option(
      fc.oneof(
        fc.record({ scheme: fc.constantFrom('http', 'https'), at }).map((url) => `${url.scheme}://${textOf(url.at)}`),
        fc.constant('null'),
      ),
    ),
    host: at.map(textOf),
  })
  await fc.assert(
    fc.asyncProperty(request, async ({ method, site, origin, host }) => {
      const fields = [`Host: ${host}`]
      if (site !== null) fields.push(`Sec-Fetch-Site: ${site}`)
      if (origin !== null) fields.push(`Origin: ${origin}`)
      const expected = isAllowed(method, site, origin, host) ? 200 : 403
      assert.equal(await statusOf(port, fields, method), expected)
    }),
    { seed: 26, numRuns: 300 },
  )

  function isAllowed(method: string, site: string | null, origin: string | null, host: string): boolean {
    if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return true
    if (site === null && origin === null) return true
    if (site === 'same-origin' || site === 'none') return true
    if (origin === null || origin === 'null') return false
    const from = new URL(origin).origin
    return others.includes(from) || (site === null && from === new URL(`${new URL(origin).protocol}//${host}`).origin)
  }
})

function textOf(at: { host: string; port: string }): string {
  return at.host + at.port
}

test('origins with a path, without a scheme, or too many of them are refused at load', async (t) => {
  for (const bad of ['https://app.test/', 'app.test', '*', 'https://*.test', 'https://', 'https://a b', 'null']) {
    await assert.rejects(setUp(t, { additionalOrigins: [bad] }), /additionalOrigins/, bad)
  }
  await assert.rejects(setUp(t, { additionalOrigins: [] }), /additionalOrigins/)
  const many = Array.from({ length: 17 }, (_, i) => `https://a${i}.test`)
  await assert.rejects(setUp(t, { additionalOrigins: many }), /additionalOrigins/)
})
