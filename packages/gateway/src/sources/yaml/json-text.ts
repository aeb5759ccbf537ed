import type { Fill, Plain } from './plain-yaml-flow.ts'

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
  const state = { fill, keys: 0, isBeyond: false }
  const filled = fillIn(value, state)
  // JSON.parse lets the last of two equal keys win; the full parser tells where they stand.
  if (state.isBeyond || state.keys !== countKeys(text)) return null
  return { value: filled }
}

function countKeys(text: string): number {
  let count = 0
  KEYS.lastIndex = 0
  while (KEYS.test(text)) count++
  return count
}

function fillIn(value: Plain, state: { fill: Fill; keys: number; isBeyond: boolean }): Plain {
  if (typeof value === 'string') {
    const filled = value.includes('${') ? state.fill(value, false) : value
    if (filled !== undefined) return filled
    state.isBeyond = true
    return value
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = fillIn(value[index] ?? null, state)
    return value
  }
  for (const key in value) {
    state.keys++
    if (key.length > LONGEST_KEY) state.isBeyond = true
    const item = value[key]
    if (item !== undefined) value[key] = fillIn(item, state)
  }
  return value
}
