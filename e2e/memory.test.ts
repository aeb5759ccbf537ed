import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { test, type TestContext } from 'node:test'
import { clientCalls, type StreamName, vendorStreams } from '../packages/gateway/src/backends/ai/test-streams.ts'
import type { Origin } from '../packages/gateway/src/testing/origin.ts'
import { eventually, type Program } from '../packages/gateway/src/testing/process.ts'
import { useOrigin } from '../packages/gateway/src/testing/scene.ts'
import { seeded } from '../packages/gateway/src/testing/seeded.ts'
import { liveMemory, useProbedProgram } from './probed-program.ts'

/** The memory of a worker does not grow over 10,000 streams, a third of which are aborted by their clients. */

const WARM_UP = 2000
const STREAMS = 10_000
const ROUND = 2000
const AT_ONCE = 64
const PIECES = 12
const WORD = 'word '
const MOST_HEAP_GROWTH = 2 * 1024 * 1024
const MOST_RESIDENT_GROWTH = 64 * 1024 * 1024

/** Native and translated, in turn. */
const pairs: readonly [client: StreamName, upstream: 'completions' | 'messages' | 'responses'][] = [
  ['completions', 'completions'],
  ['completions', 'messages'],
  ['messages', 'messages'],
  ['messages', 'completions'],
  ['responses', 'responses'],
]

test(`memory is flat over ${STREAMS} streams`, { timeout: 240_000 }, async (t) => {
  const { origin, open } = await usePacedOrigin(t)
  const program = await useModels(t, origin)
  const random = seeded(4)
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  t.after(() => agent.destroy())
  const outcomes = { whole: 0, left: 0 }

  const round = async (count: number) => {
    let started = 0
    const lane = async () => {
      while (started < count) {
        const [client, upstream] = pairs[started++ % pairs.length]!
        const leavesAt = random() < 1 / 3 ? Math.floor(random() * PIECES) : null
        const port = program.port(upstream === 'messages' ? 1 : 0)
        await streamOnce({ agent, port, client, leavesAt })
        outcomes[leavesAt === null ? 'whole' : 'left']++
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
    // The gateway tells the provider that nobody listens any more.
    await eventually('every stream is over', () => open.size === 0)
    return liveMemory(program)
  }

  const before = await round(WARM_UP)
  const later = []
  for (let done = 0; done < STREAMS; done += ROUND) later.push(await round(ROUND))

  const heaps = [before, ...later].map(({ heap }) => `${(heap / 2 ** 20).toFixed(2)} MB`)
  t.diagnostic(`live heap of the worker: ${heaps.join(', ')}; ${outcomes.whole} whole, ${outcomes.left} left`)
  t.diagnostic(
    `resident: ${[before, ...later].map(({ resident }) => `${Math.round(resident / 2 ** 20)} MB`).join(', ')}`,
  )
  assert.ok(outcomes.left > STREAMS / 4, 'many have left')
  assert.ok(later.at(-1)!.heap - before.heap < MOST_HEAP_GROWTH, `live heap grew: ${heaps.join(', ')}`)
  const resident = Math.min(...later.slice(-2).map((memory) => memory.resident))
  assert.ok(resident - before.resident < MOST_RESIDENT_GROWTH, 'resident memory grew')
})

/** A provider whose streams take a while, so that clients can leave in the middle; `open` are those under way. */
async function usePacedOrigin(t: TestContext): Promise<{ origin: Origin; open: Set<object> }> {
  const open = new Set<object>()
  const origin = await useOrigin(t, ({ url }, response) => {
    const { start, begin, piece, end } = vendorStreams[upstreamOf(url)]
    open.add(response)
    response.on('error', () => {})
    response.on('close', () => {
      open.delete(response)
      clearInterval(timer)
    })
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(start + begin)
    let sent = 0
    const timer = setInterval(() => {
      if (sent++ < PIECES) return response.write(piece(WORD))
      clearInterval(timer)
      response.end(end)
    }, 1)
    origin.seen.length = 0
  })
  return { origin, open }
}

function upstreamOf(url: string): StreamName {
  if (url.includes('/messages')) return 'messages'
  return url.includes('/responses') ? 'responses' : 'completions'
}

async function useModels(t: TestContext, origin: Origin): Promise<Program> {
  const bind = (provider: string) => ({
    port: 0,
    address: '127.0.0.1',
    listeners: [
      {
        routes: [
          {
            backends: [
              {
                ai: { provider: { [provider]: {}, host: '127.0.0.1', port: origin.port } },
                policies: { auth: { key: 'k' } },
              },
            ],
          },
        ],
      },
    ],
  })
  return useProbedProgram(t, { binds: [bind('openai'), bind('anthropic')] })
}

/** One stream, read to its end or left at that piece; at 0 as soon as the request is sent. */
async function streamOnce(what: { agent: Agent; port: number; client: StreamName; leavesAt: number | null }) {
  const { agent, port, client, leavesAt } = what
  const call = clientCalls[client]
  const asked = request({ agent, port, host: '127.0.0.1', method: 'POST', path: call.path })
  const closed = new Promise((resolve) => asked.on('close', resolve))
  asked.on('error', () => {})
  asked.end(call.body())
  if (leavesAt === 0) {
    await once(asked, 'finish')
    asked.destroy()
    return closed
  }
  let text = ''
  asked.on('response', (response) => {
    assert.equal(response.statusCode, 200)
    response.on('error', () => {})
    response.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      if (leavesAt !== null && call.textOf(text).length >= leavesAt * WORD.length) response.destroy()
    })
  })
  await closed
  if (leavesAt === null) assert.equal(call.textOf(text), WORD.repeat(PIECES))
}
