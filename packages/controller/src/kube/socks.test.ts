import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { leadTo, useApiServer, useListening, useProxiedClient } from '../testing/proxy-scene.ts'

describe('a SOCKS5 proxy to an API server', () => {
  it('gets the name of the server and its password, and sees only ciphertext', async (t) => {
    const server = await useApiServer(t, ['k.example'])
    const proxy = await useProxy(t, server.port, { password: 'ann:p@ss' })
    const client = useProxiedClient(t, {
      server: 'https://k.example:6443',
      proxy: `socks5://ann:p%40ss@127.0.0.1:${proxy.port}`,
      ca: server.ca,
    })
    assert.deepEqual(await client.ask({ path: '/version' }), { path: '/version' })
    // The second request uses the kept connection.
    assert.deepEqual(await client.ask({ path: '/livez' }), { path: '/livez' })
    assert.deepEqual(proxy.asked, ['name k.example:6443'])
    assert.doesNotMatch(proxy.read(), /secret-token|GET/)
    const { socket } = await client.upgrade({ path: '/up', protocol: 'echo', headers: {} })
    socket.write('hello')
    assert.equal(String((await once(socket, 'data'))[0]), 'hello')
    socket.destroy()
  })

  for (const [host, asked] of [
    ['10.1.2.3', 'ipv4 10.1.2.3:443'],
    ['[fd00::1:7]', 'ipv6 fd00:0:0:0:0:0:1:7:443'],
    ['[::1]', 'ipv6 0:0:0:0:0:0:0:1:443'],
  ] as const) {
    it(`gets the address ${host} unresolved`, async (t) => {
      const server = await useApiServer(t, [host.replace(/[[\]]/g, '')])
      const proxy = await useProxy(t, server.port, {})
      const client = useProxiedClient(t, {
        server: `https://${host}`,
        proxy: `socks5h://127.0.0.1:${proxy.port}`,
        ca: server.ca,
      })
      assert.deepEqual(await client.ask({ path: '/version' }), { path: '/version' })
      assert.deepEqual(proxy.asked, [asked])
    })
  }

  for (const [kind, reply] of [
    ['IPv4', [1, 127, 0, 0, 1]],
    ['IPv6', [4, ...Buffer.alloc(16, 1)]],
    ['name', [3, 2, 0x61, 0x62]],
  ] as const) {
    it(`may name its own address as ${kind}, which is not read as data of the server`, async (t) => {
      const server = await useApiServer(t, ['k.example'])
      const proxy = await useProxy(t, server.port, { reply })
      const client = useProxiedClient(t, {
        server: 'https://k.example',
        proxy: `socks5://127.0.0.1:${proxy.port}`,
        ca: server.ca,
      })
      assert.deepEqual(await client.ask({ path: '/version' }), { path: '/version' })
    })
  }

  it('gets a user name without a password, and a password without a user name', async (t) => {
    const server = await useApiServer(t, ['k.example'])
    for (const [user, password] of [
      ['ann@', 'ann:'],
      [':word@', ':word'],
    ] as const) {
      const proxy = await useProxy(t, server.port, { password })
      const client = useProxiedClient(t, {
        server: 'https://k.example',
        proxy: `socks5://${user}127.0.0.1:${proxy.port}`,
        ca: server.ca,
      })
      assert.deepEqual(await client.ask({ path: '/version' }), { path: '/version' })
    }
  })

  it('that declines is reported with its reason, without the password', async (t) => {
    const ask = (port: number, name = 'ann:p%40ss@'): Promise<unknown> =>
      useProxiedClient(t, { server: 'https://k.example', proxy: `socks5://${name}127.0.0.1:${port}`, ca: '' }).ask({
        path: '/version',
      })
    const strict = await useProxy(t, 0, { password: 'bob:other' })
    await assert.rejects(ask(strict.port), /^KubeError: GET \/version: proxy rejected the user name or password$/)
    await assert.rejects(ask(strict.port, ''), /proxy requires an unsupported authentication method/)
    const nowhere = await useProxy(t, 0, { failure: 5 })
    await assert.rejects(ask(nowhere.port), /proxy could not connect to the server: connection refused/)
    const http = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const port = await useListening(t, http)
    await assert.rejects(ask(port), /proxy does not speak SOCKS5/)
    const silent = createServer((socket) => socket.end())
    await assert.rejects(ask(await useListening(t, silent)), /proxy closed the connection/)
  })
})

interface Rules {
  /** `name:password`; without it the proxy is open. */
  password?: string
  /** The code of every reply. */
  failure?: number
  /** The type and bytes of the proxy's address in replies. */
  reply?: readonly number[]
}

/** A proxy that connects to one port, whatever the request names. */
async function useProxy(
  t: TestContext,
  to: number,
  rules: Rules,
): Promise<{ port: number; asked: string[]; read: () => string }> {
  const asked: string[] = []
  const read: Buffer[] = []
  const server = createServer((near) => {
    near.on('error', () => undefined).on('data', (bytes: Buffer) => read.push(bytes))
    void serve(near, to, rules, asked).catch(() => near.destroy())
  })
  return { port: await useListening(t, server), asked, read: () => Buffer.concat(read).toString('latin1') }
}

/** Serves one client, which sends each step in one piece. */
async function serve(near: Socket, to: number, rules: Rules, asked: string[]): Promise<void> {
  const { password, failure = 0, reply = [3, 4, ...Buffer.from('here')] } = rules
  const next = async (): Promise<Buffer> => (await once(near, 'data'))[0] as Buffer
  const hello = await next()
  assert.equal(hello.length, 2 + (hello[1] ?? 0), 'the number of methods')
  const methods = hello.subarray(2)
  const wanted = password === undefined ? 0 : 2
  const chosen = methods.includes(wanted) ? wanted : 255
  near.write(Buffer.from([5, chosen]))
  if (chosen === 255) return
  if (password !== undefined) {
    const bytes = await next()
    const name = bytes.subarray(2, 2 + (bytes[1] ?? 0))
    const given = `${name.toString()}:${bytes.subarray(3 + name.length).toString()}`
    near.write(Buffer.from([1, given === password ? 0 : 1]))
    if (given !== password) return
  }
  asked.push(placeIn(await next()))
  const answer = Buffer.from([5, failure, 0, ...reply, 0, 80])
  if (failure !== 0) return void near.write(answer)
  leadTo(to, near, answer)
}

function placeIn(bytes: Buffer): string {
  const port = bytes.readUInt16BE(bytes.length - 2)
  const address = bytes.subarray(4, -2)
  const groups = (): string[] => Array.from({ length: 8 }, (_, index) => address.readUInt16BE(2 * index).toString(16))
  if (bytes[3] === 1) return `ipv4 ${[...address].join('.')}:${port}`
  if (bytes[3] === 4) return `ipv6 ${groups().join(':')}:${port}`
  return `name ${address.subarray(1).toString()}:${port}`
}
