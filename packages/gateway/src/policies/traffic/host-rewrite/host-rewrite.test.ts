import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { lookupIn } from '../../../testing/lookup.ts'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

/** The Host that the backend sees when it is named by `host` in the config. */
async function hostSeen(t: TestContext, host: string, policies: object): Promise<string> {
  const origin = await useOrigin(t)
  const backend = { host: `${host}:${origin.port}` }
  const lookup = lookupIn({ 'inside.test': ['127.0.0.1'] })
  const gateway = await useGateway(t, httpConfig([routeTo(backend, policies)]), { lookup })
  const { status } = await request(gateway.port(), { headers: { host: 'public.test:8080' } })
  assert.equal(status, 200)
  return origin.seen[0]!.headers.host!.replace(String(origin.port), '<port>')
}

test('a backend with a name sees its own name by default', async (t) => {
  assert.equal(await hostSeen(t, 'inside.test', {}), 'inside.test:<port>')
})

test('a backend with an address sees what the client asked for', async (t) => {
  assert.equal(await hostSeen(t, '127.0.0.1', {}), 'public.test:8080')
  assert.equal(await hostSeen(t, '127.0.0.1', { hostRewrite: { mode: 'Auto' } }), 'public.test:8080')
})

test('None keeps what the client asked for', async (t) => {
  assert.equal(await hostSeen(t, 'inside.test', { hostRewrite: { mode: 'None' } }), 'public.test:8080')
})

test('an explicit host of another policy wins', async (t) => {
  const hostRewrite = { mode: 'Auto' }
  const urlRewrite = { authority: { full: 'chosen.test' } }
  assert.equal(await hostSeen(t, 'inside.test', { hostRewrite, urlRewrite }), 'chosen.test')
})
