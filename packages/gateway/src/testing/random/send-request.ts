import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import type { RandomRequest } from './random-request.ts'

/** The outcome of a request: a status, or how it ended without one. */
interface Outcome {
  end: number | 'cut' | 'hung'
  /** The MCP session that the response names. */
  session: string | null
}

export function sendRequest(port: number, request: RandomRequest, limitMs: number): Promise<Outcome> {
  return request.version === 'HTTP/2' ? overHttp2(port, request, limitMs) : overHttp1(port, request, limitMs)
}

function overHttp1(port: number, request: RandomRequest, limitMs: number): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const finish = (end: Outcome['end']): void => {
      clearTimeout(late)
      socket.destroy()
      resolve({ end, session: /^mcp-session-id: (.*)\r$/im.exec(text)?.[1] ?? null })
    }
    const status = (): Outcome['end'] => (text === '' ? 'cut' : Number(text.split(' ')[1]))
    const late = setTimeout(() => finish('hung'), limitMs)
    socket.on('data', (chunk: Buffer) => {
      if (text.length < MOST_TEXT) text += chunk.toString('latin1')
      const isTunnel = text.startsWith('HTTP/1.1 101') || (request.method === 'CONNECT' && text.includes('\r\n\r\n'))
      if (isTunnel || (request.isCancelled && text.includes('\r\n\r\n'))) finish(status())
    })
    socket.on('error', () => finish(status()))
    socket.on('close', () => finish(status()))
    const isUpgrade = request.headers.some(([name]) => name === 'upgrade')
    const lines = request.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    const body = Buffer.from(request.body)
    const framing = body.length === 0 ? '' : `content-length: ${body.length}\r\n`
    const connection = `connection: ${isUpgrade ? 'upgrade, close' : 'close'}\r\n`
    const target = request.path.replaceAll(/[^\x21-\x7e]/g, encodeURIComponent)
    const host = given(request, 'host') === undefined ? `host: 127.0.0.1:${port}\r\n` : ''
    socket.write(`${request.method} ${target} HTTP/1.1\r\n${host}${connection}${lines}${framing}\r\n`, 'latin1')
    socket.write(body)
  })
}

function overHttp2(port: number, request: RandomRequest, limitMs: number): Promise<Outcome> {
  return new Promise((resolve) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`)
    let status: number | null = null
    let mcpSession: string | null = null
    const finish = (end: Outcome['end']): void => {
      clearTimeout(late)
      session.destroy()
      resolve({ end, session: mcpSession })
    }
    const late = setTimeout(() => finish('hung'), limitMs)
    session.on('error', () => finish('cut'))
    session.on('close', () => finish(status ?? 'cut'))
    const isConnect = request.method === 'CONNECT'
    const headers: Record<string, string | string[]> = isConnect
      ? { ':method': 'CONNECT', ':authority': 'a.test:80' }
      : {
          ':method': request.method,
          ':path': request.path,
          ':authority': given(request, 'host') ?? `127.0.0.1:${port}`,
        }
    for (const [name, value] of request.headers) if (!CONNECTION.has(name)) headers[name] = value
    try {
      const stream = session.request(headers, { endStream: request.body === '' && !isConnect })
      stream.on('response', (given) => {
        status = given[':status'] ?? 0
        const named = given['mcp-session-id']
        if (typeof named === 'string') mcpSession = named
        if (request.isCancelled || isConnect) finish(status)
      })
      stream.on('error', () => {})
      stream.resume()
      stream.on('close', () => finish(stream.rstCode === 0 && status !== null ? status : 'cut'))
      if (request.body !== '') stream.end(request.body)
    } catch {
      // The client itself refuses to send such a request.
      finish('cut')
    }
  })
}

function given({ headers }: RandomRequest, name: string): string | undefined {
  return headers.find(([each]) => each === name)?.[1]
}

const CONNECTION = new Set(['upgrade', 'expect', 'host'])
const MOST_TEXT = 65_536
