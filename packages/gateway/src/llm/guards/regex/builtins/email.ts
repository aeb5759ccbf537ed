import type { Span } from '@portico/regex'
import type { Rule } from '../rule.ts'

/** Addresses of electronic mail whose domain has a dot. */
export const email: Rule = {
  kind: 'Email',
  mask: '<EMAIL_ADDRESS>',
  longest: 255,
  canStartWith: isLocal,
  canContain: (code) => code === AT || isLocal(code),
  matches: findAddresses,
}

const AT = 0x40
const MAX_LOCAL = 64
const MAX_DOMAIN = 190
// Letters of other scripts are excluded, because such scripts write addresses without spaces around them.
const LETTER = 'A-Za-z\\u00aa\\u00ba\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u024f\\u1e00-\\u1eff'
const LOCAL = new RegExp(`[${LETTER}0-9_.%+-]`)
/** By code unit; the letters end before this size. */
const IS_LOCAL = Uint8Array.from({ length: 0x1f00 }, (_, code) => Number(LOCAL.test(String.fromCharCode(code))))
const DOMAIN = new RegExp(
  `(?:[${LETTER}0-9-]{1,63}\\.)+(?:xn--[A-Za-z0-9-]{1,59}|[${LETTER}]{2,63})(?![${LETTER}0-9])`,
  'y',
)

function isLocal(code: number): boolean {
  return IS_LOCAL[code] === 1
}

/** Goes from one `@` to the next, so that each character is looked at a few times at most. */
function* findAddresses(text: string, from: number): Generator<Span> {
  let first = from
  for (let at = text.indexOf('@', from); at !== -1; at = text.indexOf('@', at + 1)) {
    const start = localStart(text, Math.max(first, at - MAX_LOCAL), at)
    const end = start < at ? domainEnd(text, at + 1) : null
    if (end === null) continue
    yield { start, end }
    first = end
  }
}

function localStart(text: string, earliest: number, at: number): number {
  let start = at
  while (start > earliest && isLocal(text.charCodeAt(start - 1))) start--
  return start
}

function domainEnd(text: string, start: number): number | null {
  // The text is cut after the longest domain plus one character, which the lookahead needs.
  const part = text.slice(start, start + MAX_DOMAIN + 1)
  DOMAIN.lastIndex = 0
  const found = DOMAIN.exec(part)
  return found === null || found[0].length > MAX_DOMAIN ? null : start + found[0].length
}
