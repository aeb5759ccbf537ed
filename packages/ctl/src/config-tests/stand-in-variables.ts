import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Returns the environment variables that a config names, without secrets: numbers and switches keep their values, and
 * stand-ins replace all other values.
 */
export function standInVariables(path: string, env: Environment): Record<string, string> {
  const text = textOf(path)
  const named = Object.entries(env).filter(
    ([name, value]) => value !== undefined && new RegExp(`(?<![\\w])${RegExp.escape(name)}(?![\\w])`).test(text),
  )
  return Object.fromEntries(named.map(([name, value = '']) => [name, PLAIN.test(value) ? value : `stand-in-${name}`]))
}

function textOf(path: string): string {
  try {
    if (!statSync(path).isDirectory()) return readFileSync(path, 'utf8')
    return readdirSync(path, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ya?ml|json)$/.test(name))
      .map((name) => readFileSync(join(path, name), 'utf8'))
      .join('\n')
  } catch {
    // A config that cannot be read is no problem here, because loading it reports the problem.
    return ''
  }
}

/** Matches values that cannot be secrets: ports, switches and durations. */
const PLAIN = /^(?:\d{1,5}|\d{1,4}(?:ms|s|m|h)|true|false)$/
