// The order of the groups of test files: the longest go first, so that no core waits for the last of them at the end.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** What a file takes that was never seen to run. */
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

/** What `keepSeconds` wrote; nothing where it did not, or something else is there. */
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
