import { Socket } from 'node:net'
import type { ClientConfig, Notification } from 'pg'
import Client from 'pg/lib/client.js'
import type { PostgresSettings } from './postgres-settings.ts'

/** A row by column. PostgreSQL sends all numbers beyond 32 bits as text. */
export type Row = Readonly<Record<string, unknown>>

interface ConnectionOptions {
  /** Closes the connection, also while it is being opened. */
  readonly signal: AbortSignal
  /** Takes the payload of each notification. */
  readonly notified?: (notification: Notification) => void
  /** Called once when the connection ends, whoever ended it. */
  readonly ended?: () => void
}

/**
 * One connection to PostgreSQL. Statements run one after the other. A connection on which a statement took too long is
 * closed, because its answer may still come.
 */
export class PostgresConnection {
  readonly #client: Client
  readonly #socket: Socket
  readonly #timeoutMs: number
  #isClosed = false

  private constructor(settings: PostgresSettings, socket: Socket) {
    this.#timeoutMs = settings.timeoutMs
    this.#socket = socket
    this.#client = new Client(configOf(settings, socket))
    // Statements that are under way get the error too.
    this.#client.on('error', () => this.close())
  }

  /** Connects; throws within the time limit of the settings. */
  static async open(
    settings: PostgresSettings,
    { signal, notified, ended }: ConnectionOptions,
  ): Promise<PostgresConnection> {
    signal.throwIfAborted()
    const socket = new Socket()
    const connection = new PostgresConnection(settings, socket)
    const client = connection.#client
    const abort = (): void => connection.close()
    signal.addEventListener('abort', abort)
    socket.once('close', () => {
      signal.removeEventListener('abort', abort)
      connection.close()
      ended?.()
    })
    if (notified !== undefined) client.on('notification', notified)
    try {
      await within(settings.timeoutMs, 'connecting', client.connect())
      await connection.query(limitsOf(settings.timeoutMs))
    } catch (error) {
      connection.close()
      throw new Error(problemOf(error, settings), { cause: error })
    }
    return connection
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  /** Runs a statement; throws when it fails, or takes longer than the time limit. */
  async query(text: string, values: readonly unknown[] = [], timeoutMs = this.#timeoutMs): Promise<readonly Row[]> {
    if (this.#isClosed) throw new Error('the connection to PostgreSQL was closed')
    // Without values, a text may have several statements.
    const query = values.length === 0 ? this.#client.query<Row>(text) : this.#client.query<Row>(text, [...values])
    try {
      return (await within(timeoutMs, 'a statement', query)).rows
    } catch (error) {
      if (!isRefusal(error)) this.close()
      throw error
    }
  }

  /**
   * Runs statements as one transaction, each of which may take the time limit. The connection is closed when one fails, which
   * ends the transaction.
   */
  async transaction<Result>(
    { begin = 'BEGIN', timeoutMs }: { begin?: string; timeoutMs: number },
    run: () => Promise<Result>,
  ): Promise<Result> {
    try {
      await this.query(`${begin}; SET LOCAL statement_timeout = ${timeoutMs}`)
      const result = await run()
      await this.query('COMMIT')
      return result
    } catch (error) {
      this.close()
      throw error
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    // The server sees the end of the connection and ends the session; nobody waits for its answer.
    void this.#client.end().catch(() => {})
    this.#socket.destroySoon()
    setTimeout(() => this.#socket.destroy(), LINGER_MS).unref()
  }
}

/**
 * The limits of the server. A statement that waits for a lock goes on when its client has gone, so the statements of a
 * client that tries again and again would use up the connections of the server.
 */
function limitsOf(timeoutMs: number): string {
  return `SET statement_timeout = ${timeoutMs}; SET idle_in_transaction_session_timeout = ${IDLE_MS}`
}

function configOf(settings: PostgresSettings, socket: Socket): ClientConfig {
  const { host, port, user, database, isTls, ca, password } = settings
  // The library reads settings that are not here from the environment; the config alone decides.
  for (const name of ['PGOPTIONS', 'PGREPLICATION']) delete process.env[name]
  return {
    ...{ host, port, user, database, application_name: 'portico', client_encoding: 'UTF8' },
    // An empty text would be replaced by that of the environment.
    password: () => password,
    ssl: isTls && { rejectUnauthorized: true, ...(ca !== null && { ca }) },
    stream: () => socket,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
  }
}

/** Rejects when the promise takes too long. */
async function within<Result>(ms: number, what: string, promise: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`PostgreSQL: ${what} took longer than ${ms} ms`)), ms)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether the server refused the statement; the connection can be used again then. */
function isRefusal(error: unknown): boolean {
  return (error as { severity?: unknown }).severity !== undefined
}

/** Why there is no connection, with the server in question. */
function problemOf(error: unknown, { host, port }: PostgresSettings): string {
  const found = error as NodeJS.ErrnoException
  // An address list that failed as a whole has no message of its own.
  const text = found.message || (found.code ?? 'no connection')
  const why = text.includes('does not support SSL')
    ? 'the server has no TLS; sslmode=disable connects without it'
    : text
  return `PostgreSQL at ${host}:${port}: ${why}`
}

const KEEPALIVE_MS = 15_000
/** A gateway that stopped in the middle of a transaction holds its locks no longer than this. */
const IDLE_MS = 10_000
const LINGER_MS = 500
