import { isSecretHeader } from '../../formats/secret-names.ts'
import type { HeaderBlock } from '../../net/header-block.ts'
import type { UpstreamRequest } from '../../upstream/upstream-types.ts'
import type { ReadyProvider } from './provider.ts'

/** Takes out of a text what a request showed as credentials: errors of providers repeat them, whole or half hidden. */
export function hideShown(
  text: string,
  { headers, target }: Pick<UpstreamRequest, 'headers' | 'target'>,
  { credential }: Pick<ReadyProvider, 'credential'>,
): string {
  const shown = new Set<string>()
  const own = credential.by === 'config' ? credential.header : null
  headers.forEach((name, value) => {
    if (isSecretHeader(name) || name.toLowerCase() === own) shown.add(value).add(value.replace(/^\S+ +/, ''))
  })
  // A credential in the query may have any name.
  if (credential.by === 'config' && own === null) {
    for (const value of new URLSearchParams(target.slice(target.indexOf('?') + 1)).values()) shown.add(value)
  }
  let hidden = text
  for (const secret of [...shown].filter(({ length }) => length >= SHORTEST).toSorted(longestFirst)) {
    // Some writers of JSON put a backslash before each slash.
    const forms = [secret, encodeURIComponent(secret), secret.replaceAll('/', '\\/')]
    for (const form of forms) hidden = hidden.replaceAll(form, HIDDEN)
    hidden = hidden.replaceAll(halfHidden(secret), HIDDEN)
  }
  return hidden
}

/** The same of the headers of a response. */
export function hideInHeaders(headers: HeaderBlock, hide: (text: string) => string): void {
  const changed: [name: string, hidden: string][] = []
  headers.forEach((name, value) => {
    const hidden = hide(value)
    if (hidden !== value) changed.push([name, hidden])
  })
  for (const [name, hidden] of changed) headers.set(name, hidden)
}

/** As vendors write keys that they do not want to show: `sk-pr***wxyz`, `sk-p...wxyz`. */
function halfHidden(secret: string): RegExp {
  return new RegExp(
    `(?<!\\w)${RegExp.escape(secret.slice(0, 3))}[\\w-]{0,64}(?:\\*{2,}|\\.{3}|\u2026)[\\w*-]{0,64}`,
    'g',
  )
}

function longestFirst(a: string, b: string): number {
  return b.length - a.length
}

const HIDDEN = '[redacted]'
/** What is shorter may be a word of the text. */
const SHORTEST = 6
