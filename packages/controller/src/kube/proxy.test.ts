import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { leadTo, useApiServer, useListening, useProxiedClient } from '../testing/proxy-scene.ts'
import { proxyFor } from './proxy.ts'

const PROXY = 'http://proxy.example:3128'

describe('the proxy to an API server', () => {
  it('comes from the kubeconfig, or from the environment', () => {
    const env = { HTTPS_PROXY: PROXY, http_proxy: 'plain.example:8080', NO_PROXY: '' }
    assert.equal(proxyFor('https://k.example', undefined, {}), undefined)
    assert.equal(proxyFor('https://k.example', undefined, env), PROXY)
    assert.equal(proxyFor('http://k.example', undefined, env), 'http://plain.example:8080')
    assert.equal(proxyFor('https://k.example', 'https://mine.example', env), 'https://mine.example')
    assert.equal(proxyFor('https://k.example', 'socks5://mine.example', env), 'socks5://mine.example')
    assert.equal(proxyFor('https://k.example', 'http://mine.example', { ...env, NO_PROXY: '*' }), 'http://mine.example')
    for (const near of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]'])
      assert.equal(proxyFor(`https://${near}:6443`, undefined, env), undefined)
  })

  it('is not used for hosts in NO_PROXY', () => {
    const cases: [string, string, boolean][] = [
      ['*', 'k.example', true],
      ['k.example', 'k.example', true],
      ['example', 'k.example', true],
      ['EXAMPLE', 'k.example', true],
      ['.example', 'k.example', true],
      ['*.example', 'k.example', true],
      ['.k.example', 'k.example', false],
      ['ample', 'k.example', false],
      ['other.example, k.example:6443', 'k.example', true],
      ['k.example:443', 'k.example', false],
      ['10.0.0.0/8', '10.1.2.3', true],
      ['10.0.0.0/16', '10.1.2.3', false],
      ['10.0.0.0/99', '10.1.2.3', false],
      ['10.1.2.3', '10.1.2.3', true],
      ['10.1.2.3:6443', '10.1.2.3', true],
      ['2.3', '10.1.2.3', false],
      ['fd00::/8', '[fd00::5]', true],
      ['fd00::5', '[fd00::5]', true],
      ['[fd00::5]:6443', '[fd00::5]', true],
      ['[fd00::5]:443', '[fd00::5]', false],
      ['10.0.0.0/8', '[fd00::5]', false],
      [' , ', 'k.example', false],
    ]
    for (const [exceptions, host, isExcepted] of cases) {
      const found = proxyFor(`https://${host}:6443`, undefined, { HTTPS_PROXY: PROXY, no_proxy: exceptions })
      assert.equal(found === undefined, isExcepted, `${exceptions} for ${host}`)
    }
  })

  it('with an unknown scheme is rejected, without printing its password', () => {
    const read = (own: string) => () => proxyFor('https://k.example', own, {})
    assert.throws(read('socks4://ann:secret@proxy.example'), (error: Error) => {
      assert.equal(
        error.message,
        'proxy-url of the kubeconfig: found socks4://proxy.example, expected a proxy that speaks http, https or socks5',
      )
      return true
    })
    assert.throws(read('http://ann:secret@:x'), /^Error: proxy-url of the kubeconfig is not a URL$/)
  })

  it('gets a CONNECT request with its password, and sees only ciphertext', async (t) => {
    const server = await useApiServer(t, ['k.example'])
    const proxy = await useProxy(t, server.port)
    const url = `http://ann:p%40ss@127.0.0.1:${proxy.port}`
    const way = { server: 'https://k.example:6443', proxy: url, ca: server.ca }
    const client = useProxiedClient(t, way)
    assert.deepEqual(await client.ask({ path: '/version' }), { path: '/version' })
    assert.deepEqual(
      proxy.asked.map(({ method, url, headers }) => [method, url, headers['proxy-authorization']]),
      [['CONNECT', 'k.example:6443', `Basic ${Buffer.from('ann:p@ss').toString('base64')}`]],
    )
    const { socket } = await client.upgrade({ path: '/up', protocol: 'echo', headers: {} })
    socket.write('hello')
    assert.equal(String((await once(socket, 'data'))[0]), 'hello')
    socket.destroy()
    proxy.refuse()
    const own = useProxiedClient(t, way)
    await assert.rejects(own.ask({ path: '/version' }), (error: Error) => {
      assert.match(error.message, /407/)
      assert.doesNotMatch(error.message, /p@ss|p%40ss|secret-token/)
      return true
    })
  })
})

/** A proxy that connects to one port, whatever the request names. */
async function useProxy(
  t: TestContext,
  to: number,
): Promise<{ port: number; asked: IncomingMessage[]; refuse(): void }> {
  const asked: IncomingMessage[] = []
  let isRefusing = false
  const proxy = createServer()
  proxy.on('connect', (request, near) => {
    asked.push(request)
    if (isRefusing) return void near.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    leadTo(to, near, 'HTTP/1.1 200 OK\r\n\r\n')
  })
  return { port: await useListening(t, proxy), asked, refuse: () => void (isRefusing = true) }
}
