import { once } from 'node:events'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { parseResponse, type RawResponse } from './client.ts'

/** A TLS connection to loopback, ready to use; rejects when the handshake fails. */
export async function openTls(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ...options })
  await once(socket, 'secureConnect')
  return socket
}

/** One GET over a TLS connection of its own. */
export async function requestTls(
  port: number,
  options: ConnectionOptions & { path?: string; headers?: Record<string, string> },
): Promise<RawResponse> {
  const { path = '/', headers = {}, ...tls } = options
  const socket = await openTls(port, tls)
  const fields = { host: tls.servername ?? 'a', connection: 'close', ...headers }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  let text = ''
  for await (const chunk of socket) text += (chunk as Buffer).toString('latin1')
  return parseResponse(text)
}
