import { countFault, describeFault } from '@portico/http/faults'
import { severities, type LogFilter, type LogLevel } from './log-filter.ts'
import { createTimestamp } from '../../state/clock.ts'

export type LogFormat = 'text' | 'json'
export type LogFields = Readonly<Record<string, unknown>>
type LogMethod = (message: string, fields?: LogFields) => void

export interface Logger extends Readonly<Record<LogLevel, LogMethod>> {
  readonly module: string
  /** Whether lines of this level are written. Call it before you build expensive fields. */
  enabled(level: LogLevel): boolean
}

export interface RootLogger {
  /** Returns the logger of a module; always the same object for one module. */
  child(module: string): Logger
  filter(): LogFilter
  /** Sets the levels; loggers that were returned before follow at once. */
  setFilter(filter: LogFilter): void
}

interface LoggerOptions {
  filter: LogFilter
  format: LogFormat
  /** Receives one whole line with its line feed. */
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

/** Returns a function that logs and counts an unexpected exception in the work for a request. */
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
    // A field must not replace one of the fixed keys of the line.
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

/** Formats the value of a `key=value` pair: unchanged when it is plain, otherwise as a JSON string on one line. */
export function textValue(value: string): string {
  return value.length > 0 && !NOT_PLAIN.test(value) ? value : quoted(value)
}

/** Formats a JSON string in which no character can break the line, move the cursor or change the text direction. */
export function quoted(value: string): string {
  return NOT_PLAIN_JSON.test(value) ? escapeControls(JSON.stringify(value)) : `"${value}"`
}

/** Escapes the characters that could break the line; spaces and quotes stay. */
export function escapeControls(text: string): string {
  return BREAKS_LINE.test(text) ? text.replace(EVERY_BREAK, toUnicodeEscape) : text
}

// Anything but printable ASCII without space and double quote.
const NOT_PLAIN = /[^\x21\x23-\x7e]/
// Anything but printable ASCII without double quote and backslash.
const NOT_PLAIN_JSON = /[^\x20\x21\x23-\x5b\x5d-\x7e]/
// Control bytes, the separators that some viewers take for a new line, and bidirectional overrides.
const BREAKS_LINE = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/
const EVERY_BREAK = new RegExp(BREAKS_LINE.source, 'g')

function toUnicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
