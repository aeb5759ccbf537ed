import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { createAuthority, issueServing, type KeyPair } from './certificate.ts'

/** The current, the next and the previous certificate authority. */
export interface Authorities {
  current: KeyPair
  /** The successor; all data planes know it before it signs. */
  next?: KeyPair
  /** The predecessor's certificate, without a key: its signatures are still in use. */
  previous?: string
}

export interface Lifetimes {
  authorityMs: number
  /** How long before its expiry a successor is created. */
  authorityRenewalMs: number
  /** How long a successor is distributed before it signs, so that the slowest data plane knows it. */
  spreadMs: number
  servingMs: number
  servingRenewalMs: number
  /** How far the clock of a data plane may be behind. */
  backdateMs: number
}

const DAY_MS = 86_400_000

export const LIFETIMES: Lifetimes = {
  authorityMs: 730 * DAY_MS,
  authorityRenewalMs: 240 * DAY_MS,
  spreadMs: 3 * DAY_MS,
  servingMs: 30 * DAY_MS,
  servingRenewalMs: 10 * DAY_MS,
  backdateMs: DAY_MS,
}

/** Returns the authorities that are due now; the same object when nothing changes. */
export function settleAuthorities(known: Authorities | undefined, now: number, lifetimes: Lifetimes): Authorities {
  if (known === undefined) return { current: newAuthority(now, lifetimes) }
  const { current, next, previous } = known
  const hasEnded = endOf(current.cert) <= now
  if (next !== undefined && endOf(next.cert) > now) {
    const madeAt = startOf(next.cert) + lifetimes.backdateMs
    if (hasEnded || now >= madeAt + lifetimes.spreadMs) return { current: next, previous: current.cert }
  } else if (hasEnded) {
    // The authority expired unrenewed, so data planes must learn the new one before they reconnect.
    return { current: newAuthority(now, lifetimes) }
  } else if (endOf(current.cert) - now < lifetimes.authorityRenewalMs) {
    return { ...known, next: newAuthority(now, lifetimes) }
  }
  if (previous === undefined || endOf(previous) > now) return known
  const { previous: _, ...rest } = known
  return rest
}

/** The CA bundle of data planes, with all three authorities. */
export function bundleOf({ current, next, previous }: Authorities): string {
  return [current.cert, next?.cert, previous].filter((cert) => cert !== undefined).join('')
}

/** Returns the serving certificate that is due now; the same object until it has to be renewed. */
export function settleServing(
  known: KeyPair | undefined,
  { current }: Authorities,
  { names, now, lifetimes }: { names: readonly string[]; now: number; lifetimes: Lifetimes },
): KeyPair {
  if (known !== undefined) {
    const cert = new X509Certificate(known.cert)
    const left = cert.validToDate.getTime() - now
    // A certificate that expires with its authority cannot be extended.
    const isLast = endOf(known.cert) >= endOf(current.cert)
    const isIssued = cert.checkIssued(new X509Certificate(current.cert))
    if (isIssued && left > 0 && (isLast || left > lifetimes.servingRenewalMs)) return known
  }
  const validity = { from: new Date(now - lifetimes.backdateMs), to: new Date(now + lifetimes.servingMs) }
  return issueServing(current, { names, name: 'portico-controller', validity })
}

type ReadAuthorities = { ok: true; authorities: Authorities } | { ok: false; problem: string }

/** Reads the authorities from a Secret. Problems never contain values, which may be part of a key. */
export function readAuthorities(data: Readonly<Record<string, unknown>>): ReadAuthorities {
  const text = (field: string): string | undefined => {
    const value = data[field]
    return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : undefined
  }
  const pair = (name: string): KeyPair | undefined => {
    const [cert, key] = [text(`${name}.crt`), text(`${name}.key`)]
    return cert !== undefined && key !== undefined && isAuthority(cert, key) ? { cert, key } : undefined
  }
  const current = pair('ca')
  if (current === undefined)
    return { ok: false, problem: '`ca.crt` and `ca.key` are not an authority of this controller' }
  const hasNext = data['next.crt'] !== undefined || data['next.key'] !== undefined
  const next = pair('next')
  if (hasNext && next === undefined)
    return { ok: false, problem: '`next.crt` and `next.key` are not an authority of this controller' }
  const previous = text('previous.crt')
  if (previous !== undefined && !isAuthority(previous))
    return { ok: false, problem: '`previous.crt` is not an authority of this controller' }
  return { ok: true, authorities: { current, ...(next && { next }), ...(previous !== undefined && { previous }) } }
}

export function writeAuthorities({ current, next, previous }: Authorities): Record<string, string> {
  const texts: Record<string, string> = { 'ca.crt': current.cert, 'ca.key': current.key }
  if (next !== undefined) Object.assign(texts, { 'next.crt': next.cert, 'next.key': next.key })
  if (previous !== undefined) texts['previous.crt'] = previous
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString('base64')]))
}

function newAuthority(now: number, { authorityMs, backdateMs }: Lifetimes): KeyPair {
  const validity = { from: new Date(now - backdateMs), to: new Date(now + authorityMs) }
  // Each authority has its own name, so that it is not confused with its successor.
  return createAuthority(`Portico controller ${randomBytes(4).toString('hex')}`, validity)
}

function isAuthority(cert: string, key?: string): boolean {
  try {
    const certificate = new X509Certificate(cert)
    const { namedCurve } = certificate.publicKey.asymmetricKeyDetails ?? {}
    if (!certificate.ca || namedCurve !== 'prime256v1' || !/^CN=[^\n]+$/.test(certificate.subject)) return false
    return key === undefined || certificate.checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

function startOf(cert: string): number {
  return new X509Certificate(cert).validFromDate.getTime()
}

function endOf(cert: string): number {
  return new X509Certificate(cert).validToDate.getTime()
}
