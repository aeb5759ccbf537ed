import { changeBetween, EMPTY_IR, type Ir, type IrChange } from '@portico/gateway/ir'
import {
  changeSince,
  endpointHashesOf,
  type Generation,
  generationOf,
  type Have,
  lineOf,
} from '@portico/gateway/stream'
import type { PublishCounts } from './counts.ts'

export interface Config {
  ir: Ir
  generation: Generation
}

/** The config and addresses for the data planes of one Gateway. */
export class GatewayFeed {
  readonly #counts: PublishCounts
  #config: Config | null = null
  #problem: string | null = null
  /** The change from the previous config to the newest, because most data planes have the previous one. */
  #latest: { base: Generation | null; change: IrChange } | null = null
  readonly #endpoints = new Map<string, readonly string[]>()
  #endpointHashes: readonly string[] | null = null
  /** Serialized changes to the newest config, by base generation. */
  readonly #linesByBase = new Map<Generation | null, Buffer>()
  #forget: NodeJS.Timeout | undefined

  constructor(counts: PublishCounts) {
    this.#counts = counts
  }

  get config(): Config | null {
    return this.#config
  }

  get endpoints(): ReadonlyMap<string, readonly string[]> {
    return this.#endpoints
  }

  /** Hashes of the addresses by part, computed on first use. */
  get endpointHashes(): readonly string[] {
    return (this.#endpointHashes ??= endpointHashesOf(this.#endpoints))
  }

  /** Why the last published config cannot be sent; the one before stays in use. */
  get problem(): string | null {
    return this.#problem
  }

  /** Publishes a config; returns false when it equals the last one. */
  publish(ir: Ir): boolean {
    const before = this.#config
    if (ir === before?.ir && this.#problem === null) return false
    const change = changeBetween(before?.ir ?? EMPTY_IR, ir)
    // Changes are keyed, so a duplicate key is ambiguous.
    const hadProblem = this.#problem !== null
    this.#problem = change === null ? `the config has ${keyTwice(ir)} twice` : null
    if (change === null) return true
    const generation = generationOf(ir, before?.ir)
    if (generation === before?.generation) return hadProblem
    this.#config = { ir, generation }
    this.#forgetLines()
    this.#latest = { base: before?.generation ?? null, change }
    return true
  }

  /** Sets the addresses; returns the keys whose addresses changed. */
  reach(endpoints: Readonly<Record<string, readonly string[]>>): string[] {
    this.#endpointHashes = null
    const changed: string[] = []
    const keys = Object.keys(endpoints)
    for (const key of keys) {
      const addresses = endpoints[key] ?? []
      if (isSame(this.#endpoints.get(key), addresses)) continue
      this.#endpoints.set(key, addresses)
      changed.push(key)
    }
    if (this.#endpoints.size === keys.length) return changed
    for (const key of this.#endpoints.keys()) {
      if (Object.hasOwn(endpoints, key)) continue
      this.#endpoints.delete(key)
      changed.push(key)
    }
    return changed
  }

  /** The line for a data plane that was sent `sent`, or nothing yet. */
  lineSince(sent: Config | null, { ir, generation }: Config): Buffer {
    const base = sent?.generation ?? null
    const known = this.#linesByBase.get(base)
    if (known !== undefined) return known
    const change = this.#latest?.base === base ? this.#latest.change : changeBetween(sent?.ir ?? EMPTY_IR, ir)
    const line = this.#line(generation, base, change)
    this.#linesByBase.set(base, line)
    // Other data planes with the same base ask at about the same time, so the line is cached briefly.
    this.#forget ??= setTimeout(() => this.#forgetLines(), LINES_KEPT_MS).unref()
    return line
  }

  /**
   * The line for a data plane that reports hashes of its state. It is not cached, because only that data plane vouches for
   * the hashes.
   */
  lineSinceHashes({ generation: base, hashes }: Have, { ir, generation }: Config): Buffer {
    const change = changeSince(hashes, ir)
    if (change === null) return this.lineSince(null, { ir, generation })
    return this.#line(generation, base, change)
  }

  close(): void {
    this.#forgetLines()
  }

  #line(generation: Generation, base: Generation | null, change: IrChange | null): Buffer {
    if (change === null) throw new Error('a published config has a duplicate key')
    this.#counts.lines++
    return Buffer.from(lineOf({ type: 'config', generation, base, change }))
  }

  #forgetLines(): void {
    clearTimeout(this.#forget)
    this.#forget = undefined
    this.#linesByBase.clear()
  }
}

const LINES_KEPT_MS = 2_000

function keyTwice(ir: Ir): string {
  const twice = Object.values<readonly { key: string }[]>({ ...ir }).flatMap((list) => {
    const keys = list.map(({ key }) => key)
    return keys.filter((key, index) => keys.indexOf(key) !== index)
  })
  return twice[0] ?? 'a key'
}

function isSame(one: readonly string[] | undefined, other: readonly string[]): boolean {
  if (one === other) return true
  return one !== undefined && one.length === other.length && one.every((address, index) => address === other[index])
}
