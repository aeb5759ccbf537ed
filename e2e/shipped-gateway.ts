import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { eventually, startProgram } from '../packages/gateway/src/testing/process.ts'

/**
 * A gateway as it ships: a process of the installed package where the run has installed one (`PORTICO_INSTALLED`), else
 * of this checkout's build. Tests see what an operator sees: ports and the log.
 */
export interface ShippedGateway {
  /** The port of a bind, by its position in the config. */
  port(index?: number): number
  /** Requests that have ended, in order. */
  readonly records: readonly ShippedRecord[]
  /** How many requests have ended, once the log, which is written a moment later, has all of them. */
  ended(): Promise<number>
  /** Lines of the log with the level `error`. */
  readonly bugs: readonly string[]
  /** Resolves when that many requests have ended. */
  finished(count: number): Promise<void>
  /**
   * The first record after the first `known` that fits, once it is there; else the newest one. A request whose client
   * has left may end after the next one has begun, so the newest record need not be the one that is meant.
   */
  recordAfter(known: number, fits: (record: ShippedRecord) => boolean): Promise<ShippedRecord | undefined>
  close(): Promise<void>
}

/** A line of the access log. */
export interface ShippedRecord {
  status: number
  reason: string
  error: string | null
  llm: { usage: ShippedUsage; isEstimated: boolean; attempts: string } | null
}

interface ShippedUsage {
  input?: number
  output?: number
  cacheRead?: number
  cacheWrite?: number
  reasoning?: number
}

interface ShippedOptions {
  /** Files of the config are relative to this folder. */
  dir?: string
}

export async function useShippedGateway(
  t: TestContext,
  config: object,
  options?: ShippedOptions,
): Promise<ShippedGateway> {
  const gateway = await startShippedGateway(config, options)
  t.after(() => gateway.close())
  return gateway
}

export async function startShippedGateway(config: object, { dir }: ShippedOptions = {}): Promise<ShippedGateway> {
  const folder = dir ?? mkdtempSync(join(tmpdir(), 'portico-shipped-'))
  const file = join(folder, 'gateway.json')
  const settings = { workers: 1, logging: { format: 'json', level: 'warn,request=info' } }
  const own = 'config' in config && typeof config.config === 'object' ? config.config : {}
  writeFileSync(file, JSON.stringify({ ...config, config: { ...settings, ...own } }))
  const program = await startProgram({ args: ['-f', file] })
  const lines = () => program.stdout().split('\n').slice(0, -1).map(parseLine)
  const gateway = {
    port: (index?: number) => program.port(index),
    get records() {
      return lines().filter(isRequest).map(recordOf)
    },
    get bugs() {
      return lines().flatMap((line) => (line['level'] === 'error' ? JSON.stringify(line) : []))
    },
    async ended() {
      const count = await countRequests(program.stats)
      await gateway.finished(count)
      return gateway.records.length
    },
    async finished(count: number) {
      await eventually(`${count} requests have ended`, () => gateway.records.length >= count)
    },
    async recordAfter(known: number, fits: (record: ShippedRecord) => boolean) {
      const found = () => gateway.records.slice(known).find(fits)
      await eventually('the record', () => found() !== undefined, RECORD_MS).catch(() => {})
      return found() ?? gateway.records.at(-1)
    },
    async close() {
      await program.stop()
      if (dir === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
  return gateway
}

/** A counter is raised when a request ends, and has no series before the first one. */
async function countRequests(stats: string): Promise<number> {
  const text = await (await fetch(`${stats}/metrics`)).text()
  const counts = text.matchAll(/^portico_requests_total\{.*\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Longer than the log of a busy machine takes; only a test that fails waits for so long. */
const RECORD_MS = 5_000

type LogLine = Record<string, unknown>

function parseLine(line: string): LogLine {
  return JSON.parse(line) as LogLine
}

function isRequest(line: LogLine): boolean {
  return line['scope'] === 'request'
}

function recordOf(line: LogLine): ShippedRecord {
  const isModelCall = line['gen_ai.operation.name'] !== undefined || line['gen_ai.provider.name'] !== undefined
  return {
    status: Number(line['http.status']),
    reason: textAt(line, 'reason') ?? '',
    error: textAt(line, 'error'),
    llm: isModelCall
      ? {
          usage: usageOf(line),
          isEstimated: line['gen_ai.usage.estimated'] === true,
          attempts: textAt(line, 'portico.ai.attempts') ?? '',
        }
      : null,
  }
}

function usageOf(line: LogLine): ShippedUsage {
  const counts = Object.entries(USAGE).map(([name, field]) => [name, line[field]])
  return Object.fromEntries(counts.filter(([, count]) => typeof count === 'number')) as ShippedUsage
}

const USAGE: Readonly<Record<keyof ShippedUsage, string>> = {
  input: 'gen_ai.usage.input_tokens',
  output: 'gen_ai.usage.output_tokens',
  cacheRead: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrite: 'gen_ai.usage.cache_creation.input_tokens',
  reasoning: 'gen_ai.usage.reasoning_tokens',
}

function textAt(line: LogLine, key: string): string | null {
  const value = line[key]
  return typeof value === 'string' ? value : null
}
