import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { createWebSocketStream, WebSocketServer } from 'ws'
import { SpdySession, type SpdyStream } from '../../../../e2e/cluster/bed/kubelet/spdy.ts'
import { acceptSpdy } from '../../../../e2e/cluster/bed/kubelet/spdy-upgrade.ts'
import { KubeClient } from './kube-client.ts'
import { isStatus, KubeError } from './kube-error.ts'
import { PortForward } from './port-forward.ts'

const POD = { namespace: 'shop', pod: 'web-1' }

type Form = 'SPDY' | 'WebSocket'
const TUNNEL = 'SPDY/3.1+portforward.k8s.io'

const message = 'pods "web-1" is forbidden: User "ann" cannot create resource "pods/portforward"'
const REFUSAL = JSON.stringify({ reason: 'Forbidden', message })

interface Node {
  client: KubeClient
  asked: IncomingMessage[]
  sockets: Duplex[]
}

/**
 * An API server with the port-forward endpoint of a node. Data streams get an answer, and ports below 1024 are closed. It
 * speaks only SPDY, like old servers, or SPDY in a WebSocket too.
 */
async function useNode(t: TestContext, form: Form, answers: (port: number, stream: Duplex) => void): Promise<Node> {
  const [asked, sockets]: [IncomingMessage[], Duplex[]] = [[], []]
  const server = createServer((request, response) => {
    asked.push(request)
    response.writeHead(403, { 'content-type': 'application/json' }).end(REFUSAL)
  })
  const webSockets = new WebSocketServer({ noServer: true })
  webSockets.on('headers', (headers) => headers.push(`Sec-WebSocket-Protocol: ${TUNNEL}`))
  server.on('upgrade', (request, socket: Duplex, head) => {
    asked.push(request)
    sockets.push(socket)
    const opened = streamsOf(answers)
    if (request.url?.includes('/refused/') === true)
      return void socket.end(`HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n${REFUSAL}`)
    if (request.headers.upgrade !== 'websocket')
      return void acceptSpdy({ request, socket, protocols: ['portforward.k8s.io'] }, opened)
    if (form === 'SPDY')
      return void socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
    assert.equal(request.headers['sec-websocket-protocol'], TUNNEL)
    // The subprotocol is not a valid token, so the library would reject it.
    delete request.headers['sec-websocket-protocol']
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      void new SpdySession(createWebSocketStream(webSocket), opened).run()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = new KubeClient({
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: () => Promise.resolve({ authorization: 'Bearer secret-token' }),
  })
  t.after(async () => {
    client.close()
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return { client, asked, sockets }
}

function streamsOf(answers: (port: number, stream: Duplex) => void): (opened: SpdyStream) => void {
  const problemsById = new Map<string, Duplex>()
  return ({ headers, stream }) => {
    const [id, port] = [headers.get('requestid') ?? '', Number(headers.get('port'))]
    if (headers.get('streamtype') === 'error') return void problemsById.set(id, stream.resume())
    const problems = problemsById.get(id)
    if (port < 1024) {
      problems?.end('connection refused')
      stream.end()
      return
    }
    answers(port, stream)
    stream.on('end', () => problems?.end())
  }
}

const echo = (_port: number, stream: Duplex): void => void stream.pipe(stream)

async function roundTrip(forward: PortForward): Promise<void> {
  const { stream } = await forward.connect(9090)
  stream.end('ping')
  assert.equal((await buffer(stream)).toString(), 'ping')
}

for (const form of ['SPDY', 'WebSocket'] as const) {
  describe(`ports of Pods, by ${form}`, () => {
    it('are reached by streams that carry any bytes in both directions, several at once', async (t) => {
      const { client, asked } = await useNode(t, form, echo)
      const forward = await PortForward.open(client, POD)
      assert.equal(forward.form, form)
      t.after(() => forward.close())
      assert.deepEqual(
        asked.map(({ method, headers }) => [method, headers.upgrade]),
        form === 'SPDY'
          ? [
              ['GET', 'websocket'],
              ['POST', 'SPDY/3.1'],
            ]
          : [['GET', 'websocket']],
      )
      for (const { url, headers } of asked) {
        assert.equal(url, '/api/v1/namespaces/shop/pods/web-1/portforward')
        assert.equal(headers['authorization'], 'Bearer secret-token')
      }
      const texts = ['one', 'x'.repeat(1_000_000), '']
      const answers = await Promise.all(
        texts.map(async (text) => {
          const { stream, problem } = await forward.connect(8080)
          stream.end(text)
          return [(await buffer(stream)).toString(), await problem]
        }),
      )
      assert.deepEqual(
        answers,
        texts.map((text) => [text, null]),
      )
    })

    it('report a closed port with the message of the node', async (t) => {
      const { client } = await useNode(t, form, echo)
      const forward = await PortForward.open(client, POD)
      t.after(() => forward.close())
      const { stream, problem } = await forward.connect(80)
      assert.equal((await buffer(stream)).length, 0)
      assert.equal(await problem, 'connection refused')
    })

    it('are not read faster than the client reads', async (t) => {
      let written = 0
      const { client } = await useNode(t, form, (port, stream) => {
        if (port !== 8080) return echo(port, stream)
        const more = (): void => {
          written += 65_536
          if (written < 64 * 1024 * 1024) stream.write(Buffer.alloc(65_536), () => setImmediate(more))
          else stream.end()
        }
        more()
      })
      const forward = await PortForward.open(client, POD)
      t.after(() => forward.close())
      const { stream } = await forward.connect(8080)
      await once(stream, 'readable')
      // While another connection gets responses, this one writes no more: all buffers in between are full.
      const other = await PortForward.open(client, POD)
      t.after(() => other.close())
      let before = -1
      while (before !== written) {
        before = written
        for (let times = 0; times < 10; times++) await roundTrip(other)
      }
      assert.ok(written < 48 * 1024 * 1024, `${written} bytes were taken for a reader of none`)
      stream.destroy()
    })

    it('close with the connection to the API server', async (t) => {
      const { client, sockets } = await useNode(t, form, echo)
      const forward = await PortForward.open(client, POD)
      const { stream, problem } = await forward.connect(8080)
      const closed = once(stream, 'close')
      sockets.at(-1)?.destroy()
      await closed
      assert.equal(await problem, null)
      await assert.rejects(forward.connect(8080), /the connection is closed/)
    })
  })
}

describe('ports of Pods', () => {
  it('need a right, which the error names', async (t) => {
    const { client } = await useNode(t, 'WebSocket', echo)
    const refusal = await client.upgrade({ path: '/x', protocol: 'other', headers: {} }).then(
      () => assert.fail('it was not refused'),
      (error: unknown) => error,
    )
    assert.ok(refusal instanceof KubeError && isStatus(refusal, 403))
    assert.doesNotMatch(refusal.message, /secret-token/)
    await assert.rejects(PortForward.open(client, { namespace: 'shop', pod: 'refused' }), /403 .*cannot create/)
  })
})
