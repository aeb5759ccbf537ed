import { createHash, randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import type { KubeClient } from './kube-client.ts'
import { KubeError } from './kube-error.ts'
import { WebSocketStream } from './websocket-stream.ts'

/** The GUID that servers append to the client's key (RFC 6455 section 1.3). */
const SALT = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/**
 * Opens a WebSocket with a subprotocol to the API server. Throws a KubeError when the server declines. The library `ws`
 * cannot do that: it rejects the subprotocol of port forwarding, `SPDY/3.1+portforward.k8s.io`, because of its slash.
 */
export async function openWebSocket(
  client: KubeClient,
  { path, protocol, signal }: { path: string; protocol: string; signal?: AbortSignal | undefined },
): Promise<Duplex> {
  const key = randomBytes(16).toString('base64')
  const { socket, head, headers } = await client.upgrade({
    method: 'GET',
    path,
    protocol: 'websocket',
    headers: { 'sec-websocket-version': '13', 'sec-websocket-key': key, 'sec-websocket-protocol': protocol },
    ...(signal && { signal }),
  })
  const expected = createHash('sha1')
    .update(key + SALT)
    .digest('base64')
  if (headers['sec-websocket-accept'] === expected && headers['sec-websocket-protocol'] === protocol)
    return new WebSocketStream(socket, head)
  socket.destroy()
  throw new KubeError(`GET ${path}`, {
    status: 101,
    message: `server did not accept the WebSocket subprotocol ${protocol}`,
  })
}
