import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { AnswerScripts } from './answer-scripts.ts'
import { type BudgetScripts, createBudgetScripts } from './budget-scripts.ts'
import { RedisClient } from './redis-client.ts'

/** A server, as plain data. */
export interface RedisSettings {
  readonly host: string
  readonly port: number
  readonly database: number
  readonly isTls: boolean
  /** Certificates to trust, as PEM; null for those of the system. */
  readonly ca: string | null
  /** Empty for the default user. */
  readonly username: string
  /** Empty when the server needs none. */
  readonly password: string
  readonly timeoutMs: number
  readonly prefix: string
  readonly failureMode: 'Closed' | 'Open'
}

/** Opens a connection on which the scripts are loaded. */
export function connectRedis(
  settings: RedisSettings,
  scripts: BudgetScripts | AnswerScripts = createBudgetScripts(),
): RedisClient {
  const { host, port, isTls, ca, username, password, database, timeoutMs } = settings
  const greeting: string[][] = []
  if (password !== '') greeting.push(['AUTH', ...(username === '' ? [] : [username]), password])
  if (database !== 0) greeting.push(['SELECT', String(database)])
  for (const { text } of Object.values(scripts)) greeting.push(['SCRIPT', 'LOAD', text])
  return new RedisClient({
    greeting,
    timeoutMs,
    connect() {
      if (!isTls) return { socket: connectTcp({ host, port }), ready: 'connect' }
      const socket = connectTls({ host, port, servername: host, ...(ca !== null && { ca }) })
      return { socket, ready: 'secureConnect' }
    },
  })
}
