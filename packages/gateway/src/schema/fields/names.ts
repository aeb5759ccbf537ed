import { compileRegex } from '@portico/regex'
import { parseSpiffe } from '../../formats/spiffe.ts'
import { Refusal, scalar } from '../kit.ts'
import type { Schema } from '../kit.ts'
import { string, textual } from './values.ts'

/** Names of things in the config, patterns, and other texts with a grammar of their own. */

export const namePattern = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/

/** The name of an object in the file: a backend, a listener, a route. */
export function objectName() {
  return string(
    { min: 1, max: 63 },
    { pattern: namePattern, expected: 'a name of 1 to 63 letters, digits, `-`, `_` and `.`' },
  )
}

/** The identity of a workload in a mesh. */
export function spiffeId(): Schema<string> {
  return textual((text) => (parseSpiffe(text) === null ? null : text), {
    type: 'SPIFFE ID',
    expected: '`spiffe://<trust domain>/ns/<namespace>/sa/<service account>`',
    json: { type: 'string', minLength: 1, maxLength: 2_048, pattern: '^spiffe://[a-z0-9._-]+/ns/[^/]+/sa/[^/]+$' },
  })
}

/** A pattern in RE2 syntax, so that matching takes linear time. */
export function regex(): Schema<string> {
  return scalar(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      if (input.length < 1 || input.length > 1_024) return new Refusal('out_of_range')
      const compiled = compileRegex(input)
      return compiled.ok ? input : new Refusal('bad_format', { detail: compiled.message })
    },
    {
      type: 'regex',
      expected: 'a regular expression in RE2 syntax of 1 to 1024 characters',
      json: { type: 'string', minLength: 1, maxLength: 1_024 },
    },
  )
}

/** A level, and levels by module: `info,upstream=debug`. Each module, and the level without one, at most once. */
export function logFilter(): Schema<string> {
  const entry = /^(?:([a-z0-9_-]+(?:\.[a-z0-9_-]+)*) *= *)?(?:off|error|warn|info|debug|trace)$/i
  return textual(
    (text) => {
      const modules = text.split(',').map((part) => entry.exec(part.trim()))
      const names = modules.map((found) => found?.[1] ?? '')
      return modules.includes(null) || new Set(names).size < names.length ? null : text
    },
    {
      type: 'log filter',
      expected: 'levels (`off`, `error`, `warn`, `info`, `debug`, `trace`) such as `info` or `info,upstream=debug`',
      json: { type: 'string', minLength: 1, maxLength: 1_024 },
    },
  )
}
