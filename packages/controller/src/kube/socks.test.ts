import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { createAuthority, issueServing } from '../publish/certificate.ts'
import { KubeClient } from './kube-client.ts'

describe('a SOCKS5 proxy on the way to an API server', () => {
  it('is asked for the name of the server, with its password, and reads nothing of what is said', async (t) => {
    const server = await useServer(t, ['k.example'])
    const proxy = await useProxy(t, server.port, { password: 'ann:p@ss' })
    const client = useClient(t, {
      server: 'https://k.example:6443',
      proxy: `socks5://ann:p%40ss@127.0.0.1:${proxy.port}`,
      ca: server.ca,
    })
    assert.deepEqual(await client.ask({ path: '/version' }), { path: '/version' })
    // On the connection that is kept.
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
    it(`is told the address ${host} as it is`, async (t) => {
      const server = await useServer(t, [host.replace(/[[\]]/g, '')])
      const proxy = await useProxy(t, server.port, {})
      const client = useClient(t, {
        server: `https://${host}`,
        proxy: `socks5h://127.0.0.1:${proxy.port}`,
        ca: server.ca,
      })
      assert.deepEqual(await client.ask({ path: '/version' }), { path: '/version' })
      assert.deepEqual(proxy.asked, [asked])
    })
  }

  it('that refuses says why, and its password stays unsaid', async (t) => {
    const ask = (port: number, name = 'ann:p%40ss@'): Promise<unknown> =>
      useClient(t, { server: 'https://k.example', proxy: `socks5://${name}127.0.0.1:${port}`, ca: '' }).ask({
        path: '/version',
      })
    const strict = await useProxy(t, 0, { password: 'bob:other' })
    await assert.rejects(ask(strict.port), /^KubeError: GET \/version: the proxy refuses the name or the password$/)
    await assert.rejects(ask(strict.port, ''), /the proxy asks for another way to log in/)
    const nowhere = await useProxy(t, 0, { failure: 5 })
    await assert.rejects(ask(nowhere.port), /the proxy finds no way to the server: connection refused/)
    const http = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const port = await listen(t, http)
    await assert.rejects(ask(port), /the proxy does not speak SOCKS5/)
    const silent = createServer((socket) => socket.end())
    await assert.rejects(ask(await listen(t, silent)), /the proxy has closed the connection/)
  })
})

function useClient(t: TestContext, { server, proxy, ca }: { server: string; proxy: string; ca: string }): KubeClient {
  const credentials = () => Promise.resolve({ ...(ca !== '' && { ca }), authorization: 'Bearer secret-token' })
  const client = new KubeClient({ server, proxy, credentials })
  t.after(() => client.close())
  return client
}

async function useServer(t: TestContext, names: string[]): Promise<{ port: number; ca: string }> {
  const validity = { from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) }
  const authority = createAuthority('Test', validity)
  const { cert, key } = issueServing(authority, { names, name: 'k', validity })
  const server = createTlsServer({ cert, key }, (request, response) =>
    response.end(JSON.stringify({ path: request.url })),
  )
  server.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return { port: (server.address() as AddressInfo).port, ca: authority.cert }
}

interface Rules {
  /** `name:password`; without one everybody may. */
  password?: string
  /** The code of every answer. */
  failure?: number
}

/** Leads to one port, whatever is asked for. */
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
  return { port: await listen(t, server), asked, read: () => Buffer.concat(read).toString('latin1') }
}

/** What a client sends comes in one piece for each step. */
async function serve(near: Socket, to: number, { password, failure = 0 }: Rules, asked: string[]): Promise<void> {
  const next = async (): Promise<Buffer> => (await once(near, 'data'))[0] as Buffer
  const methods = (await next()).subarray(2)
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
  const answer = Buffer.from([5, failure, 0, 3, 4, ...Buffer.from('here'), 0, 80])
  if (failure !== 0) return void near.write(answer)
  const far = connect(to, '127.0.0.1', () => near.write(answer))
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => undefined).on('close', () => other.destroy())
  }
  near.pipe(far).pipe(near)
}

function placeIn(bytes: Buffer): string {
  const port = bytes.readUInt16BE(bytes.length - 2)
  const address = bytes.subarray(4, -2)
  const groups = (): string[] => Array.from({ length: 8 }, (_, index) => address.readUInt16BE(2 * index).toString(16))
  if (bytes[3] === 1) return `ipv4 ${[...address].join('.')}:${port}`
  if (bytes[3] === 4) return `ipv6 ${groups().join(':')}:${port}`
  return `name ${address.subarray(1).toString()}:${port}`
}

async function listen(t: TestContext, server: ReturnType<typeof createServer>): Promise<number> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => open.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const socket of open) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return (server.address() as AddressInfo).port
}
