import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { formatHostPort } from '../address.ts'
import { type ReachableListener, hostOf, serverNameOf } from './reachable-listener.ts'
import type { SendCall } from './send-view.ts'

/** A connection to a listener of this process: the address is the listener's own, whatever a call says. */
export async function dial(listener: ReachableListener, signal: AbortSignal): Promise<Socket> {
  const socket = connect({ host: listener.address, port: listener.port })
  if (listener.proxyHeader !== null) socket.write(OWN_CONNECTION[listener.proxyHeader])
  await ready(socket, 'connect', signal)
  return socket
}

/** TLS on that connection, where the listener has it. */
export async function secure(
  socket: Socket,
  listener: ReachableListener,
  call: SendCall,
  signal: AbortSignal,
): Promise<Socket> {
  if (!listener.isTls) return socket
  const servername = serverNameOf(call.host ?? hostOf(listener))
  const secured = connectTls({
    socket,
    ALPNProtocols: [listener.isHttp2 ? 'h2' : 'http/1.1'],
    // The server is this process, so its certificate need not be verified.
    rejectUnauthorized: false,
    ...(servername !== undefined && { servername }),
  })
  await ready(secured, 'secureConnect', signal)
  return secured
}

/** `ip:port` of this end, as the record of the request names its client. */
export function sourceOf(socket: Socket): string {
  return formatHostPort(socket.localAddress ?? '', socket.localPort ?? 0)
}

async function ready(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  const stop = (): void => void socket.destroy(new Error('stopped'))
  signal.addEventListener('abort', stop)
  socket.once('close', () => signal.removeEventListener('abort', stop))
  socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('the listener does not answer')))
  await new Promise<void>((resolve, reject) => {
    socket.once(event, resolve)
    socket.once('error', reject)
    if (signal.aborted) stop()
  })
  socket.setTimeout(0)
  // From here on failures come as an end of the answer.
  socket.on('error', () => {})
}

/** PROXY headers without addresses, which mean that the proxy itself is the client. */
const OWN_CONNECTION: Readonly<Record<'V1' | 'V2', Buffer>> = {
  V1: Buffer.from('PROXY UNKNOWN\r\n', 'latin1'),
  V2: Buffer.from('\r\n\r\n\0\r\nQUIT\n\x20\0\0\0', 'latin1'),
}
const CONNECT_MS = 5000
