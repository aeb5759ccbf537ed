export type LogLevel = 'error' | 'warn' | 'info' | 'debug' | 'trace'

/** Severity of each name; a line is written when its level is not above the threshold of its module. */
export const severities = { off: 0, error: 1, warn: 2, info: 3, debug: 4, trace: 5 } as const

export type Threshold = keyof typeof severities

export interface LogFilter {
  /** The text that was parsed, for showing and for sending to another thread. */
  readonly text: string
  /** The most specific entry wins: `upstream.pool`, then `upstream`, then the level without a module. */
  levelFor(module: string): Threshold
}

type LogFilterResult = { ok: true; value: LogFilter } | { ok: false; problem: string }

/** Parses `info`, `info,upstream=debug` or `request=off`; modules that are not named log at info. */
export function parseLogFilter(text: string): LogFilterResult {
  let fallback: Threshold | null = null
  const levelsByModule = new Map<string, Threshold>()
  for (const part of text.split(',')) {
    const entry = part.trim()
    const equals = entry.indexOf('=')
    const module = equals < 0 ? '' : entry.slice(0, equals).trim()
    const levelText = entry.slice(equals + 1).trim()
    const level = toThreshold(levelText)
    if (level === null) {
      return refuse(
        entry,
        `found level ${JSON.stringify(levelText)}, expected one of ${Object.keys(severities).join(', ')}`,
      )
    }
    if (equals < 0) {
      if (fallback !== null) return refuse(entry, 'a level without a module may be given only once')
      fallback = level
      continue
    }
    if (!MODULE.test(module)) return refuse(entry, 'a module is made of letters, digits, "_", "-" and "."')
    if (levelsByModule.has(module)) return refuse(entry, `module ${module} is given twice`)
    levelsByModule.set(module, level)
  }
  return { ok: true, value: createFilter(text, fallback ?? 'info', levelsByModule) }
}

const MODULE = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i

function createFilter(text: string, fallback: Threshold, levelsByModule: Map<string, Threshold>): LogFilter {
  return {
    text,
    levelFor(module) {
      for (let name = module; ; name = name.slice(0, name.lastIndexOf('.'))) {
        const level = levelsByModule.get(name)
        if (level !== undefined) return level
        if (!name.includes('.')) return fallback
      }
    },
  }
}

function toThreshold(text: string): Threshold | null {
  const lower = text.toLowerCase()
  return Object.hasOwn(severities, lower) ? (lower as Threshold) : null
}

function refuse(entry: string, expected: string): LogFilterResult {
  return { ok: false, problem: `log filter entry ${JSON.stringify(entry)}: ${expected}` }
}
