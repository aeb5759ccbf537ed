import { isSecretHeader } from './secret-names.ts'

type Headers = { forEach(visit: (name: string, value: string) => void): void }

/** Says who put a credential on a request; `header` is null where the config puts it into a cookie or the query. */
interface CredentialOrigin {
  by: string
  header?: string | null
}

/**
 * `redactRepeated` redacts in a text the credentials that a request carried: errors of providers repeat them, whole or
 * half masked.
 */
export function redactRepeated(
  text: string,
  { headers, target }: { headers: Headers; target: string },
  { credential }: { credential: CredentialOrigin },
): string {
  const shown = new Set<string>()
  const own = credential.by === 'config' ? (credential.header ?? null) : null
  headers.forEach((name, value) => {
    if (isSecretHeader(name) || name.toLowerCase() === own) shown.add(value).add(value.replace(/^\S+ +/, ''))
  })
  // A credential in the query may have any name.
  if (credential.by === 'config' && own === null) {
    for (const value of new URLSearchParams(target.slice(target.indexOf('?') + 1)).values()) shown.add(value)
  }
  let redacted = text
  for (const secret of [...shown].filter(({ length }) => length >= SHORTEST).toSorted(longestFirst)) {
    // Some writers of JSON put a backslash before each slash.
    const forms = [secret, encodeURIComponent(secret), secret.replaceAll('/', '\\/')]
    for (const form of forms) redacted = redacted.replaceAll(form, REPLACEMENT)
    redacted = redacted.replaceAll(halfMasked(secret), REPLACEMENT)
  }
  return redacted
}

/** `redactHeaders` applies `redactText` to the values of a response's headers. */
export function redactHeaders(
  headers: Headers & { set(name: string, value: string): void },
  redactText: (text: string) => string,
): void {
  const changed: [name: string, redacted: string][] = []
  headers.forEach((name, value) => {
    const redacted = redactText(value)
    if (redacted !== value) changed.push([name, redacted])
  })
  for (const [name, redacted] of changed) headers.set(name, redacted)
}

/** A key as vendors mask it in errors: `sk-pr***wxyz`, `sk-p...wxyz`. */
function halfMasked(secret: string): RegExp {
  return new RegExp(
    `(?<!\\w)${RegExp.escape(secret.slice(0, 3))}[\\w-]{0,64}(?:\\*{2,}|\\.{3}|\u2026)[\\w*-]{0,64}`,
    'g',
  )
}

function longestFirst(a: string, b: string): number {
  return b.length - a.length
}

const REPLACEMENT = '[redacted]'
/** A shorter secret may be a word of the text. */
const SHORTEST = 6
