// Orders the groups of test files, the longest first, so that no core idles at the end.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** The assumed time of a file that never ran. */
const SECONDS_PER_FILE = 1

/**
 * @template {{ name: string, files: readonly string[] }} G
 * @param {readonly G[]} groups
 * @param {Readonly<Record<string, number>>} seconds that they took the last time, by name
 * @returns {G[]}
 */
export function longestFirst(groups, seconds) {
  const expected = ({ name, files }) => seconds[name] ?? files.length * SECONDS_PER_FILE
  return groups.toSorted((a, b) => expected(b) - expected(a))
}

/** Reads what `keepSeconds` wrote; empty when the file is missing or invalid. */
export function keptSeconds(file) {
  try {
    const kept = Object.entries(JSON.parse(readFileSync(file, 'utf8')))
    return Object.fromEntries(kept.filter(([, seconds]) => Number.isFinite(seconds)))
  } catch {
    return {}
  }
}

export function keepSeconds(file, seconds) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(seconds))
}
