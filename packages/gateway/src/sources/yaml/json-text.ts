import type { Plain } from './plain-value.ts'
import type { Fill } from './plain-yaml-flow.ts'

/** Strings that a colon follows: the keys, and nothing else. */
const KEYS = /"(?:[^"\\]|\\.)*"\s*:/g
/** Longer keys are no YAML. */
const LONGEST_KEY = 1_000

/**
 * Reads a config that is written as JSON, which is YAML too; null for everything where the two may differ, and for
 * every mistake: the full parser decides.
 */
export function readJsonText(text: string, fill: Fill): { value: Plain } | null {
  if (text.includes('"__proto__"') || /[\0\u0085\u2028\u2029\ufeff]/.test(text)) return null
  let value: Plain
  try {
    value = JSON.parse(text) as Plain
  } catch {
    return null
  }
  const state = { fill, keys: 0, colons: 0, isBeyond: false }
  const filled = fillIn(value, state)
  // JSON.parse lets the last of two equal keys win; the full parser tells where they stand.
  if (state.isBeyond || !hasEveryKey(text, state)) return null
  return { value: filled }
}

/** Whether the value has as many keys as the text. Without escapes, each colon of the text is in a string or follows a key. */
function hasEveryKey(text: string, { keys, colons }: { keys: number; colons: number }): boolean {
  return text.includes('\\') ? keys === countKeys(text) : keys + colons === countColons(text)
}

function countColons(text: string): number {
  let count = 0
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) count++
  return count
}

function countKeys(text: string): number {
  let count = 0
  KEYS.lastIndex = 0
  while (KEYS.test(text)) count++
  return count
}

/** The state of `fillIn`: the numbers of keys and of colons inside of strings so far. */
interface Filling {
  readonly fill: Fill
  keys: number
  colons: number
  isBeyond: boolean
}

function fillIn(value: Plain, state: Filling): Plain {
  if (typeof value === 'string') {
    if (value.includes(':')) state.colons += countColons(value)
    const filled = value.includes('${') ? state.fill(value, false) : value
    if (filled !== undefined) return filled
    state.isBeyond = true
    return value
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item = value[index] ?? null
      const filled = fillIn(item, state)
      if (filled !== item) value[index] = filled
    }
    return value
  }
  for (const key in value) {
    state.keys++
    if (key.length > LONGEST_KEY) state.isBeyond = true
    if (key.includes(':')) state.colons += countColons(key)
    const item = value[key]
    const filled = item === undefined ? item : fillIn(item, state)
    if (filled !== item && filled !== undefined) value[key] = filled
  }
  return value
}
