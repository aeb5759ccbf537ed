// A minimal MCP server over Streamable HTTP: `node mcp.mjs <port>`. It responds with a stream of one event, like
// servers of the official SDK. Anything but a POST gets a small reply.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { answerTo } from '../tool-call.mjs'

const port = Number(process.argv[2])
const OTHER = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
const NO_STREAM = 'HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n'
const ACCEPTED = 'HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n'

createServer({ noDelay: true }, (socket) => {
  let received = ''
  socket.on('error', () => socket.destroy())
  socket.setEncoding('latin1').on('data', (text) => {
    received += text
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd === -1) return
    const head = received.slice(0, headEnd)
    const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)
    const bodyEnd = headEnd + 4 + length
    if (received.length < bodyEnd) return
    const body = received.slice(headEnd + 4, bodyEnd)
    received = received.slice(bodyEnd)
    socket.write(reply(head, body))
  })
}).listen(port, '127.0.0.1', 4096)

function reply(head, body) {
  if (head.startsWith('GET /mcp')) return NO_STREAM
  if (!head.startsWith('POST ')) return OTHER
  const message = JSON.parse(body)
  const answer = answerTo(message)
  if (answer === null) return ACCEPTED
  const session = message.method === 'initialize' ? `mcp-session-id: ${randomUUID()}\r\n` : ''
  const event = `event: message\ndata: ${answer}\n\n`
  const chunk = `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n0\r\n\r\n`
  const kind = 'content-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n'
  return `HTTP/1.1 200 OK\r\n${kind}${session}\r\n${chunk}`
}
