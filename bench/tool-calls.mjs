// Clients that call a tool in long sessions: `node tool-calls.mjs <url> <sessions>`. Prints `ready` once all are open. Each
// line of input is a run: calls per second and session (0: as fast as possible), and seconds. Prints one line of JSON:
// successful calls, failed ones, the duration, and latencies in µs.
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { percentile } from './load.mjs'
import { INITIALIZE, INITIALIZED, MCP_PATH, REVISION, toolCall } from './tool-call.mjs'

const [url, sessions] = process.argv.slice(2)
const { hostname, port, host } = new URL(url)
const STUCK_MS = 10_000

const opened = await Promise.all(Array.from({ length: Number(sessions) }, openSession))
console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const [pace, seconds] = line.split(' ').map(Number)
  console.log(JSON.stringify(await run(pace, seconds)))
}
process.exit(0)

async function run(pace, seconds) {
  const intervalMs = pace > 0 ? 1000 / pace : 0
  // A session outlives its connection, because servers close connections that are idle between two runs.
  const ready = opened.filter((session) => session !== null)
  const lanes = await Promise.all(ready.map(connectLane))
  const begun = performance.now()
  const until = begun + seconds * 1000
  const latencies = []
  let failed = opened.length - ready.length
  await Promise.all(lanes.map(callOnAndOn))
  for (const { close } of lanes) close()
  const took = (performance.now() - begun) / 1000
  latencies.sort((a, b) => a - b)
  const [p50, p99] = [percentile(latencies, 50), percentile(latencies, 99)]
  return { requests: latencies.length, failed, seconds: took, rate: latencies.length / took, p50, p99 }

  async function callOnAndOn(lane, index) {
    let next = begun + (intervalMs * index) / lanes.length
    while (next < until && performance.now() < until) {
      const wait = next - performance.now()
      if (wait > 1) await delay(wait)
      next += intervalMs
      const sent = performance.now()
      const answer = await lane.post(toolCall(++lane.session.calls))
      if (answer?.includes('"result"')) latencies.push((performance.now() - sent) * 1000)
      else failed++
      if (answer === null) return
    }
  }
}

/** Opens a session; null when that fails. */
async function openSession() {
  const session = { headers: '', calls: 0 }
  const lane = await connectLane(session)
  const first = await lane.post(INITIALIZE)
  const id = /^mcp-session-id: *(\S+)/im.exec(first ?? '')?.[1]
  if (id === undefined) return null
  session.headers = `mcp-session-id: ${id}\r\nmcp-protocol-version: ${REVISION}\r\n`
  await lane.post(INITIALIZED)
  lane.close()
  return session
}

/** Opens a connection for one session. */
function connectLane(session) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(port), host: hostname, noDelay: true })
    let received = ''
    let take = () => {}
    const lane = {
      session,
      close: () => socket.destroy(),
      /** Returns the whole response, with its head; null when the connection was lost. */
      post(body) {
        if (socket.destroyed) return Promise.resolve(null)
        const fixed = 'content-type: application/json\r\naccept: application/json, text/event-stream\r\n'
        const length = `content-length: ${body.length}\r\n`
        socket.write(`POST ${MCP_PATH} HTTP/1.1\r\nhost: ${host}\r\n${fixed}${session.headers}${length}\r\n${body}`)
        return new Promise((done) => (take = done))
      },
    }
    socket.setEncoding('latin1').setTimeout(STUCK_MS, () => socket.destroy())
    socket.on('error', reject)
    socket.on('close', () => take(null))
    socket.on('connect', () => resolve(lane))
    socket.on('data', (text) => {
      received += text
      if (!isWhole(received)) return
      const answer = received
      received = ''
      take(answer)
    })
  })
}

function isWhole(text) {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return false
  const head = text.slice(0, headEnd)
  if (/^transfer-encoding: *chunked/im.test(head)) return text.endsWith('\r\n0\r\n\r\n')
  return text.length >= headEnd + 4 + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
}
