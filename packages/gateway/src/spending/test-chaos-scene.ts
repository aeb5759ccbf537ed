import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { connectRedis } from '../stores/redis/connect.ts'
import type { PostgresServer } from '../stores/testing/postgres-server.ts'
import type { RedisServer } from '../stores/testing/redis-server.ts'
import { request } from '../testing/client.ts'
import { type Program, useConfigFile, useProgram } from '../testing/process.ts'
import { httpConfig, useOrigin } from '../testing/scene.ts'

/** The cost of a call in billionths of a dollar. */
export const CENT = 10_000_000

const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
const usage = { prompt_tokens: 1, completion_tokens: 1000, total_tokens: 1001 }

/** A provider that takes some milliseconds for each call. */
async function useProvider(t: TestContext) {
  return useOrigin(t, (seen, response) => {
    const { model } = JSON.parse(seen.body) as { model: string }
    const text = JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model, choices, usage })
    setTimeout(() => response.setHeader('content-type', 'application/json').end(text), 5 + (seen.body.length % 7) * 10)
  })
}

/** A module that sets the clock of a gateway: an hour behind, and an hour ahead once the file `step` is there. */
const CLOCK = `
const { existsSync } = process.getBuiltinModule('node:fs')
const real = Date.now
let isAhead = false
Date.now = () => {
  isAhead ||= existsSync(process.env.CLOCK_STEP)
  return real() + (isAhead ? 3_600_000 : -3_600_000)
}
`

interface ChaosScene {
  redis: RedisServer
  postgres: PostgresServer
  /** The amount of the budget of the key, and of that of the route, in US dollars. */
  usd: number
}

/** Gateways that share keys and ledger in PostgreSQL, and budgets of a key and of a route in Redis. */
export async function useChaos(t: TestContext, { redis, postgres, usd }: ChaosScene) {
  const origin = await useProvider(t)
  const policies = {
    apiKeyAuthentication: { store: {} },
    budget: { limits: [{ name: 'everybody', usd, per: 'Month' }] },
    backend: { prices: { models: [{ model: 'call-*', rates: { input: 0, output: 10 } }], table: 'None' } },
  }
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const config = {
    ...httpConfig([{ policies, backends: [{ ai: { provider } }] }]),
    config: {
      ...{ stateDir: 'state', workers: 2, keys: {}, ledger: {} },
      stores: {
        redis: { url: `redis://127.0.0.1:${redis.port}`, timeout: '5s' },
        postgres: postgres.config('chaos'),
      },
    },
  }
  /** Starts a gateway with a state folder of its own, or with that of a gateway which has ended. */
  const start = async (file = useConfigFile(t, config).file, env: Record<string, string> = {}) => {
    const program = await useProgram(t, { args: ['-f', file], env })
    return { program, file }
  }
  const startWithWrongClock = async () => {
    const { file, folder } = useConfigFile(t, config)
    mkdirSync(join(folder, 'clock'))
    const [step, module] = [join(folder, 'clock', 'step'), join(folder, 'clock', 'clock.mjs')]
    writeFileSync(module, CLOCK)
    const started = await start(file, { NODE_OPTIONS: `--import ${module}`, CLOCK_STEP: step })
    return { ...started, stepClock: () => writeFileSync(step, '') }
  }
  return { origin, start, startWithWrongClock }
}

export async function createKey({ admin }: Program, usd: number): Promise<string> {
  const headers = { 'x-portico-same-origin': '1', 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'bot', budgets: [{ usd, per: 'Lifetime' }] })
  const answer = await fetch(`${admin}/api/keys`, { method: 'POST', headers, body })
  return ((await answer.json()) as { secret: string }).secret
}

/** Sends a call whose model is its own, so that the ledger tells of it; the status is 0 when no whole response came. */
export async function send(program: Program, key: string, model: string): Promise<number> {
  const messages = [{ role: 'user', content: 'hi' }]
  try {
    const { status } = await request(program.port(), {
      ...{ method: 'POST', path: '/v1/chat/completions' },
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, max_tokens: 1000, messages }),
    })
    return status
  } catch {
    return 0
  }
}

export interface BudgetSums {
  spent: number
  reserved: number
}

/** Reads what each budget has spent and reserved; null while the server is away. */
export function useSums(t: TestContext, { settings }: RedisServer): () => Promise<BudgetSums[] | null> {
  const client = connectRedis(settings)
  t.after(() => client.close())
  return async () => {
    try {
      const keys = await client.call(['KEYS', 'portico:budget:*'])
      const shares = (Array.isArray(keys) ? keys : []).filter(
        (key) => typeof key === 'string' && !key.endsWith(':leases'),
      )
      const sums: BudgetSums[] = []
      for (const share of shares) {
        const fields = await client.call(['HMGET', String(share), 's', 'r'])
        const [spent, reserved] = Array.isArray(fields) ? fields.map(Number) : []
        sums.push({ spent: spent ?? 0, reserved: reserved ?? 0 })
      }
      return sums
    } catch {
      return null
    }
  }
}
