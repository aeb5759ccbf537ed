import { once } from 'node:events'
import { type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2'
import { connect } from 'node:net'

/** The request that a test client sends. */
export interface Ask {
  path: string
  method: 'GET' | 'POST'
  headers: Readonly<Record<string, string>>
  body: string
}

/** A request under way, as its client sees it. */
export interface Sight {
  /** Part of the response body has arrived. */
  readonly hasHalf: boolean
  /** Resolves to one line that sums up the response, once it has ended. */
  readonly over: Promise<string>
}

export function askHttp1(port: number, { path, method, headers, body }: Ask): Sight {
  let text = ''
  let isReset = false
  const socket = connect(port, '127.0.0.1')
  const length = body === '' ? '' : `content-length: ${body.length}\r\n`
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join('')}${length}\r\n${body}`)
  socket.on('error', () => (isReset = true))
  const over = new Promise<string>((resolve) => {
    const told = (): void => resolve(told1(text, isReset))
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (isWhole(text)) told()
    })
    socket.on('close', told)
  }).finally(() => socket.destroy())
  return {
    get hasHalf() {
      return text.includes('half')
    },
    over,
  }
}

function isWhole(text: string): boolean {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  if (/^HTTP\/1.1 (1|204)/.test(head) || rest.length === 0) return false
  const length = /^content-length: (\d+)/im.exec(head)?.[1]
  const body = text.slice(head.length + 4)
  if (length !== undefined) return body.length >= Number(length)
  return /^transfer-encoding: chunked/im.test(head) && /(^|\r\n)0\r\n\r\n$/.test(body)
}

function told1(text: string, isReset: boolean): string {
  const status = /^HTTP\/1.1 (\d+)/.exec(text)?.[1]
  if (status === undefined) return isReset ? 'reset without an answer' : 'closed without an answer'
  if (status === '101') return `101, then ${isReset ? 'reset' : 'closed'}`
  return isWhole(text) ? `${status}${errorIn(text)}` : `${status}, cut`
}

/** LLM and MCP clients get the error inside the body. */
function errorIn(text: string): string {
  if (!text.startsWith('HTTP/1.1 2') && !text.startsWith('200')) return ''
  return text.includes('"error"') ? ', whole, with an error in it' : ', whole'
}

export function askHttp2(port: number, { path, method, headers, body }: Ask): Sight {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  const { upgrade, connection: _, ...plain } = headers
  let text = ''
  const over = (async () => {
    if (upgrade === undefined) {
      const stream = session.request({ ':path': path, ':method': method, ...plain }, { endStream: body === '' })
      if (body !== '') stream.end(body)
      return told2(stream, false, (chunk) => (text += chunk))
    }
    // Extended CONNECT (RFC 8441) needs the server's leave.
    await once(session, 'remoteSettings')
    const tunnel = { ':method': 'CONNECT', ':protocol': upgrade, ':scheme': 'http', ':authority': '127.0.0.1' }
    const stream = session.request({ ...tunnel, ':path': path, ...plain }, { endStream: false })
    stream.on('end', () => stream.end())
    return told2(stream, true, (chunk) => (text += chunk))
  })().finally(() => session.destroy())
  return {
    get hasHalf() {
      return text.includes('half')
    },
    over,
  }
}

function told2(stream: ClientHttp2Stream, isTunnel: boolean, take: (chunk: string) => void): Promise<string> {
  let text = ''
  let status = 0
  let grpc: string | undefined
  stream.on('error', () => {})
  stream.on('response', (fields) => {
    status = fields[':status'] ?? 0
    grpc = fields['grpc-status']?.toString()
  })
  stream.on('trailers', (fields) => (grpc = fields['grpc-status']?.toString()))
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1')
    take(chunk.toString('latin1'))
  })
  return new Promise<string>((resolve) => {
    stream.on('close', () => {
      const code = stream.rstCode ?? 0
      const name = Object.entries(constants).find(([key, value]) => value === code && CODE.test(key))?.[0]
      if (isTunnel && status === 200 && code === 0) return resolve('200, then END_STREAM')
      if (code !== 0)
        return resolve(`${status === 0 ? '' : `${status}, `}${(name ?? '').replace('NGHTTP2_', 'RST_STREAM ')}`)
      resolve(grpc === undefined ? `${status}${errorIn(status === 200 ? `200${text}` : '')}` : `grpc-status ${grpc}`)
    })
  })
}

const CODE = /^NGHTTP2_(NO_ERROR|PROTOCOL_ERROR|INTERNAL_ERROR|CANCEL|REFUSED_STREAM|STREAM_CLOSED|CONNECT_ERROR)$/
