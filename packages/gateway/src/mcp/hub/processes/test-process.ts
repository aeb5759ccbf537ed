import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startHub } from '../../../testing/hub.ts'
import { parseLogFilter } from '../../../telemetry/log/log-filter.ts'
import { createLogger } from '../../../telemetry/log/logger.ts'
import type { JsonObject } from '@portico/http/json'
import { makeMessage, type RpcMessage } from '../../protocol.ts'
import type { LinkCall, TargetFailure } from '../../transport.ts'
import type { ProcessLink, ProcessSpec } from '../../hub.ts'

/** Parts of tests with real processes behind a hub. */

const SERVER = fileURLToPath(new URL('../../../testing/mcp/stdio-server.mjs', import.meta.url))

export function fakeServer(more: Partial<ProcessSpec> = {}, ...flags: string[]): ProcessSpec {
  return {
    key: 'backend/mcp/section/fake',
    name: 'fake',
    cmd: process.execPath,
    args: [SERVER, ...flags],
    env: {},
    clearEnv: true,
    cwd: null,
    processes: 'PerSession',
    maxProcesses: 8,
    idleTimeoutMs: 60_000,
    maxMessageBytes: 16 * 1024 * 1024,
    startTimeoutMs: 30_000,
    beginTimeoutMs: 50_000,
    ...more,
  }
}

/** A cheap server, which answers every request with `{}`. */
export function cheapServer(more: Partial<ProcessSpec> = {}): ProcessSpec {
  const script = `while read -r line; do id=\${line#*'"id":'}; id=\${id%%,*}; echo '{"jsonrpc":"2.0","id":'"$id"',"result":{}}'; done`
  return fakeServer({ cmd: 'sh', args: ['-c', script], ...more })
}

export function useHub(t: TestContext, workers = 1) {
  const filter = parseLogFilter('debug')
  if (!filter.ok) throw new Error(filter.problem)
  const lines: string[] = []
  const logger = createLogger({ filter: filter.value, format: 'text', write: (line) => lines.push(line) })
  const hub = startHub(logger.child('mcp'), workers)
  t.after(() => hub.main.close())
  return { ...hub, logged: () => lines.join('') }
}

interface Answer {
  messages: RpcMessage[]
  failure: TargetFailure | null
}

let lastId = 0

export function request(method: string, params: JsonObject = {}, id: string | number = ++lastId): RpcMessage {
  return makeMessage({ jsonrpc: '2.0', id, method, params })
}

export function notification(method: string, params: JsonObject = {}): RpcMessage {
  return makeMessage({ jsonrpc: '2.0', method, params })
}

/** Sends a request and waits for everything that it brings. */
export function ask(link: ProcessLink, message: RpcMessage): Promise<Answer> & { call: LinkCall } {
  const { sink, answered } = recorder()
  return Object.assign(answered, { call: link.request(message, sink) })
}

export function recorder() {
  const messages: RpcMessage[] = []
  const over = Promise.withResolvers<Answer>()
  const sink = {
    message(message: RpcMessage): boolean {
      messages.push(message)
      return true
    },
    closed: () => over.resolve({ messages, failure: null }),
    failed: (failure: TargetFailure) => over.resolve({ messages, failure }),
  }
  return { sink, messages, answered: over.promise }
}

/** The result of a request that must not fail. */
export async function result(link: ProcessLink, message: RpcMessage): Promise<JsonObject> {
  const { messages, failure } = await ask(link, message)
  if (failure !== null) throw new Error(`${failure.code}: ${failure.message}`)
  return messages.at(-1)!.value.result as JsonObject
}

export async function failure(link: ProcessLink, message: RpcMessage): Promise<TargetFailure> {
  const answer = await ask(link, message)
  if (answer.failure === null) throw new Error(`no failure: ${JSON.stringify(answer.messages.at(-1)!.value)}`)
  return answer.failure
}

export function tell(link: ProcessLink, message: RpcMessage): Promise<TargetFailure | null> {
  return new Promise((resolve) => link.tell(message, resolve))
}

export async function begin(link: ProcessLink, version = '2025-11-25'): Promise<JsonObject> {
  const begun = await result(link, request('initialize', { protocolVersion: version, capabilities: {} }))
  await tell(link, notification('notifications/initialized'))
  return begun
}

/** Returns the process id that the process reports. */
export async function pidOf(link: ProcessLink): Promise<number> {
  return Number((await result(link, request('pid'))).pid)
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
