// Many connections held by one process on the load core.
// `node crowd.mjs idle|slow <port> <count> <path>`; prints `ready`, and on `SIGUSR2` how many are still open.
import { connect } from 'node:net'

const SLOW_READ_EVERY_MS = 500
const OPENING_AT_ONCE = 64

const [mode, port, count, path] = process.argv.slice(2)
const open = new Set()
const slow = mode === 'slow'

process.on('SIGUSR2', () => console.log(`open ${open.size}`))
await Promise.all(Array.from({ length: OPENING_AT_ONCE }, (_, lane) => openLane(lane)))
if (slow) setInterval(() => open.forEach((socket) => socket.resume()), SLOW_READ_EVERY_MS)
else setInterval(() => {}, 60_000)
console.log('ready')

async function openLane(lane) {
  for (let i = lane; i < Number(count); i += OPENING_AT_ONCE) await openOne()
}

// Each connection sends one request, so that it is past its first-request timers and has used its buffers.
function openOne() {
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      open.delete(socket)
      resolve(undefined)
    })
    socket.once('connect', () => socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`))
    socket.on('data', () => {
      open.add(socket)
      // Reads one chunk of at most 64 KiB, then pauses until the next turn.
      if (slow) socket.pause()
      resolve(undefined)
    })
  })
}
