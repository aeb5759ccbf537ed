// A minimal origin of streamed responses: `node stream.mjs <port> <ms between events>`, 0 for all at once. Anything but a chat gets a
// small reply.
import { createServer } from 'node:net'
import { PATHS, streamEvents } from '../chat.mjs'

const [port, paceMs] = process.argv.slice(2).map(Number)
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const OTHER = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
const LAST_CHUNK = '0\r\n\r\n'
const chunksByPath = new Map(Object.entries(PATHS).map(([format, path]) => [path, streamEvents(format).map(chunk)]))

createServer({ noDelay: true }, (socket) => {
  let received = ''
  let timer
  socket.on('error', () => socket.destroy())
  socket.on('close', () => clearInterval(timer))
  socket.setEncoding('latin1').on('data', (text) => {
    received += text
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd === -1) return
    const length = Number(/content-length: *(\d+)/i.exec(received.slice(0, headEnd))?.[1] ?? 0)
    if (received.length < headEnd + 4 + length) return
    const chunks = chunksByPath.get(received.split(' ', 2)[1] ?? '')
    received = ''
    if (chunks === undefined) socket.write(OTHER)
    else timer = stream(socket, chunks)
  })
}).listen(port, '127.0.0.1', 4096)

function stream(socket, chunks) {
  socket.write(HEAD)
  if (paceMs === 0) return void socket.write(Buffer.concat([...chunks, Buffer.from(LAST_CHUNK)]))
  let sent = 0
  const timer = setInterval(() => {
    socket.write(chunks[sent++])
    if (sent < chunks.length) return
    clearInterval(timer)
    socket.write(LAST_CHUNK)
  }, paceMs)
  return timer
}

function chunk(event) {
  return Buffer.from(`${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`)
}
