import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, pathPrefix, routeTo, useGateway, useOrigin } from '../../../testing/scene.ts'

async function urlsSeen(t: TestContext, prefix: string, path: object, asked: string[]): Promise<string[]> {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { urlRewrite: { path } }, pathPrefix(prefix))]))
  for (const url of asked) assert.equal((await request(gateway.port(), { path: url })).status, 200)
  return origin.seen.map((seen) => seen.url)
}

test('a full path replaces the path and keeps the query', async (t) => {
  assert.deepEqual(await urlsSeen(t, '/', { full: '/new' }, ['/', '/old/path', '/old?a=1&b=%2F', '/old?']), [
    '/new',
    '/new',
    '/new?a=1&b=%2F',
    '/new',
  ])
})

test('a prefix replaces what the route matched, with one slash between', async (t) => {
  const asked = ['/old', '/old/', '/old/x', '/old/x/?q=1', '/old?q=1']
  assert.deepEqual(await urlsSeen(t, '/old', { prefix: '/new' }, asked), [
    '/new',
    '/new/',
    '/new/x',
    '/new/x/?q=1',
    '/new?q=1',
  ])
  assert.deepEqual(await urlsSeen(t, '/old/', { prefix: '/new/' }, ['/old/x', '/old/']), ['/new/x', '/new/'])
})

test('the prefix / takes the matched part away', async (t) => {
  assert.deepEqual(await urlsSeen(t, '/old', { prefix: '/' }, ['/old', '/old/', '/old/x', '/old?q=1']), [
    '/',
    '/',
    '/x',
    '/?q=1',
  ])
})

test('a route of all paths puts the prefix in front', async (t) => {
  assert.deepEqual(await urlsSeen(t, '/', { prefix: '/v1' }, ['/', '/x', '/x//y']), ['/v1/', '/v1/x', '/v1/x//y'])
})

test('escaped letters of the path reach the backend as they came', async (t) => {
  assert.deepEqual(await urlsSeen(t, '/old', { prefix: '/new' }, ['/old/a%2Fb%20c']), ['/new/a%2Fb%20c'])
})

test('the authority can be replaced whole, or host and port alone', async (t) => {
  const origin = await useOrigin(t)
  const asked = async (authority: object, host: string) => {
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { urlRewrite: { authority } })]))
    await request(gateway.port(), { headers: { host } })
    return origin.seen.at(-1)!.headers.host
  }
  assert.equal(await asked({ full: 'new.test:81' }, 'old.test:80'), 'new.test:81')
  assert.equal(await asked({ host: 'new.test' }, 'old.test:8080'), 'new.test:8080')
  assert.equal(await asked({ host: 'new.test' }, 'old.test'), 'new.test')
  assert.equal(await asked({ port: 81 }, 'old.test'), 'old.test:81')
  assert.equal(await asked({ port: 81 }, '[::1]:8080'), '[::1]:81')
})

test('the access log and the route keep the path of the client', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { urlRewrite: { path: { full: '/new' } } })]))
  await request(gateway.port(), { path: '/old' })
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.target, '/old')
})
