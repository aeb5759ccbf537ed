import { cookieName, cookieValues as valuesIn } from '../text/cookie-lines.ts'
import type { HeaderBlock } from './header-block.ts'

/** Cookies of a request. */

export function cookieValues(headers: HeaderBlock, name: string): string[] {
  return valuesIn(cookieLines(headers), name)
}

/** Removes the cookies of that name; the others keep every byte. */
export function removeCookie(headers: HeaderBlock, name: string): void {
  const lines = cookieLines(headers)
  const kept = lines.map((line) => withoutCookie(line, name))
  if (kept.every((line, index) => line === lines[index])) return
  setCookieLines(
    headers,
    kept.filter((line) => line !== ''),
  )
}

/** Replaces all `Cookie` lines. */
export function setCookieLines(headers: HeaderBlock, lines: readonly string[]): void {
  headers.remove('cookie')
  for (const line of lines) headers.addChecked('cookie', line)
}

/** Sets a cookie, and removes other cookies of that name. */
export function setCookie(headers: HeaderBlock, name: string, value: string): void {
  removeCookie(headers, name)
  addCookiePair(headers, `${name}=${value.replaceAll(NOT_IN_VALUE, encodeURIComponent)}`)
}

/** Adds one cookie, which is already encoded. */
export function addCookiePair(headers: HeaderBlock, pair: string): void {
  setCookieLines(headers, [[...cookieLines(headers), pair].join('; ')])
}

/** Returns the cookies of that name, still encoded. */
export function cookiePairs(lines: readonly string[], name: string): string[] {
  return lines
    .flatMap((line) => line.split(';'))
    .filter((pair) => cookieName(pair) === name)
    .map((pair) => pair.trim())
}

function withoutCookie(line: string, name: string): string {
  const pairs = line.split(';')
  const rest = pairs.filter((pair) => cookieName(pair) !== name)
  return rest.length === pairs.length ? line : rest.join(';').replace(/^[ \t]+/, '')
}

export function cookieLines(headers: HeaderBlock): string[] {
  const lines: string[] = []
  for (let i = 0, line = headers.get('cookie'); line !== null; line = headers.nth('cookie', ++i)) lines.push(line)
  return lines
}

/** Characters that end a cookie value or are not allowed in it (RFC 6265 section 4.1.1). */
const NOT_IN_VALUE = /[^\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]/g
