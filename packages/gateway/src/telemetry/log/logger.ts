import { countFault, describeFault } from '@portico/http/faults'
import { severities } from './log-filter.ts'
import type { LogFilter, LogLevel } from './log-filter.ts'
import { escapeControls, quoted, textValue } from './quote.ts'
import { createTimestamp } from '../wall-time.ts'

export type LogFormat = 'text' | 'json'
export type LogFields = Readonly<Record<string, unknown>>
export type LogMethod = (message: string, fields?: LogFields) => void

export interface Logger extends Readonly<Record<LogLevel, LogMethod>> {
  readonly module: string
  /** Cheap enough to ask before building fields. */
  enabled(level: LogLevel): boolean
}

export interface RootLogger {
  /** The same module always gives the same logger. */
  child(module: string): Logger
  filter(): LogFilter
  /** Takes effect at once for every logger handed out before. */
  setFilter(filter: LogFilter): void
}

export interface LoggerOptions {
  filter: LogFilter
  format: LogFormat
  /** Gets one whole line with its line feed. */
  write: (line: string) => void
  /** Milliseconds since the epoch. */
  now?: () => number
}

export function createLogger({ filter, format, write, now = Date.now }: LoggerOptions): RootLogger {
  let current = filter
  const timestamp = createTimestamp(now)
  const line = format === 'json' ? jsonLine : textLine
  const modules = new Map<string, { logger: Logger; applyFilter: () => void }>()

  return {
    child(module) {
      let known = modules.get(module)
      if (known === undefined) {
        known = createModule(module)
        modules.set(module, known)
      }
      return known.logger
    },
    filter: () => current,
    setFilter(next) {
      current = next
      for (const { applyFilter } of modules.values()) applyFilter()
    },
  }

  function createModule(module: string) {
    let threshold: number = severities[current.levelFor(module)]
    const at =
      (level: LogLevel): LogMethod =>
      (message, fields) => {
        if (severities[level] <= threshold) write(line({ time: timestamp(), level, module, message, fields }))
      }
    const logger: Logger = {
      module,
      enabled: (level) => severities[level] <= threshold,
      error: at('error'),
      warn: at('warn'),
      info: at('info'),
      debug: at('debug'),
      trace: at('trace'),
    }
    const applyFilter = () => {
      threshold = severities[current.levelFor(module)]
    }
    return { logger, applyFilter }
  }
}

/** For what cannot happen: the request is answered, and the exception is logged with its place. */
export function bugReport(log: Logger): (error: unknown) => void {
  return (error) => {
    log.error('internal error', { scope: 'request', error: describeFault(error) })
    countFault('request')
  }
}

interface Entry {
  time: string
  level: LogLevel
  module: string
  message: string
  fields: LogFields | undefined
}

function textLine({ time, level, module, message, fields }: Entry): string {
  let line = `${time}\t${level}\t${module}\t${escapeControls(message)}`
  for (const [key, value] of Object.entries(fields ?? {})) {
    if (value === undefined) continue
    const plain = toPlain(value)
    line += ` ${textValue(key)}=${textValue(typeof plain === 'string' ? plain : (safeJson(plain) ?? String(plain)))}`
  }
  return `${line}\n`
}

function jsonLine({ time, level, module, message, fields }: Entry): string {
  let line = `{"level":"${level}","time":"${time}","scope":${quoted(module)},"message":${quoted(message)}`
  for (const [key, value] of Object.entries(fields ?? {})) {
    if (value === undefined) continue
    const plain = toPlain(value)
    const json = safeJson(plain)
    // A field never replaces what the line says of itself.
    line += `,${quoted(RESERVED.has(key) ? `${key}_` : key)}:${json === null ? quoted(String(plain)) : escapeControls(json)}`
  }
  return `${line}}\n`
}

const RESERVED = new Set(['level', 'time', 'scope', 'message'])

function toPlain(value: unknown): unknown {
  if (value instanceof Error) return describeError(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function' ? String(value) : value
}

function describeError(error: Error): string {
  const own = `${error.name}: ${error.message}`
  return error.cause instanceof Error && error.cause !== error ? `${own} (${error.cause.message})` : own
}

function safeJson(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null
  } catch {
    // A cycle, or a toJSON that throws: a log call must never fail its caller.
    return null
  }
}
