import { lookup as systemLookup, type LookupAddress, Resolver as NameServers } from 'node:dns'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { LRUCache } from 'lru-cache'
import { contained } from '../../runtime/faults.ts'

export type LookupFamily = 'All' | 'Auto' | 'V4Preferred' | 'V4Only' | 'V6Only'
type Lookup = (host: string, family: 0 | 4 | 6, done: (error: Error | null, addresses: LookupAddress[]) => void) => void
type TimeToLive = (host: string, family: 0 | 4 | 6, done: (seconds: number | null) => void) => void
type Answer = (error: Error | null, addresses: readonly string[]) => void

export interface ResolverOptions {
  /** Auto is V4Preferred on a machine with IPv6, otherwise V4Only. */
  family: LookupFamily
  /** Monotonic milliseconds. */
  now?: () => number
  /** Queries the operating system, which includes the hosts file. */
  lookup?: Lookup
  /**
   * Returns the TTL of an answer in seconds; null when it is unknown. It queries the name servers, because the
   * operating system reports no TTL.
   */
  timeToLive?: TimeToLive
  /** Milliseconds after which an answer without a TTL is looked up again. */
  refreshAfter?: number
  /** The most names in the cache. */
  maxNames?: number
}

export interface Resolver {
  /** Returns the cached addresses; null when `resolve` has to be called. Never waits. */
  get(host: string): readonly string[] | null
  /** Calls back at once when the answer, or a recent failure, is cached. */
  resolve(host: string, done: Answer): void
  /** Fails the pending lookups and clears the cache. */
  close(): void
}

export function createResolver(options: ResolverOptions): Resolver {
  return new CachingResolver(options)
}

/**
 * Answers come from the cache; the first use after their TTL starts a new lookup in the background. A name that was
 * unused for that long is dropped, so no answer older than twice its TTL is used. When lookups fail, the last good
 * answer stays in use.
 */
class CachingResolver implements Resolver {
  readonly #family: LookupFamily
  readonly #now: () => number
  readonly #lookup: Lookup
  readonly #timeToLive: TimeToLive
  readonly #refreshAfter: number
  readonly #entries: LRUCache<string, Entry>
  readonly #inFlight = new Set<Entry>()

  constructor(options: ResolverOptions) {
    this.#family = options.family
    this.#now = options.now ?? (() => performance.now())
    this.#lookup = options.lookup ?? lookupBySystem
    this.#timeToLive = options.timeToLive ?? (options.lookup === undefined ? askNameServers : tellNothing)
    this.#refreshAfter = options.refreshAfter ?? 30_000
    this.#entries = new LRUCache({ max: options.maxNames ?? 1000 })
  }

  get(host: string): readonly string[] | null {
    const entry = this.#usableEntry(host)
    return entry !== null && entry.addresses.length > 0 ? entry.addresses : null
  }

