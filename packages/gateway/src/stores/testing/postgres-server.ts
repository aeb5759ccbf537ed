import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { PostgresConnection, type Row } from '../postgres/connection.ts'
import type { PostgresSettings } from '../postgres/postgres-settings.ts'

/** The newest installed server; null without one. */
const PROGRAMS = findPrograms()

/** The reason why tests with a PostgreSQL server are skipped; false where they can run. */
export const noPostgres = PROGRAMS === null ? 'there is no PostgreSQL server on this machine' : false

const USER = 'portico'
const PASSWORD = 'only-for-tests'

/** A server in a folder of its own, on a port of loopback. */
export class PostgresServer {
  readonly port: number
  readonly #folder: string
  #child: ChildProcess | null = null
  #schemas = 0

  private constructor(folder: string, port: number) {
    this.#folder = folder
    this.port = port
  }

  /** Creates and starts a server; the caller ends it with `remove`. */
  static async create(): Promise<PostgresServer> {
    const server = new PostgresServer(mkdtempSync(join(tmpdir(), 'portico-postgres-')), await freePort())
    server.#initialize()
    await server.start()
    return server
  }

  /** The settings of a schema that no other test has. */
  settings(fields: Partial<PostgresSettings> = {}): PostgresSettings {
    this.#schemas += 1
    return {
      ...{ host: '127.0.0.1', port: this.port, isTls: false, ca: null, user: USER, password: PASSWORD },
      ...{ database: 'postgres', schema: `test_${this.#schemas}`, timeoutMs: 10_000, ...fields },
    }
  }

  /** The fields of `config.stores.postgres`. */
  config(schema: string): object {
    const url = `postgres://${USER}@127.0.0.1:${this.port}/postgres?sslmode=disable`
    return { url, password: PASSWORD, schema, timeout: '3s' }
  }

  /** Runs statements as the owner of the server. */
  async run(text: string): Promise<readonly Row[]> {
    const connection = await PostgresConnection.open(this.settings(), { signal: new AbortController().signal })
    try {
      return await connection.query(text)
    } finally {
      connection.close()
    }
  }

  /** Starts the server, and waits until it answers. */
  async start(args: readonly string[] = []): Promise<void> {
    const own = ['-D', this.#folder, '-h', '127.0.0.1', '-p', String(this.port), '-k', '']
    // A killed process keeps what it has written; only the death of the machine would lose it.
    const quick = ['-c', 'fsync=off', '-c', 'max_connections=50', '-c', 'shared_buffers=16MB']
    while (this.#child === null) {
      const child = spawn(join(PROGRAMS ?? '', 'postgres'), [...own, ...quick, ...args], {
        stdio: 'ignore',
        ...ownUser(),
      })
      const ended = new AbortController()
      child.once('exit', () => ended.abort())
      // Processes of a killed server hold its memory for a moment; until then, no other one starts.
      if (await this.#isReady(ended.signal)) this.#child = child
      else await pause(50)
    }
  }

  /** Restarts the server so that it accepts TLS with a certificate for its clients. */
  async restartWithTls({ cert, key }: { cert: string; key: string }): Promise<void> {
    await this.stop()
    const { uid, gid } = ownUser()
    for (const [name, text] of Object.entries({ 'server.crt': cert, 'server.key': key })) {
      const file = join(this.#folder, name)
      writeFileSync(file, text, { mode: 0o600 })
      if (uid !== undefined && gid !== undefined) chownSync(file, uid, gid)
    }
    await this.start(['-c', 'ssl=on'])
  }

  /** Ends the server; its data stay. `SIGKILL` gives it no time to finish anything. */
  async stop(signal: 'SIGINT' | 'SIGKILL' = 'SIGINT'): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null) return
    const ended = once(child, 'exit')
    this.#signal(child, 'SIGCONT')
    if (signal === 'SIGKILL') this.#signal(child, 'SIGKILL')
    child.kill(signal)
    await ended
  }

  /** Stops all processes of the server: connections stay open, and nobody answers. */
  pause(): void {
    if (this.#child !== null) this.#signal(this.#child, 'SIGSTOP')
  }

  resume(): void {
    if (this.#child !== null) this.#signal(this.#child, 'SIGCONT')
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #initialize(): void {
    const file = `${this.#folder}.password`
    writeFileSync(file, PASSWORD)
    const { uid, gid } = ownUser()
    if (uid !== undefined && gid !== undefined) for (const path of [this.#folder, file]) chownSync(path, uid, gid)
    const args = ['-D', this.#folder, '-U', USER, '-A', 'scram-sha-256', '--pwfile', file]
    const made = spawnSync(
      join(PROGRAMS ?? '', 'initdb'),
      [...args, '-E', 'UTF8', '--no-locale', '--no-sync'],
      ownUser(),
    )
    rmSync(file)
    if (made.status !== 0) throw new Error(`initdb failed: ${String(made.stderr)}`)
  }

  /** Signals the server, and then the processes of its connections. */
  #signal(child: ChildProcess, signal: NodeJS.Signals): void {
    const { pid } = child
    if (pid === undefined) return
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number)
    for (const each of [pid, ...children.filter((one) => one > 0)]) {
      try {
        process.kill(each, signal)
      } catch {
        // The process has ended.
      }
    }
  }

  /** Waits until the server answers; false when it ends before. */
  async #isReady(ended: AbortSignal): Promise<boolean> {
    while (!ended.aborted) {
      try {
        await this.run('SELECT 1')
        return !ended.aborted
      } catch {
        await pause(20)
      }
    }
    return false
  }
}

/** The server does not run as root. */
function ownUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string): number => Number(spawnSync('id', [flag, 'nobody']).stdout)
  return { uid: idOf('-u'), gid: idOf('-g') }
}

function findPrograms(): string | null {
  const folder = '/usr/lib/postgresql'
  if (process.platform !== 'linux' || !existsSync(folder)) return null
  const versions = readdirSync(folder).toSorted((one, other) => Number(other) - Number(one))
  const programs = versions.map((version) => join(folder, version, 'bin'))
  return programs.find((path) => existsSync(join(path, 'initdb')) && existsSync(join(path, 'postgres'))) ?? null
}

/** A free port. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
