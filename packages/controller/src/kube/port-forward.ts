import type { Duplex } from 'node:stream'
import type { KubeClient } from './kube-client.ts'
import { KubeError } from './kube-error.ts'
import { openWebSocket } from './open-websocket.ts'
import { SpdyClientSession } from './spdy/client-session.ts'

const PROTOCOL = 'portforward.k8s.io'
const MOST_PROBLEM_BYTES = 4096

interface PodReference {
  namespace: string
  pod: string
}

/** A connection to a port on the Pod's loopback, through the API server and the kubelet. */
export interface ForwardedConnection {
  stream: Duplex
  /** Resolves when the connection is over: with the error of the node, such as a closed port, or null. */
  problem: Promise<string | null>
}

/**
 * Connections to ports of one Pod, like `kubectl port-forward`: SPDY in a WebSocket, which proxies let through, or plain
 * SPDY for older servers. Needs the right to create `pods/portforward`.
 */
export class PortForward {
  /** The transport of the connection. */
  readonly form: 'WebSocket' | 'SPDY'
  readonly #session: SpdyClientSession
  #count = 0

  private constructor(form: PortForward['form'], session: SpdyClientSession) {
    this.form = form
    this.#session = session
  }

  static async open(client: KubeClient, { namespace, pod }: PodReference, signal?: AbortSignal): Promise<PortForward> {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/portforward`
    try {
      const socket = await openWebSocket(client, { path, protocol: `SPDY/3.1+${PROTOCOL}`, signal })
      return new PortForward('WebSocket', new SpdyClientSession(socket, Buffer.alloc(0)))
    } catch (error) {
      // SPDY is tried after any error response: it needs another right, and a proxy may not support WebSockets.
      if (!(error instanceof KubeError) || error.status === 0) throw error
    }
    const { socket, head } = await client.upgrade({
      path,
      protocol: 'SPDY/3.1',
      headers: { 'x-stream-protocol-version': PROTOCOL },
      ...(signal && { signal }),
    })
    return new PortForward('SPDY', new SpdyClientSession(socket, head))
  }

  /** Opens two streams: one for the bytes, one on which the node reports errors. */
  async connect(port: number): Promise<ForwardedConnection> {
    this.#count += 1
    const headers = { port: String(port), requestid: String(this.#count) }
    const problems = await this.#session.open({ ...headers, streamtype: 'error' })
    // The client sends nothing on the error stream.
    problems.end()
    const problem = readMessage(problems)
    const stream = await this.#session.open({ ...headers, streamtype: 'data' })
    return { stream, problem }
  }

  close(): void {
    this.#session.close()
  }
}

function readMessage(stream: Duplex): Promise<string | null> {
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    if (text.length < MOST_PROBLEM_BYTES) text += chunk.toString('utf8')
  })
  return new Promise((resolve) => {
    const end = (): void => resolve(text.trim() === '' ? null : text.trim())
    stream.on('end', end)
    stream.on('close', end)
  })
}
