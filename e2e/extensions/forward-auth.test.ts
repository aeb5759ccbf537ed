import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { request } from '../../packages/gateway/src/testing/client.ts'
import { fencesOf } from '../../packages/gateway/src/testing/docs/docs-pages.ts'
import { closedPort, useOrigin } from '../../packages/gateway/src/testing/scene.ts'
import { useShippedGateway } from '../shipped-gateway.ts'
import { useServer } from './servers.ts'

const program = fileURLToPath(new URL('servers/forward-auth/server.py', import.meta.url))
const page = readFileSync(new URL('../../docs/forward-auth.md', import.meta.url), 'utf8')
const skip =
  spawnSync('python3', ['--version']).status === 0 ? false : 'no python3 here, which the sign-in server needs'

interface Config {
  backends: { static: { host: string; port: number } }[]
  binds: { port: number; listeners: { routes: { policies?: { extAuth: object }; backends: object[] }[] }[] }[]
}

/** The gateway of the page, but for addresses. */
async function useRecipe(t: TestContext) {
  const [port, origin] = [await closedPort(), await useOrigin(t)]
  const server = await useServer(t, { program: 'python3', args: [program, String(port)], ports: [port] })
  const config = parse(fencesOf(page).find(({ lang }) => lang === 'yaml')?.text ?? '') as Config
  const [bind, signIn] = [config.binds[0], config.backends[0]]
  const app = bind?.listeners[0]?.routes[1]
  assert.ok(bind !== undefined && signIn !== undefined && app?.policies !== undefined)
  bind.port = 0
  signIn.static.port = port
  app.backends = [{ host: origin.host }]
  // A loaded machine takes its time.
  app.policies.extAuth = { ...app.policies.extAuth, timeout: '20s' }
  const gateway = await useShippedGateway(t, config)
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    request(gateway.port(), { path, headers, method })
  return { server, origin, gateway, ask }
}

describe('a server that signs users in, in the manner of oauth2-proxy', { skip }, () => {
  it('sends a browser to sign in, and lets it back to where it was', async (t) => {
    const { origin, ask } = await useRecipe(t)
    const first = await ask('/orders?page=2&q=a%20b')
    assert.deepEqual([first.status, origin.seen.length], [302, 0])
    const start = String(first.headers['location'])
    assert.equal(start, '/oauth2/start?rd=%2Forders%3Fpage%3D2%26q%3Da%2520b')
    const toProvider = await ask(start)
    const back = await ask(String(toProvider.headers['location']))
    assert.deepEqual([back.status, back.headers['location']], [302, '/orders?page=2&q=a%20b'])
    const cookie = String(back.headers['set-cookie']).split(';')[0] ?? ''
    const page = await ask(String(back.headers['location']), { cookie, 'x-auth-request-user': 'mallory' })
    assert.equal(page.status, 200)
    const { url, headers } = origin.seen[0] ?? assert.fail('the backend saw nothing')
    assert.equal(url, '/orders?page=2&q=a%20b')
    assert.deepEqual(
      [headers['x-auth-request-user'], headers['x-auth-request-email'], headers['cookie']],
      ['ann', 'ann@example.com', cookie],
    )
  })

  it('is told what the client asks for, and gets no body', async (t) => {
    const { ask } = await useRecipe(t)
    const headers = { cookie: '_session=s-1', 'x-other': '1', 'content-type': 'text/plain' }
    assert.equal((await ask('/orders/1?x=y', headers, 'DELETE')).status, 200)
    const seen = JSON.parse((await ask('/oauth2/seen')).body) as Record<string, unknown>
    assert.deepEqual(
      [seen['method'], seen['x-forwarded-method'], seen['x-forwarded-uri'], seen['x-forwarded-host'], seen['length']],
      ['DELETE', 'DELETE', '/orders/1?x=y', 'test.example', 0],
    )
    assert.deepEqual([seen['x-other'], seen['content-type']], [undefined, undefined])
  })

  it('may be followed by rules of your own', async (t) => {
    const { origin, gateway, ask } = await useRecipe(t)
    assert.equal((await ask('/orders', { cookie: '_session=s-2' })).status, 403)
    await gateway.finished(1)
    assert.deepEqual([gateway.records[0]?.reason, origin.seen.length], ['Authorization', 0])
  })

  it('keeps everybody out when it is gone', async (t) => {
    const { server, origin, ask } = await useRecipe(t)
    await server.kill()
    const answer = await ask('/orders', { cookie: '_session=s-1' })
    assert.deepEqual([answer.status, answer.body, origin.seen.length], [403, 'external authorization failed', 0])
  })
})