  resolve(host: string, done: Answer): void {
    const entry = this.#usableEntry(host) ?? this.#addEntry(host)
    if (entry.addresses.length > 0) return done(null, entry.addresses)
    if (entry.error !== null && this.#now() < entry.nextLookupAt) return done(entry.error, [])
    entry.waiting.push(done)
    if (!this.#inFlight.has(entry)) this.#start(host, entry)
  }

  close(): void {
    this.#entries.clear()
    const abandoned = [...this.#inFlight]
    this.#inFlight.clear()
    for (const entry of abandoned) {
      entry.error = new Error('the resolver is closed')
      answerWaiting(entry)
    }
  }

  #usableEntry(host: string): Entry | null {
    const entry = this.#entries.get(host)
    if (entry === undefined) return isIP(host) === 0 ? null : this.#addEntry(host)
    const time = this.#now()
    const isInFlight = this.#inFlight.has(entry)
    if (time - entry.usedAt > entry.keptFor && !entry.isLiteral && !isInFlight) {
      this.#entries.delete(host)
      return null
    }
    entry.usedAt = time
    if (entry.addresses.length > 0 && time >= entry.nextLookupAt && !isInFlight) this.#start(host, entry)
    return entry
  }

  #addEntry(host: string): Entry {
    const isLiteral = isIP(host) !== 0
    const entry: Entry = {
      isLiteral,
      addresses: isLiteral ? [host] : [],
      usedAt: this.#now(),
      keptFor: this.#refreshAfter,
      nextLookupAt: isLiteral ? Infinity : 0,
      failures: 0,
      error: null,
      waiting: [],
    }
    this.#entries.set(host, entry)
    return entry
  }

  #start(host: string, entry: Entry): void {
    this.#inFlight.add(entry)
    const family = this.#family === 'Auto' ? automaticFamily() : this.#family
    const wanted = family === 'V4Only' ? 4 : family === 'V6Only' ? 6 : 0
    const startedAt = this.#now()
    this.#lookup(host, wanted, (error, found) => {
      if (!this.#inFlight.delete(entry)) return
      const addresses = error ? [] : selectAddresses(found, family)
      if (addresses.length > 0) {
        this.#succeed(entry, addresses)
        this.#timeToLive(host, wanted, (seconds) => this.#keep(entry, startedAt, seconds))
      } else this.#fail(entry, error ?? new Error(`no address of the wanted family for ${host}`))
      answerWaiting(entry)
    })
  }

  #succeed(entry: Entry, addresses: string[]): void {
    entry.addresses = addresses
    entry.failures = 0
    entry.error = null
    entry.keptFor = this.#refreshAfter
    entry.nextLookupAt = this.#now() + this.#refreshAfter
  }

  /** Applies the TTL that the name servers reported. */
  #keep(entry: Entry, startedAt: number, seconds: number | null): void {
    if (seconds === null || entry.failures > 0 || this.#inFlight.has(entry)) return
    entry.keptFor = Math.min(Math.max(seconds * 1000, SHORTEST_LIFE), LONGEST_LIFE)
    entry.nextLookupAt = startedAt + entry.keptFor
  }

  #fail(entry: Entry, error: Error): void {
    entry.error = error
    const backoff = Math.min(FIRST_BACKOFF * 2 ** entry.failures, LONGEST_BACKOFF)
    entry.failures++
    // Without any answer, a failure is cached long enough that many requests cause few lookups.
    entry.nextLookupAt = this.#now() + (entry.addresses.length > 0 ? backoff : NEGATIVE_TIME)
  }
}

const FIRST_BACKOFF = 100
const LONGEST_BACKOFF = 5000
const NEGATIVE_TIME = 1000
/** Limits of the TTL: a TTL of zero must not cause a lookup per request, nor a TTL of days pin an address. */
const SHORTEST_LIFE = 5_000
const LONGEST_LIFE = 300_000

interface Entry {
  isLiteral: boolean
  /** The last good answer. */
  addresses: string[]
  usedAt: number
  /** Milliseconds, from the TTL when it is known. */
  keptFor: number
  nextLookupAt: number
  /** Consecutive failures. */
  failures: number
  error: Error | null
  waiting: Answer[]
}

function answerWaiting(entry: Entry): void {
  for (const done of entry.waiting.splice(0)) {
    // A callback that throws must not keep the addresses from the other callbacks.
    contained('request', () => {
      if (entry.addresses.length > 0) done(null, entry.addresses)
      else done(entry.error, [])
    })
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

const tellNothing: TimeToLive = (_host, _family, done) => done(null)

/**
 * Sends one query besides the lookup itself. Names without a dot come from the hosts file or a search list and are
 * skipped.
 */
const askNameServers: TimeToLive = (host, family, done) => {
  if (!host.includes('.')) return done(null)
  nameServers ??= new NameServers({ timeout: 2_000, tries: 1 })
  const ask = family === 6 ? nameServers.resolve6.bind(nameServers) : nameServers.resolve4.bind(nameServers)
  ask(host, { ttl: true }, (error, records) => {
    done(error || records.length === 0 ? null : Math.min(...records.map((record) => record.ttl)))
  })
}

let nameServers: NameServers | null = null
