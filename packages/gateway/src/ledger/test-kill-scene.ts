import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { DatabaseSync } from 'node:sqlite'
import { request } from '../testing/client.ts'
import { type Program, startProgram, useConfigFile } from '../testing/process.ts'
import { httpConfig, until, useOrigin } from '../testing/scene.ts'
import { amountOf } from '../state/spend-word.ts'

/** The cost of a call in billionths of a dollar. */
export const CENT = 10_000_000

/** The number of times that an entry of a model is in the ledger. */
type StoredCalls = ReadonlyMap<string, number>

interface KillOptions {
  /** `config.workers`. */
  workers: number
  /** `config.stores`. */
  stores?: object
}

/** A provider whose answers take some milliseconds. Every second call is a stream, whose end comes in pieces. */
async function useProvider(t: TestContext) {
  return useOrigin(t, (seen, response) => {
    const { model, stream } = JSON.parse(seen.body) as { model: string; stream: boolean }
    const usage = { prompt_tokens: 1, completion_tokens: 1000, total_tokens: 1001 }
    const answer = { id: '1', created: 1, model }
    setTimeout(
      () => {
        if (!stream) {
          const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
          const text = JSON.stringify({ ...answer, object: 'chat.completion', choices, usage })
          return response.setHeader('content-type', 'application/json').end(text)
        }
        const record = (fields: object) =>
          `data: ${JSON.stringify({ ...answer, object: 'chat.completion.chunk', ...fields })}\n\n`
        const choice = (delta: object, finish: string | null) => [{ index: 0, delta, finish_reason: finish }]
        response.setHeader('content-type', 'text/event-stream')
        response.write(record({ choices: choice({ role: 'assistant', content: 'hello' }, null) }))
        response.write(record({ choices: choice({}, 'stop') }))
        response.write(record({ choices: [], usage }))
        // The end of the body comes a moment after the last record, as from many providers.
        response.write('data: [DONE]\n\n')
        setTimeout(() => response.end(), 2)
      },
      2 + (seen.body.length % 5) * 3,
    )
  })
}

/** A gateway with a ledger and a budget, which the test kills and starts again. */
export async function useKills(t: TestContext, { workers, stores = {} }: KillOptions) {
  const origin = await useProvider(t)
  const policies = {
    budget: { limits: [{ name: 'everybody', usd: 10_000, per: 'Lifetime' }] },
    backend: { prices: { models: [{ model: 'call-*', rates: { input: 0, output: 10 } }], table: 'None' } },
  }
  const config = useConfigFile(t, {
    ...httpConfig([
      { policies, backends: [{ ai: { provider: { openai: {}, host: '127.0.0.1', port: origin.port } } }] },
    ]),
    config: { stateDir: 'state', workers, ledger: {}, stores },
  })
  const folder = join(config.folder, 'state')
  let program: (Program & { stop(): Promise<void> }) | null = null
  t.after(() => program?.stop())
  let serial = 0
  /** The models of all calls whose end a client saw. */
  const complete: string[] = []

  const start = async (): Promise<Program> =>
    (program = await startProgram({ args: ['-f', config.file], env: { OPENAI_API_KEY: 'k' } }))

  const call = async (port: number): Promise<void> => {
    const isStream = serial % 2 === 1
    const model = `call-${serial++}`
    const answer = await request(port, {
      ...{ method: 'POST', path: '/v1/chat/completions' },
      body: JSON.stringify({ model, stream: isStream, messages: [{ role: 'user', content: 'hi' }] }),
    }).catch(() => null)
    if (answer?.status === 200 && isComplete(answer.body, isStream)) complete.push(model)
  }

  return {
    folder,
    complete,
    start,
    calls: () => serial,
    /** Sends calls, and kills the gateway in the middle of them. */
    async kill({ calls, atOnce = 20 }: { calls: number; atOnce?: number }): Promise<void> {
      const victim = await start()
      const [before, port] = [complete.length, victim.port()]
      const { child } = victim
      let left = calls
      const work = async (): Promise<void> => {
        while (left-- > 0 && !child.killed) await call(port)
      }
      const all = Promise.all(Array.from({ length: atOnce }, work))
      await until(() => complete.length >= before + calls / 2)
      child.kill('SIGKILL')
      await Promise.all([all, victim.ended])
    },
    /** Starts the gateway, which delivers what killed gateways have left, and stops it. */
    async drain(): Promise<Program> {
      const last = await start()
      last.child.kill('SIGTERM')
      await last.ended
      return last
    },
    /** How often each call is in the SQLite file. */
    stored: (): StoredCalls => storedIn(join(folder, 'ledger.db')),
    /** The amount that the budget in shared memory has spent, as the file of a gateway that has ended says. */
    spent: () => spentIn(join(folder, 'budgets.json')),
  }
}

/** Clients take a stream for complete at its last record, and others at the end of the body. */
function isComplete(body: string, isStream: boolean): boolean {
  if (isStream) return body.includes('data: [DONE]')
  try {
    return JSON.parse(body) !== null
  } catch {
    return false
  }
}

function storedIn(file: string): StoredCalls {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
  try {
    const rows = database.prepare('SELECT requested_model AS model, count(*) AS count FROM ledger GROUP BY 1').all()
    return new Map(rows.map(({ model, count }) => [String(model), Number(count)]))
  } finally {
    database.close()
  }
}

function spentIn(file: string): number {
  const { tables } = JSON.parse(readFileSync(file, 'utf8')) as { tables: Record<string, { slots?: string[][] }> }
  const words = Object.values(tables).flatMap(({ slots = [] }) => slots.map(([, , state]) => BigInt(state ?? '0')))
  return words.reduce((sum, word) => sum + amountOf(word), 0)
}
