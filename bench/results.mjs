// Stores the table of a run in RESULTS.md, newest first; a run with the same heading replaces the older one.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const INTRODUCTION =
  '# Benchmark results\n\nMade by `npm run bench -- --write`; what the columns mean is in README.md.\n'

export function keepResult(file, result) {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : INTRODUCTION
  writeFileSync(file, insertResult(before, result))
}

/**
 * @param {string} before
 * @param {{ heading: string, body: string }} result
 */
export function insertResult(before, { heading, body }) {
  const [introduction = INTRODUCTION, ...sections] = before.split(/^(?=## )/m)
  const others = sections.filter((section) => section.slice(3, section.indexOf('\n')) !== heading)
  const newest = `## ${heading}\n\n${body.trimEnd()}\n`
  return [introduction.trimEnd(), newest, ...others].map((part) => part.trimEnd()).join('\n\n') + '\n'
}
