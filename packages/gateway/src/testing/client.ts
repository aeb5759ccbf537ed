import { connect, type Socket } from 'node:net'

/** The response that a connection received, parsed just enough to compare it. */
export interface RawResponse {
  status: number
  /** Lower-case names; repeated ones are joined by ', '. */
  headers: Record<string, string>
  body: string
  /** The response as received, head and body. */
  text: string
}

/** Sends bytes as they are and reads until the peer closes or one whole response is there. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<RawResponse> {
  const text = await exchangeRaw(port, bytes, (received) => isWholeResponse(received))
  return parseResponse(text)
}

/** Sends a plain HTTP/1.1 request. */
export function request(
  port: number,
  options: { method?: string; path?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<RawResponse> {
  const { method = 'GET', path = '/', headers = {}, body = '' } = options
  const lines = { host: 'test.example', connection: 'close', ...headers }
  const length = body === '' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`)
  return sendRaw(port, `${method} ${path} HTTP/1.1\r\n${head.join('')}${length}\r\n${body}`)
}

/** The bytes that arrive until `isDone` or the end of the connection. */
export function exchangeRaw(
  port: number,
  bytes: string | Buffer,
  isDone: (received: string) => boolean,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, '127.0.0.1')
    let received = ''
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
      if (!isDone(received)) return
      socket.destroy()
      resolve(received)
    })
    socket.on('end', () => {
      socket.destroy()
      resolve(received)
    })
    socket.on('error', (error) => (received === '' ? reject(error) : resolve(received)))
    socket.write(bytes)
  })
}

export function parseResponse(text: string): RawResponse {
  const end = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value
  }
  const rest = text.slice(end + 4)
  const body = headers['transfer-encoding'] === 'chunked' ? unchunk(rest) : rest
  return { status: Number(statusLine.split(' ')[1]), headers, body, text }
}

function isWholeResponse(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const response = parseResponse(text)
  if (response.status < 200) return false
  const length = response.headers['content-length']
  if (length !== undefined) return text.length - end - 4 >= Number(length)
  return response.headers['transfer-encoding'] === 'chunked' && /(^|\r\n)0\r\n(.*\r\n)*\r\n$/.test(text.slice(end + 4))
}

function unchunk(text: string): string {
  let body = ''
  for (let at = 0; at < text.length;) {
    const lineEnd = text.indexOf('\r\n', at)
    const size = Number.parseInt(text.slice(at, lineEnd), 16)
    if (!(size > 0)) break
    body += text.slice(lineEnd + 2, lineEnd + 2 + size)
    at = lineEnd + 4 + size
  }
  return body
}
