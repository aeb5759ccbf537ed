import type { Finding } from './diagnose.ts'
import type { Link } from './link.ts'

const STATE_WIDTH = 8

/** Prints one resource: a line with the result, then all links in order. */
export function printFinding({ resource, broken, links }: Finding): string[] {
  const unknown = links.some(({ state }) => state === 'unknown')
  const head = broken !== null ? `broken at ${broken.what}` : unknown ? 'no problem found' : 'ok'
  const width = Math.max(...links.filter(({ state }) => state === 'ok').map(({ what }) => what.length), 0)
  return [`${resource}: ${head}`, ...links.flatMap((link) => printLink(link, width))]
}

/** Prints a resource in a list; one without problems takes one line. */
export function printShort(finding: Finding): string[] {
  const { resource, broken, links } = finding
  if (broken === null) {
    const noted = links.filter(({ state }) => state !== 'ok')
    return [`${'ok'.padEnd(STATE_WIDTH)}${resource}`, ...noted.flatMap((link) => printLink(link, 0))]
  }
  const first = broken.what === resource ? broken.says : `${broken.what}: ${broken.says}`
  return [
    `${'BROKEN'.padEnd(STATE_WIDTH)}${resource}`,
    below(first),
    ...(broken.fix === undefined ? [] : [below(`fix: ${broken.fix}`)]),
  ]
}

function printLink({ what, state, says, fix }: Link, width: number): string[] {
  const name = (state === 'broken' ? 'BROKEN' : state).padEnd(STATE_WIDTH)
  if (state === 'ok') return [`  ${name}${what.padEnd(width)}  ${says}`]
  const shown = state === 'broken' && fix !== undefined ? [`  ${below(`fix: ${fix}`)}`] : []
  return [`  ${name}${what}`, `  ${below(says)}`, ...shown]
}

function below(text: string): string {
  return `${' '.repeat(STATE_WIDTH)}${text}`
}
