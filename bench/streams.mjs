// Clients of streams: `node streams.mjs <url> <request file> <concurrent streams> <streams per client> <ms between the starts
// of two streams of a client>`. Prints one line of JSON: complete streams, incomplete ones, and the duration.
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

const [url, file, lanes, each, betweenMs] = process.argv.slice(2)
const { hostname, port } = new URL(url)
const { request, last } = JSON.parse(readFileSync(file, 'utf8'))
const STUCK_MS = 30_000
// Streams that start together would stay in step and send their events in bursts.
const SPREAD_MS = Math.max(200, Number(betweenMs))

const begun = performance.now()
const outcomes = await Promise.all(Array.from({ length: Number(lanes) }, (_, lane) => runLane(lane)))
const whole = outcomes.reduce((sum, count) => sum + count, 0)
const seconds = (performance.now() - begun) / 1000
console.log(JSON.stringify({ whole, broken: Number(lanes) * Number(each) - whole, seconds }))
process.exit(0)

/** Runs the streams of one connection; returns how many were complete. */
async function runLane(lane) {
  await delay((SPREAD_MS * lane) / Number(lanes))
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: hostname, noDelay: true })
    let whole = 0
    let begun = 0
    let head = ''
    let tail = ''
    socket.setEncoding('latin1')
    socket.setTimeout(STUCK_MS, () => socket.destroy())
    socket.on('error', () => socket.destroy())
    socket.on('close', () => resolve(whole))
    const begin = () => {
      begun = performance.now()
      socket.write(request)
    }
    socket.on('connect', begin)
    socket.on('data', (text) => {
      if (head.length < 12) head += text.slice(0, 12)
      tail = (tail + text).slice(-400)
      if (!tail.endsWith('\r\n0\r\n\r\n')) return
      if (head.startsWith('HTTP/1.1 200') && tail.includes(last)) whole++
      if (!tail.includes(last) || whole === Number(each)) return socket.destroy()
      head = ''
      tail = ''
      const left = begun + Number(betweenMs) - performance.now()
      if (left > 0) setTimeout(begin, left)
      else begin()
    })
  })
}
