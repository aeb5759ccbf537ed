import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { formatHostPort } from '../address.ts'
import { type Door, hostOf, serverNameOf } from './door.ts'
import type { SendCall } from './send-view.ts'

/** A connection to a listener of this process: the address is the listener's own, whatever the call says. */
export async function dial(door: Door, call: SendCall, signal: AbortSignal): Promise<Socket> {
  const { address: host, port } = door
  const servername = serverNameOf(call.host ?? hostOf(door))
  const socket = door.isTls
    ? connectTls({
        host,
        port,
        ALPNProtocols: ['http/1.1'],
        // At the other end is this process: whom its certificate names is for other clients to ask.
        rejectUnauthorized: false,
        ...(servername !== undefined && { servername }),
      })
    : connect({ host, port })
  const stop = (): void => void socket.destroy(new Error('stopped'))
  signal.addEventListener('abort', stop)
  socket.once('close', () => signal.removeEventListener('abort', stop))
  socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error('the listener does not answer')))
  await new Promise<void>((resolve, reject) => {
    socket.once(door.isTls ? 'secureConnect' : 'connect', resolve)
    socket.once('error', reject)
    if (signal.aborted) stop()
  })
  socket.setTimeout(0)
  return socket
}

/** `ip:port` of this end, as the record of the request names its client. */
export function sourceOf(socket: Socket): string {
  return formatHostPort(socket.localAddress ?? '', socket.localPort ?? 0)
}

/** Sends it; the head of the answer. Redirects are answers like others. */
export function exchange(socket: Socket, door: Door, call: SendCall): Promise<IncomingMessage> {
  const { method, path, host = hostOf(door), headers = [], body } = call
  const sent: ClientRequest = request({
    createConnection: () => socket,
    method,
    path,
    headers: [
      ...['host', host],
      ...headers.flat(),
      ...(body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))]),
      ...['connection', 'close'],
    ],
    maxHeaderSize: MAX_HEAD,
  })
  return new Promise((resolve, reject) => {
    sent.once('response', resolve)
    sent.once('error', reject)
    // A client that cannot go on with it lets it be.
    sent.once('upgrade', (_response, upgraded: Socket) => upgraded.destroy(new Error('the protocol was changed')))
    sent.end(body)
  })
}

export function headersOf({ rawHeaders }: IncomingMessage): [string, string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, at) => [
    (rawHeaders[2 * at] ?? '').toLowerCase(),
    rawHeaders[2 * at + 1] ?? '',
  ])
}

const CONNECT_MS = 5000
const MAX_HEAD = 64 * 1024
