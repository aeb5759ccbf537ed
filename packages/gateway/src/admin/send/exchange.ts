import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { type ReachableListener, hostOf } from './reachable-listener.ts'
import type { SendCall } from './send-view.ts'

/** The head of an answer, and its body as it comes. */
export interface Answer {
  readonly status: number
  readonly headers: [string, string][]
  readonly body: Readable
}

/** Sends it; the head of the answer. Redirects are answers like others. */
export function exchange(socket: Socket, listener: ReachableListener, call: SendCall): Promise<Answer> {
  return listener.isHttp2 ? exchangeHttp2(socket, listener, call) : exchangeHttp1(socket, listener, call)
}

function exchangeHttp1(socket: Socket, listener: ReachableListener, call: SendCall): Promise<Answer> {
  const { method, path, host = hostOf(listener), headers = [], body } = call
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
    sent.once('response', (response: IncomingMessage) =>
      resolve({ status: response.statusCode ?? 0, headers: pairsOf(response.rawHeaders), body: response }),
    )
    sent.once('error', reject)
    // A client that cannot go on with it lets it be.
    sent.once('upgrade', (_response, upgraded: Socket) =>
      upgraded.destroy(new Error('the response switched protocols')),
    )
    sent.end(body)
  })
}

async function exchangeHttp2(socket: Socket, listener: ReachableListener, call: SendCall): Promise<Answer> {
  // Loaded lazily, because few listeners require HTTP/2.
  const { connect } = await import('node:http2')
  const { method, path, host = hostOf(listener), headers = [], body } = call
  const session = connect(`https://${host}`, { createConnection: () => socket, settings: { enablePush: false } })
  const byName = Map.groupBy(headers, ([name]) => name.toLowerCase())
  const fields: OutgoingHttpHeaders = {
    // Names may be those of an object's own members.
    ...Object.fromEntries(Array.from(byName, ([name, lines]) => [name, lines.map(([, value]) => value)])),
    ':method': method,
    ':path': path,
    ':authority': host,
    ':scheme': 'https',
  }
  if (body !== undefined) fields['content-length'] = String(Buffer.byteLength(body))
  return new Promise((resolve, reject) => {
    session.on('error', reject)
    const sent = session.request(fields)
    sent.once('response', (head: IncomingHttpHeaders, _flags: number, raw?: string[]) =>
      resolve({
        status: Number(head[':status'] ?? 0),
        headers: pairsOf(raw ?? []).filter(([name]) => !name.startsWith(':')),
        body: sent,
      }),
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, at) => [(raw[2 * at] ?? '').toLowerCase(), raw[2 * at + 1] ?? ''])
}

const MAX_HEAD = 64 * 1024
