import { compileRegex } from '@portico/regex'
import type { HeaderBlock } from '../../../net/header-block.ts'
import type { WebhookGuardConfig } from './schema.ts'

type HeaderMatch = WebhookGuardConfig['forwardHeaderMatches'][number]

/** Picks the lines that the config names; nothing else ever leaves, credentials least of all. */
export function headerSelector(matches: readonly HeaderMatch[]): (headers: HeaderBlock) => [string, string][] {
  const selected = matches
    .filter(({ name }) => !OUR_OWN.has(name))
    .map(({ name, value }) => ({ name, fits: valueTest(value) }))
  return (headers) => {
    const lines: [string, string][] = []
    for (const { name, fits } of selected) {
      for (let index = 0, line = headers.nth(name, 0); line !== null; line = headers.nth(name, ++index)) {
        if (fits(line)) lines.push([name, line])
      }
    }
    return lines
  }
}

/** They describe our own message to the webhook. */
const OUR_OWN: ReadonlySet<string> = new Set(['accept', 'content-encoding', 'content-type', 'expect', 'host'])

function valueTest(value: HeaderMatch['value']): (line: string) => boolean {
  if (value.regex === undefined) return (line) => line === value.exact
  const regex = compileRegex(value.regex)
  // Validation refuses such a pattern long before a guard is made.
  if (!regex.ok) throw new Error(regex.message)
  return regex.fullMatch
}
