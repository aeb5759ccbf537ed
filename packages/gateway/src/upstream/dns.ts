import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { LRUCache } from 'lru-cache'

export type LookupFamily = 'All' | 'Auto' | 'V4Preferred' | 'V4Only' | 'V6Only'
type Lookup = (host: string, family: 0 | 4 | 6, done: (error: Error | null, addresses: LookupAddress[]) => void) => void
type Answer = (error: Error | null, addresses: readonly string[]) => void

export interface ResolverOptions {
  /** Auto is V4Preferred on a machine with IPv6, else V4Only. */
  family: LookupFamily
  /** Monotonic milliseconds. */
  now?: () => number
  /** Asks the system, and so the hosts file too. */
  lookup?: Lookup
  /** Milliseconds after which an answer is asked for again; the system's resolver tells no TTL. */
  refreshAfter?: number
  /** Names kept at most. */
  maxNames?: number
}

export interface Resolver {
  /** The known addresses, rotated by one each time; null when `resolve` has to be called. Never waits. */
  get: (host: string) => readonly string[] | null
  /** Calls back at once when the answer, or a recent failure, is known. */
  resolve: (host: string, done: Answer) => void
  /** Fails those who wait and forgets all names. */
  close: () => void
}

/**
 * Answers come from memory; the first use after `refreshAfter` starts a new lookup behind the callers' backs. A name
 * unused for that long is forgotten, so no answer is ever used that is older than twice that time, unless the
 * lookups fail: then the last good answer lives on.
 */
export function createResolver(options: ResolverOptions): Resolver {
  const { family, now = () => performance.now(), lookup = lookupBySystem, refreshAfter = 30_000 } = options
  const entries = new LRUCache<string, Entry>({ max: options.maxNames ?? 1000 })
  const inFlight = new Set<Entry>()

  function get(host: string): readonly string[] | null {
    const entry = usableEntry(host)
    return entry !== null && entry.addresses.length > 0 ? rotate(entry) : null
  }

  function resolve(host: string, done: Answer): void {
    const entry = usableEntry(host) ?? addEntry(host)
    if (entry.addresses.length > 0) return done(null, rotate(entry))
    if (entry.error !== null && now() < entry.nextLookupAt) return done(entry.error, [])
    entry.waiting.push(done)
    if (!inFlight.has(entry)) start(host, entry)
  }

  function usableEntry(host: string): Entry | null {
    const entry = entries.get(host)
    if (entry === undefined) return isIP(host) === 0 ? null : addEntry(host)
    const time = now()
    if (time - entry.usedAt > refreshAfter && !entry.isLiteral && !inFlight.has(entry)) {
      entries.delete(host)
      return null
    }
    entry.usedAt = time
    if (entry.addresses.length > 0 && time >= entry.nextLookupAt && !inFlight.has(entry)) start(host, entry)
    return entry
  }

  function addEntry(host: string): Entry {
    const isLiteral = isIP(host) !== 0
    const entry: Entry = {
      isLiteral,
      addresses: isLiteral ? [host] : [],
      rotations: [],
      turn: 0,
      usedAt: now(),
      nextLookupAt: isLiteral ? Infinity : 0,
      failures: 0,
      error: null,
      waiting: [],
    }
    entries.set(host, entry)
    return entry
  }

  function start(host: string, entry: Entry): void {
    inFlight.add(entry)
    const effective = family === 'Auto' ? automaticFamily() : family
    lookup(host, effective === 'V4Only' ? 4 : effective === 'V6Only' ? 6 : 0, (error, found) => {
      if (!inFlight.delete(entry)) return
      const addresses = error ? [] : selectAddresses(found, effective)
      if (addresses.length > 0) succeed(entry, addresses)
      else fail(entry, error ?? new Error(`no address of the wanted family for ${host}`))
      answerWaiting(entry)
    })
  }

  function succeed(entry: Entry, addresses: string[]): void {
    entry.addresses = addresses
    entry.rotations = []
    entry.failures = 0
    entry.error = null
    entry.nextLookupAt = now() + refreshAfter
  }

  function fail(entry: Entry, error: Error): void {
    entry.error = error
    const backoff = Math.min(firstBackoff * 2 ** entry.failures, longestBackoff)
    entry.failures++
    // Without any answer a failure is remembered long enough that many requests make few lookups.
    entry.nextLookupAt = now() + (entry.addresses.length > 0 ? backoff : negativeTime)
  }

  function close(): void {
    entries.clear()
    const abandoned = [...inFlight]
    inFlight.clear()
    for (const entry of abandoned) {
      entry.error = new Error('the resolver is closed')
      answerWaiting(entry)
    }
  }

  return { get, resolve, close }
}

const firstBackoff = 100
const longestBackoff = 5000
const negativeTime = 1000

interface Entry {
  isLiteral: boolean
  /** The last good answer. */
  addresses: string[]
  /** `addresses` beginning with each of them in turn, made when first needed. */
  rotations: (readonly string[])[]
  turn: number
  usedAt: number
  nextLookupAt: number
  /** In a row. */
  failures: number
  error: Error | null
  waiting: Answer[]
}

function rotate(entry: Entry): readonly string[] {
  const { addresses, rotations } = entry
  if (addresses.length === 1) return addresses
  const turn = entry.turn++ % addresses.length
  return (rotations[turn] ??= [...addresses.slice(turn), ...addresses.slice(0, turn)])
}

function answerWaiting(entry: Entry): void {
  for (const done of entry.waiting.splice(0)) {
    if (entry.addresses.length > 0) done(null, rotate(entry))
    else done(entry.error, [])
  }
}

function selectAddresses(found: readonly LookupAddress[], family: Exclude<LookupFamily, 'Auto'>): string[] {
  const of = (wanted: number) => found.filter((item) => item.family === wanted).map((item) => item.address)
  const v4 = of(4)
  switch (family) {
    case 'All':
      return found.map((item) => item.address)
    case 'V4Only':
      return v4
    case 'V6Only':
      return of(6)
    case 'V4Preferred':
      return v4.length > 0 ? v4 : of(6)
  }
}

function automaticFamily(): 'V4Preferred' | 'V4Only' {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const hasIPv6 = addresses.some(
    (item) => item.family === 'IPv6' && !item.internal && !item.address.startsWith('fe80:'),
  )
  return hasIPv6 ? 'V4Preferred' : 'V4Only'
}

const lookupBySystem: Lookup = (host, family, done) => {
  systemLookup(host, { all: true, family, order: 'verbatim' }, (error, addresses) => done(error, addresses ?? []))
}
