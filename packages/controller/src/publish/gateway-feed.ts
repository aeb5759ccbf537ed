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

/** What the data planes of one Gateway are to have: of this Gateway, and of no other. */
export class GatewayFeed {
  readonly #counts: PublishCounts
  #config: Config | null = null
  #problem: string | null = null
  /** What made the newest config of the one before: most data planes have that one. */
  #latest: { base: Generation | null; change: IrChange } | null = null
  readonly #endpoints = new Map<string, readonly string[]>()
  #endpointHashes: readonly string[] | null = null
  /** What brings those to the newest config who have that of the key. */
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

  /** By part; made when somebody who has some asks what differs. */
  get endpointHashes(): readonly string[] {
    return (this.#endpointHashes ??= endpointHashesOf(this.#endpoints))
  }

  /** Why what was published last cannot be sent: what was before it stays. */
  get problem(): string | null {
    return this.#problem
  }

  /** False when it is what was published before. */
  publish(ir: Ir): boolean {
    const before = this.#config
    if (ir === before?.ir && this.#problem === null) return false
    const change = changeBetween(before?.ir ?? EMPTY_IR, ir)
    // Changes go by keys, so there is no saying what is meant when one is there twice.
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

  /** The keys whose addresses are others than before. */
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

  /** For one that was sent this config, or nothing yet. */
  lineSince(sent: Config | null, { ir, generation }: Config): Buffer {
    const base = sent?.generation ?? null
    const known = this.#linesByBase.get(base)
    if (known !== undefined) return known
    const change = this.#latest?.base === base ? this.#latest.change : changeBetween(sent?.ir ?? EMPTY_IR, ir)
    const line = this.#line(generation, base, change)
    this.#linesByBase.set(base, line)
    // Others with the same base are asking now or never.
    this.#forget ??= setTimeout(() => this.#forgetLines(), LINES_KEPT_MS).unref()
    return line
  }

  /** For one that says what it has: only its own word stands for that, so nobody else gets this line. */
  lineSinceHashes({ generation: base, hashes }: Have, { ir, generation }: Config): Buffer {
    const change = changeSince(hashes, ir)
    if (change === null) return this.lineSince(null, { ir, generation })
    return this.#line(generation, base, change)
  }

  close(): void {
    this.#forgetLines()
  }

  #line(generation: Generation, base: Generation | null, change: IrChange | null): Buffer {
    if (change === null) throw new Error('a config that was looked at has a key twice')
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
