import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { startServers } from './servers.ts'

describe('the servers of the controller', () => {
  it('report liveness, readiness and metrics', async (t) => {
    const { get, scene } = await useServers(t)
    assert.deepEqual(await get('/healthz'), [200, 'ok\n'])
    assert.deepEqual(await get('/readyz'), [503, 'not ready, pending: Gateway, streams\n'])
    scene.pending = []
    assert.deepEqual(await get('/readyz'), [200, 'ready\n'])
    assert.deepEqual(await get('/metrics'), [200, 'a 1\n'])
    assert.equal((await get('/logging'))[0], 404)
    assert.equal((await get('/healthz', 'POST'))[0], 405)
  })

  it('change the log level, and only over loopback', async (t) => {
    const { ask, scene } = await useServers(t)
    assert.deepEqual(await ask('/logging'), [200, 'current log level is info\n'])
    assert.deepEqual(await ask('/logging?level=debug'), [200, 'current log level is debug\n'])
    assert.equal(scene.filter, 'debug')
    assert.deepEqual(await ask('/logging?level=loud'), [400, 'no such level\n'])
    assert.equal((await ask('/logging?colour=blue'))[0], 400)
    assert.equal((await ask('/logging', { origin: 'http://evil.example' }))[0], 403)
    assert.equal((await ask('/logging?level=debug', { 'x-portico-same-origin': '0' }))[0], 403)
  })

  it('do not start on an address that is not available', async (t) => {
    const { health } = await useServers(t)
    const rest = { pending: () => [], metrics: () => '', logFilter: () => '', setLogFilter: () => null }
    await assert.rejects(
      startServers({ healthAddress: '127.0.0.1:0', adminAddress: health, ...rest }),
      /in use by another program/,
    )
    await assert.rejects(startServers({ healthAddress: 'nowhere', adminAddress: 'off', ...rest }), /found address/)
  })
})

async function useServers(t: TestContext) {
  const scene = { pending: ['Gateway', 'streams'], filter: 'info' }
  const servers = await startServers({
    healthAddress: '127.0.0.1:0',
    adminAddress: '127.0.0.1:0',
    pending: () => scene.pending,
    metrics: () => 'a 1\n',
    logFilter: () => scene.filter,
    setLogFilter(text) {
      if (text === 'loud') return 'no such level'
      scene.filter = text
      return null
    },
  })
  t.after(() => servers.close())
  const [health = '', admin = ''] = [...servers.health, ...servers.admin]
  const send = async (url: string, options: RequestInit): Promise<[number, string]> => {
    const response = await fetch(url, options)
    return [response.status, await response.text()]
  }
  return {
    scene,
    health,
    get: (path: string, method = 'GET') => send(`http://${health}${path}`, { method }),
    ask: (path: string, headers = {}) =>
      send(`http://${admin}${path}`, { method: 'POST', headers: { 'x-portico-same-origin': '1', ...headers } }),
  }
}
