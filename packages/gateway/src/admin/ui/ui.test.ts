import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, test, type TestContext } from 'node:test'
import { AdminCredentials } from '../credentials.ts'
import { gunzipSync } from 'node:zlib'
import { useAdmin } from '../../testing/admin/admin-servers.ts'
import { PageFiles } from './page-files.ts'
import { noPages, type PageSource, type PageState } from './page-source.ts'

describe('the pages', () => {
  test('every address is the page, assets stay as long as their name, and nothing inline may run', async (t) => {
    const { call } = await start(t)
    assert.deepEqual([(await call('/ui')).status, (await call('/ui')).headers.location], [303, '/ui/'])
    for (const path of ['/ui/', '/ui/requests?q=a', '/ui/no/such/page']) {
      const { status, headers, text } = await call(path)
      assert.deepEqual([status, text, headers['cache-control']], [200, '<p>page', 'no-cache'], path)
      const policy = String(headers['content-security-policy'])
      for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
        assert.ok(policy.includes(part), part)
      assert.doesNotMatch(policy, /unsafe|\*|https?:/)
    }
    const asset = await call('/ui/assets/a-1234.js')
    assert.deepEqual([asset.status, asset.text], [200, 'code'])
    assert.match(String(asset.headers['cache-control']), /max-age=31536000, immutable/)
    assert.match(String(asset.headers['content-type']), /^text\/javascript/)
    assert.equal((await call('/ui/assets/gone.js')).status, 404)
    assert.equal((await call('/ui/', { method: 'PUT', headers: HERE })).status, 405)
  })

  test('whoever takes gzip gets gzip', async (t) => {
    const { call } = await start(t)
    for (const [accept, encoding] of [
      ['gzip, br', 'gzip'],
      ['br', undefined],
      ['gzip;q=0', undefined],
    ] as const) {
      const { headers, bytes } = await call('/ui/assets/a-1234.js', { headers: { 'accept-encoding': accept } })
      assert.equal(headers['content-encoding'], encoding, accept)
      assert.equal(String(encoding === 'gzip' ? gunzipSync(bytes) : bytes), 'code')
    }
  })

  test('no path leads out of their folder', async (t) => {
    const { call, folder } = await start(t)
    writeFileSync(join(folder, '..', 'outside.js'), 'secret')
    symlinkSync(join(folder, '..', 'outside.js'), join(folder, 'assets', 'link.js'))
    for (const path of [
      '/ui/assets/../../outside.js',
      '/ui/../outside.js',
      '/ui/assets/%2e%2e/%2e%2e/outside.js',
      '/ui/assets/..%2f..%2foutside.js',
      '/ui/assets/..\\..\\outside.js',
      '/ui/assets//etc/passwd',
      '/ui/assets/%00a-1234.js',
      '/ui/assets/link.js',
      '/ui/assets/index.html',
      '/ui/assets/../index.html',
      '/ui/assets/',
      '/ui/assets/secrets.txt',
      '/ui/assets/__proto__',
    ]) {
      const { status, text } = await call(path)
      assert.ok(status === 404 || text === '<p>page', `${path}: ${status}`)
      assert.doesNotMatch(text, /secret|root:/, path)
    }
  })

  test('a checkout says that it builds them, what went wrong, and tries again', async (t) => {
    let state: PageState = { kind: 'building', seconds: 3 }
    let again = 0
    const pages: PageSource = { open: () => state, again: () => again++, close() {} }
    const { call } = await start(t, { pages })
    const building = await call('/ui/')
    assert.deepEqual([building.status, building.headers.refresh], [503, '1'])
    assert.match(building.text, /being built.*3 s so far/s)
    state = { kind: 'failed', why: 'no <b>vite</b> & "that"' }
    const failed = await call('/ui/')
    assert.equal(failed.status, 500)
    assert.match(failed.text, /no &#60;b&#62;vite&#60;\/b&#62; &#38; &#34;that&#34;/)
    assert.equal((await call('/ui/?again')).status, 303)
    assert.equal(again, 1)
    state = { kind: 'missing' }
    assert.equal((await call('/ui/')).status, 404)
    assert.equal((await call('/ui/assets/a.js')).status, 404)
    for (const path of ['/ui/', '/ui/plain.css'])
      assert.match(String((await call(path)).headers['content-security-policy']), /default-src 'none'/)
  })
})

describe('access to the pages', () => {
  test('a name that was bound to this address is none of ours, for pages neither', async (t) => {
    const { call, port } = await start(t)
    for (const host of ['evil.example', `evil.example:${port}`, `localhost.evil.example:${port}`])
      assert.equal((await call('/ui/', { headers: { host } })).status, 403, host)
  })

  test('other sites may link to a page, and load nothing', async (t) => {
    const { call } = await start(t)
    const from = (path: string, site: string, mode: string, method = 'GET') =>
      call(path, { method, headers: { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'x-portico-same-origin': '1' } })
    for (const site of ['cross-site', 'same-site']) {
      assert.equal((await from('/ui/', site, 'navigate')).status, 200)
      assert.equal((await from('/ui/', site, 'no-cors')).status, 403)
      assert.equal((await from('/ui/assets/a-1234.js', site, 'no-cors')).status, 403)
      assert.equal((await from('/config_dump', site, 'navigate')).status, 403)
      assert.equal((await from('/ui/session', site, 'navigate', 'POST')).status, 403)
    }
    assert.equal((await from('/config_dump', 'same-origin', 'cors')).status, 200)
    assert.equal((await from('/config_dump', 'none', 'navigate')).status, 200)
  })

  test('a change needs a header that forms and foreign pages cannot send', async (t) => {
    const { call } = await start(t, { token: TOKEN })
    const headers = { authorization: `Bearer ${TOKEN}` }
    for (const path of ['/ui/session', '/api/anything']) {
      const { status, text } = await call(path, { method: 'POST', headers })
      assert.deepEqual([status, text], [403, 'header x-portico-same-origin required\n'])
    }
    const preflight = { origin: 'http://evil.example', 'access-control-request-headers': 'x-portico-same-origin' }
    const asked = await call('/ui/session', { method: 'OPTIONS', headers: preflight })
    assert.equal(asked.status, 403)
    assert.equal(asked.headers['access-control-allow-origin'], undefined)
  })

  test('without a token the admin server has no sessions: no token is set', async (t) => {
    const { call } = await start(t)
    assert.equal((await call('/ui/login')).headers.location, '/ui/')
    assert.equal((await call('/ui/session', { method: 'POST', headers: HERE })).status, 404)
  })

  test('with a token every page leads to the login, and the login back', async (t) => {
    const { call } = await start(t, { token: TOKEN })
    const { status, headers } = await call('/ui/requests?q=a%20b')
    assert.deepEqual([status, headers.location], [303, '/ui/login?to=%2Fui%2Frequests%3Fq%3Da%2520b'])
    assert.equal((await call('/ui/assets/a-1234.js')).status, 303)
    for (const path of ['/config_dump', '/api/anything']) assert.equal((await call(path)).status, 401, path)
    for (const path of ['/ui/login?to=//evil.example', '/ui/login.js', '/ui/plain.css'])
      assert.equal((await call(path)).status, 200, path)
    assert.doesNotMatch((await call('/ui/login?to="><script>evil()</script>')).text, /evil/)
  })

  test('the token opens a session: its cookie shows pages, its proof calls', async (t) => {
    const { call } = await start(t, { token: TOKEN })
    for (const authorization of ['Bearer wrong', 'Bearer ', TOKEN])
      assert.equal((await call('/ui/session', { method: 'POST', headers: { ...HERE, authorization } })).status, 401)
    const { cookie, proof, attributes } = await logIn(call)
    assert.deepEqual(attributes, ['HttpOnly', 'Max-Age=28800', 'Path=/', 'SameSite=Strict'])
    assert.equal((await call('/ui/', { headers: { cookie } })).text, '<p>page')
    assert.equal((await call('/config_dump', { headers: { cookie, 'x-portico-session': proof } })).status, 200)
  })

  test('a cookie that another port of this host has seen calls nothing', async (t) => {
    const { call } = await start(t, { token: TOKEN })
    const [mine, other] = [await logIn(call), await logIn(call)]
    const { cookie } = mine
    for (const headers of [
      { cookie },
      { cookie, 'x-portico-session': '' },
      { cookie, 'x-portico-session': 'x' },
      { cookie, 'x-portico-session': other.proof },
      { 'x-portico-session': mine.proof },
      { cookie, authorization: `Bearer ${mine.proof}` },
    ] as Record<string, string>[]) {
      assert.equal((await call('/config_dump', { headers })).status, 401, JSON.stringify(headers))
      assert.notEqual((await call('/ui/session', { headers })).status, 200)
      assert.equal((await call('/ui/session', { method: 'DELETE', headers: { ...HERE, ...headers } })).status, 401)
      assert.equal((await call('/ui/session', { method: 'POST', headers: { ...HERE, ...headers } })).status, 401)
    }
    assert.equal((await call('/config_dump', { headers: { cookie, 'x-portico-session': mine.proof } })).status, 200)
  })

  test('a session cannot renew itself, and ends when its owner logs out', async (t) => {
    const { call } = await start(t, { token: TOKEN })
    const { cookie, proof } = await logIn(call)
    const headers = { ...HERE, cookie, 'x-portico-session': proof }
    assert.equal((await call('/ui/session', { method: 'POST', headers })).status, 401)
    assert.equal((await call('/ui/session', { headers })).status, 200)
    const ended = await call('/ui/session', { method: 'DELETE', headers })
    assert.match(String(ended.headers['set-cookie']), /^portico_session=; Path=\/; Max-Age=0; HttpOnly/)
    assert.equal((await call('/ui/', { headers })).status, 303)
    assert.equal((await call('/config_dump', { headers })).status, 401)
  })
})

const TOKEN = 'correct-horse'
const HERE = { 'x-portico-same-origin': '1' }

type Call = Awaited<ReturnType<typeof start>>['call']

async function logIn(call: Call) {
  const headers = { ...HERE, authorization: `Bearer ${TOKEN}` }
  const opened = await call('/ui/session', { method: 'POST', headers })
  assert.equal(opened.status, 200, opened.text)
  const [cookie = '', ...attributes] = String(opened.headers['set-cookie']).split('; ')
  const { proof } = JSON.parse(opened.text) as { proof: string }
  return { cookie, proof, attributes: attributes.toSorted() }
}

async function start(t: TestContext, { token = null, pages }: { token?: string | null; pages?: PageSource } = {}) {
  const folder = join(mkdtempSync(join(tmpdir(), 'portico-pages-')), 'ui')
  mkdirSync(join(folder, 'assets'), { recursive: true })
  writeFileSync(join(folder, 'index.html'), '<p>page')
  writeFileSync(join(folder, 'assets', 'a-1234.js'), 'code')
  writeFileSync(join(folder, 'assets', 'secrets.txt'), 'secret')
  const files = new PageFiles(folder)
  t.after(() => rmSync(join(folder, '..'), { recursive: true }))
  const shown = pages ?? { ...noPages, open: () => ({ kind: 'ready', files }) as const }
  const { at } = await useAdmin(t, { credentials: new AdminCredentials(token), pages: shown })
  const port = Number(at.split(':')[1])
  const call = async (path: string, options: { method?: string; headers?: Record<string, string> } = {}) => {
    const sent = request({ host: '127.0.0.1', port, path, agent: false, ...options }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const bytes = await buffer(response)
    return { status: response.statusCode, headers: response.headers, text: bytes.toString(), bytes }
  }
  return { call, folder, port }
}
