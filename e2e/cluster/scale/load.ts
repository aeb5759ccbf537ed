import { Agent, request } from 'node:http'

/**
 * Run inside of a bed: asks at a constant rate until its standard input ends, half on connections of their own and half on
 * kept ones. A kept connection that was closed before its request got there is replaced once, as every client does.
 */
export interface LoadOrder {
  address: string
  /** Requests a second. */
  rate: number
  /** Asked in turn. */
  targets: readonly { host: string; path: string }[]
}

export interface LoadResult {
  asked: number
  replaced: number
  /** By what went wrong. */
  failures: Record<string, number>
}

const TICK_MS = 10
const LIMIT_MS = 10_000

const order = JSON.parse(process.argv[2] ?? '{}') as LoadOrder
const kept = new Agent({ keepAlive: true })
const result: LoadResult = { asked: 0, replaced: 0, failures: {} }
const running = new Set<Promise<void>>()
const startedAt = performance.now()

const timer = setInterval(() => {
  const due = ((performance.now() - startedAt) / 1000) * order.rate
  while (result.asked < due) begin(result.asked++)
}, TICK_MS)
process.stdin.on('end', () => void end()).resume()

async function end(): Promise<void> {
  clearInterval(timer)
  await Promise.all(running)
  kept.destroy()
  process.stdout.write(JSON.stringify(result))
}

function begin(index: number): void {
  const run = ask(index, true).finally(() => running.delete(run))
  running.add(run)
}

async function ask(index: number, mayReplace: boolean): Promise<void> {
  const outcome = await answerTo(index)
  if (outcome === 'unused' && mayReplace) {
    result.replaced++
    return ask(index, false)
  }
  if (outcome !== null) result.failures[outcome] = (result.failures[outcome] ?? 0) + 1
}

/** Null for what it should be; `unused` when a kept connection ended without a word. */
function answerTo(index: number): Promise<string | null> {
  const target = order.targets[index % order.targets.length] ?? { host: '', path: '/' }
  const signal = AbortSignal.timeout(LIMIT_MS)
  const isKept = Math.floor(index / order.targets.length) % 2 === 0
  return new Promise((resolve) => {
    const asked = request(
      {
        host: order.address,
        path: target.path,
        headers: { host: target.host, ...(!isKept && { connection: 'close' }) },
        agent: isKept ? kept : false,
        signal,
      },
      (response) => {
        response.on('error', (error) => resolve(`body: ${error.message}`))
        response.on('end', () => resolve(response.statusCode === 200 ? null : `status ${response.statusCode}`)).resume()
      },
    )
    asked.on('error', (error: NodeJS.ErrnoException) => {
      resolve(asked.reusedSocket && error.code === 'ECONNRESET' ? 'unused' : (error.code ?? error.message))
    })
    asked.end()
  })
}
