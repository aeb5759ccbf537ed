import type { Duplex } from 'node:stream'
import type { KubeClient } from './kube-client.ts'
import { KubeError } from './kube-error.ts'
import { openWebSocket } from './open-websocket.ts'
import { SpdyClientSession } from './spdy/client-session.ts'

const PROTOCOL = 'portforward.k8s.io'
const MOST_PROBLEM_BYTES = 4096

export interface PodPlace {
  namespace: string
  pod: string
}

/** A port of the Pod's loopback, over the API server and the kubelet. */
export interface ForwardedConnection {
  stream: Duplex
  /** What the node said went wrong, such as that nothing listens there; null when all went well. Comes when it is over. */
  problem: Promise<string | null>
}

/**
 * Connections to ports of one Pod, as `kubectl port-forward` makes them: SPDY in a WebSocket, which all that stand before an API
 * server let through, or SPDY itself, where the server is older. It needs the right to create `pods/portforward`.
 */
export class PortForward {
  /** What it is carried by. */
  readonly form: 'WebSocket' | 'SPDY'
  readonly #session: SpdyClientSession
  #count = 0

  private constructor(form: PortForward['form'], session: SpdyClientSession) {
    this.form = form
    this.#session = session
  }

  static async open(client: KubeClient, { namespace, pod }: PodPlace, signal?: AbortSignal): Promise<PortForward> {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/portforward`
    try {
      const socket = await openWebSocket(client, { path, protocol: `SPDY/3.1+${PROTOCOL}`, signal })
      return new PortForward('WebSocket', new SpdyClientSession(socket, Buffer.alloc(0)))
    } catch (error) {
      // Whatever was answered: another right is asked for here, and whoever stands before the server may know no other.
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

  /** Two streams: one with the bytes, one for the node to say what went wrong. */
  async connect(port: number): Promise<ForwardedConnection> {
    this.#count += 1
    const headers = { port: String(port), requestid: String(this.#count) }
    const problems = await this.#session.open({ ...headers, streamtype: 'error' })
    // Nothing is said on it from this end.
    problems.end()
    const problem = textOf(problems)
    const stream = await this.#session.open({ ...headers, streamtype: 'data' })
    return { stream, problem }
  }

  close(): void {
    this.#session.close()
  }
}

function textOf(stream: Duplex): Promise<string | null> {
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
