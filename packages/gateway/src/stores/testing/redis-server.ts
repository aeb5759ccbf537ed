import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { RedisSettings } from '../redis/connect.ts'

/** Why tests with a Redis server are skipped; false where they can run. */
export const noRedis =
  spawnSync('redis-server', ['--version']).status === 0 ? false : 'there is no redis-server on this machine'

export interface RedisServer {
  readonly port: number
  readonly settings: RedisSettings
  start(): Promise<void>
  /** Ends the server; its data stay in its folder. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Stops or continues the process: connections stay open, and nobody answers. */
  pause(): void
  resume(): void
}

/** A server in a folder of its own, on a free port of loopback; it writes every change to disk. */
export async function useRedis(t: TestContext, args: readonly string[] = []): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-redis-'))
  const port = await freePort()
  let child: ChildProcess | null = null
  const stop = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    const ending = child
    child = null
    if (ending === null) return
    const ended = once(ending, 'exit')
    ending.kill('SIGCONT')
    ending.kill(signal)
    await ended
  }
  const start = async (): Promise<void> => {
    const own = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', '']
    const durable = ['--appendonly', 'yes', '--appendfsync', 'always']
    child = spawn('redis-server', [...own, ...durable, ...args], { stdio: 'ignore' })
    while (!(await accepts(port))) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.after(async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  const settings: RedisSettings = {
    ...{ host: '127.0.0.1', port, database: 0, isTls: false, ca: null, username: '', password: '' },
    ...{ timeoutMs: 1_000, prefix: 'portico', failureMode: 'Closed' },
  }
  return { port, settings, start, stop, pause: () => child?.kill('SIGSTOP'), resume: () => child?.kill('SIGCONT') }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
