import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The variables that a config names, with values that are no secrets: numbers and switches stay, other values become
 * stand-ins.
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
    // Loading the config reports the problem.
    return ''
  }
}

/** A port, a switch or a duration is no secret. */
const PLAIN = /^(?:\d{1,5}|\d{1,4}(?:ms|s|m|h)|true|false)$/
